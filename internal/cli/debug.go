package cli

import (
	"errors"
	"fmt"
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

// Prints reports whether lines of a subsystem are wanted at info.
func (d *Debug) Prints(subsystem string) bool {
	if d.Level != "info" && d.Level != "abort" && d.Level != "trace" {
		return false
	}
	if d.Subsystems == nil {
		return slices.Contains(defaultSubsystems, subsystem)
	}
	return slices.Contains(d.Subsystems, subsystem)
}

// Path returns where the log goes; empty: to stderr.
func (d *Debug) Path(host string, pid int) string {
	return strings.NewReplacer("%h", host, "%p", fmt.Sprint(pid)).Replace(d.File)
}
