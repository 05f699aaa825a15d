package fault

import (
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// AtStart reports whether a fault holds from the start of processes, so that it can't
// be added to a session that has begun.
func AtStart(f emu.Fault) bool {
	k, err := Lookup(f.Type)
	return err == nil && k.Word == gdrLost.Word
}

// Later returns a fault as it strikes a session that has come to an instant and has
// called so many operations, when its own instants and operations count from there.
// One that repeats and does not say how often does so for horizon.
func Later(f emu.Fault, at shaping.Time, ops int, horizon shaping.Duration) emu.Fault {
	k, err := Lookup(f.Type)
	if err != nil || AtStart(f) {
		return f // Compile says what is wrong
	}
	if k.fill != nil {
		k.fill(&f)
	}
	if !k.reads("at") {
		f.When.AfterOps += ops
		return f
	}
	if w := &f.When; w.Every > 0 && w.Times == 0 {
		w.Times = 1 + int(max(horizon-w.At, 0)/w.Every)
	}
	if f.When.Until > 0 {
		f.When.Until += shaping.Duration(at)
	}
	f.When.At += shaping.Duration(at)
	return f
}

// Lifted returns what is left of a fault that is taken back when a session has come
// to an instant and has called so many operations: all that it did before. It also
// reports whether it has broken something for good, or stopped a process, which then
// goes on as the fault says: what stands still was told until when, and nobody looks
// at it before.
func Lifted(f emu.Fault, at shaping.Time, ops int) (left emu.Fault, stays bool) {
	k, err := Lookup(f.Type)
	if err != nil {
		return f, false
	}
	if k.fill != nil {
		k.fill(&f)
	}
	w, now := &f.When, shaping.Duration(at)
	begun := min(max(ops-w.AfterOps, 0), max(w.Times, 1))
	switch {
	case AtStart(f):
		return f, true
	case !k.reads("at"):
		w.Times, f.Off = begun, begun == 0
		return f, false
	case w.At >= now:
		f.Off = true
		return f, false
	case k.reads("to") && k.Word != pause.Word:
		if w.Until == 0 || w.Until > now {
			w.Until = now
		}
		return f, false
	}
	if w.Every > 0 {
		strikes := 1 + int((now-1-w.At)/w.Every)
		if w.Times == 0 || strikes < w.Times {
			w.Times = strikes
		}
	}
	return f, k.Word == pause.Word && still(&f, now) || !k.reads("every")
}

// still reports whether a pause holds something at an instant, or may.
func still(f *emu.Fault, now shaping.Duration) bool {
	w := &f.When
	last := w.At
	if w.Every > 0 {
		last += w.Every * shaping.Duration(max(w.Times, 1)-1)
	}
	return (f.DownFor == 0 || last+f.DownFor > now) && (w.Until == 0 || w.Until > now)
}
