package cli

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Common is what every command may be told.
type Common struct {
	Format   string // "table", "json" or "csv"
	Quiet    bool   // no progress, no notes
	NoColor  bool
	LogLevel string // "error", "warn", "info" or "debug"
	// Log writes to stderr at LogLevel; never nil.
	Log *zap.Logger
}

var formats = []string{"table", "json", "csv"}

var logLevels = []string{"error", "warn", "info", "debug"}

func (c *Common) settings() []setting {
	return []setting{
		{name: "format", arg: "FORMAT", def: "table", values: formats, usage: "what goes to stdout: table, json or csv", set: choice(&c.Format, formats, nil)},
		{name: "quiet", usage: "no progress and no notes on stderr", set: toggle(&c.Quiet)},
		{name: "no-color", usage: "no colours (also NO_COLOR)", set: toggle(&c.NoColor)},
		{name: "log-level", arg: "LEVEL", def: "warn", values: logLevels, usage: "logs on stderr: error, warn, info or debug", set: choice(&c.LogLevel, logLevels, nil)},
	}
}

// finish sets what follows from the flags.
func (c *Common) finish(a *App) {
	c.NoColor = c.NoColor || a.Getenv("NO_COLOR") != ""
	c.Log = newLogger(c.LogLevel, a.Stderr)
}

// newLogger returns a logger of lines for people and machines alike: time,
// level, message, fields as JSON.
func newLogger(level string, w io.Writer) *zap.Logger {
	l, err := zapcore.ParseLevel(level)
	if err != nil {
		l = zapcore.WarnLevel // the flag was wrong, which is reported elsewhere
	}
	e := zap.NewProductionEncoderConfig()
	e.EncodeTime = zapcore.ISO8601TimeEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(e), zapcore.Lock(zapcore.AddSync(w)), l))
}

// note says on stderr what a user should know, unless told to be quiet.
func (c *Common) note(a *App, notes []string) {
	for _, n := range notes {
		if !c.Quiet {
			a.complain("coordinator", "note: "+n)
		}
	}
}
