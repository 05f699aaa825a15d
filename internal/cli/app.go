package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/internal/report"
)

// Hosts is what a program must bring: what the commands run. A command whose
// host is nil says "not yet".
type Hosts struct {
	// Bench runs a benchmark on real processes, Predict in one kernel. Rows go
	// to the sink as they are done. Both return when everything they started
	// has ended, soon after the context does.
	Bench   func(context.Context, BenchConfig, report.Sink) error
	Predict func(context.Context, BenchConfig, report.Sink) error
	// Run carries a scenario out and writes what became of it to the writer. progress
	// is told what is being done.
	Run func(ctx context.Context, c RunConfig, out io.Writer, progress func(done, total int, what string)) error
	// Serve runs the coordinator until the context ends.
	Serve func(context.Context, ServeConfig) error
	// Up runs a cluster until the context ends, or leaves one behind; Down ends one.
	Up   func(context.Context, UpConfig) error
	Down func(context.Context, DownConfig) error
	// Faults does something to the faults in force on a running cluster.
	Faults func(context.Context, FaultConfig) ([]FaultStatus, error)
	// Explain says what the last bench of a running cluster did.
	Explain func(context.Context, Reach) (Account, error)
	// Status asks a running coordinator.
	Status func(context.Context, StatusConfig) (Status, error)
	// Doctor measures this host.
	Doctor func(context.Context) (Health, error)
	// Proxy carries connections until the context ends; it calls ready with the
	// address on which it listens. Nodesim has it.
	Proxy func(ctx context.Context, c ProxyConfig, ready func(listen string)) (ProxyReport, error)
}

// App is one program: where it reads and writes, and what it runs.
type App struct {
	Version string
	Hosts   Hosts

	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Environ lists all that is set, as os.Environ does.
	Environ  func() []string
	ReadFile func(string) ([]byte, error)
	// ReadPlan is ReadFile for plans, which are longer.
	ReadPlan  func(string) ([]byte, error)
	WriteFile func(string, []byte) error
}

// NewApp returns an App on the process's own streams and environment.
func NewApp(version string, hosts Hosts) *App {
	return &App{
		Version: version, Hosts: hosts,
		Stdout: &outlet{w: os.Stdout}, Stderr: &outlet{w: os.Stderr}, Getenv: os.Getenv, Environ: os.Environ,
		ReadFile: upTo(maxRead), ReadPlan: upTo(msccl.MaxText + 1), WriteFile: replace,
	}
}

// Main runs the coordinator's command line and returns the exit code. The first
// interrupt ends the run in order; a second one kills the process.
func (a *App) Main() int {
	ctx, stop := interruptible()
	defer stop()
	return a.Run(ctx, os.Args[1:])
}

// Run runs a command line of the coordinator.
func (a *App) Run(ctx context.Context, args []string) int {
	return a.execute(ctx, a.root(args), args)
}

// interruptible returns a context that ends with the first signal that asks
// the process to. From then on signals do what they do by default.
func interruptible() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	// Whoever reads stdout may go away. Unless somebody listens to this signal
	// it ends the process there and then; so the write fails instead, and
	// results that go to a file as well are finished. Children do not inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx, stop
}

func (a *App) execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	defer release(ctx, a.Stdout, a.Stderr)()
	err := plainly(root.ExecuteContext(ctx))
	if out, ok := a.Stdout.(*outlet); ok && out.failure() != nil && ctx.Err() == nil {
		// Not all that print look, and a result that nobody could read is none.
		err = &ExitError{ExitUnjudged, out.failure()}
	}
	if err != nil {
		a.complain(root.Name(), err.Error())
	}
	return exitCode(err)
}

// complain writes each line of a text to stderr, behind the program's name.
func (a *App) complain(program, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(a.Stderr, "%s: %s\n", program, strings.TrimRight(line, "\n"))
	}
}

// maxRead is more than any file of ours may have, so that readers notice.
const maxRead = 2 << 20

// upTo returns what reads a file, but no more of it than is ever wanted:
// /dev/zero has no end.
func upTo(limit int64) func(string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, limit))
	}
}
