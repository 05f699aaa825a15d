package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/suggest"
)

// Debug is what NCCL_DEBUG and its companions ask for. NCCL writes its log to
// stdout; ours goes to stderr, as stdout holds results only.
type Debug struct {
	// Level is "", "version", "warn", "info" or "trace", each saying what the one
	// before says and more. There is nothing for trace to add.
	Level string
	// Subsystems that are printed at info.
	Subsystems []string
	// File takes the log instead of stderr (NCCL_DEBUG_FILE): %h is replaced by
	// the host, %p by the process.
	File string
	// Out takes the log; nil when nothing is to be logged.
	Out io.Writer
}

// open returns the file that takes the log, or nil where it goes to stderr.
func (d *Debug) open(stderr io.Writer) (io.Closer, error) {
	if d.Level == "" {
		return nil, nil
	}
	d.Out = stderr
	if d.File == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(d.path(host, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("NCCL_DEBUG_FILE: %w", err)
	}
	d.Out = f
	return f, nil
}

var debugLevels = []string{"none", "version", "warn", "info", "abort", "trace"}

// subsystems are NCCL's; ours prints INIT, GRAPH, ENV, TUNING and NET.
var subsystems = []string{"INIT", "COLL", "P2P", "SHM", "NET", "GRAPH", "TUNING", "ENV", "ALLOC", "CALL", "PROXY", "NVLS", "BOOTSTRAP", "REG", "PROFILE", "RAS"}

// defaultSubsystems are those NCCL prints unless told.
var defaultSubsystems = []string{"INIT", "BOOTSTRAP", "ENV"}

func (d *Debug) setLevel(s string) error {
	level := strings.ToLower(s)
	if !slices.Contains(debugLevels, level) {
		return errors.New(suggest.Unknown(s, debugLevels))
	}
	d.Level = level
	if level == "none" {
		d.Level = ""
	}
	return nil
}

// setSubsystems reads a list, ALL, or "^" and all but these.
func (d *Debug) setSubsystems(s string) error {
	list, exclude := strings.CutPrefix(s, "^")
	var named []string
	for word := range strings.SplitSeq(list, ",") {
		w := strings.ToUpper(strings.TrimSpace(word))
		switch {
		case w == "ALL":
			named = append(named, subsystems...)
		case slices.Contains(subsystems, w):
			named = append(named, w)
		default:
			return errors.New(suggest.Unknown(word, append(slices.Clone(subsystems), "ALL")))
		}
	}
	d.Subsystems = named
	if exclude {
		d.Subsystems = slices.DeleteFunc(slices.Clone(subsystems), func(n string) bool { return slices.Contains(named, n) })
	}
	return nil
}

// Informs reports whether lines at info are wanted at all.
func (d *Debug) Informs() bool { return d.Level == "info" || d.Level == "abort" || d.Level == "trace" }

// Prints reports whether lines of a subsystem are wanted at info.
func (d *Debug) Prints(subsystem string) bool {
	if !d.Informs() {
		return false
	}
	if d.Subsystems == nil {
		return slices.Contains(defaultSubsystems, subsystem)
	}
	return slices.Contains(d.Subsystems, subsystem)
}

// path returns the name of the file.
func (d *Debug) path(host string, pid int) string {
	return strings.NewReplacer("%h", host, "%p", fmt.Sprint(pid)).Replace(d.File)
}
