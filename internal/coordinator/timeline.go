package coordinator

import (
	"io"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/shaping"
)

// merger writes the records of all participants in the kernel's order. It holds
// no more than what a round brings: once its reports are in, everything before
// the horizon is final.
type merger struct {
	w       *timeline.Writer
	pending []emu.Record
}

func newMerger(w io.Writer, f *fabric.Fabric) *merger {
	return &merger{w: timeline.NewWriter(w, f.PortName)}
}

func (m *merger) add(recs []emu.Record) { m.pending = append(m.pending, recs...) }

// forget drops what is not written yet: it is of a run that does not count.
func (m *merger) forget() {
	if m != nil {
		m.pending = nil
	}
}

// flush writes, in order, the records of events before the horizon.
func (m *merger) flush(horizon shaping.Time) error {
	if m == nil {
		return nil // none wanted
	}
	slices.SortFunc(m.pending, emu.CompareRecords)
	n, _ := slices.BinarySearchFunc(m.pending, horizon, func(r emu.Record, t shaping.Time) int {
		if r.At < t {
			return -1
		}
		return 1
	})
	for i := range m.pending[:n] {
		if err := m.w.Write(&m.pending[i]); err != nil {
			return err
		}
	}
	m.pending = m.pending[:copy(m.pending, m.pending[n:])]
	if horizon == shaping.Never {
		return m.w.Flush()
	}
	return nil
}
