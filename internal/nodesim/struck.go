package nodesim

import (
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// suffer compiles what strikes an emulated session, which begins; nothing when m is
// nil. The fabric is then the one that all participants make of the same faults.
func (a *actor) suffer(m *railyardv1.Struck) error {
	before := a.faults
	a.faults, a.bear = nil, emu.Resilience{}
	if m == nil && before == nil {
		return nil
	}
	var err error
	if m == nil {
		a.fabric, err = fabric.New(a.cluster)
		return err
	}
	s, err := wire.DecodeStruck(m)
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if a.fabric, err = fault.Fabric(a.cluster, s.Faults); err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if a.faults, err = fault.Compile(a.fabric, s.Faults, s.Seed, s.Horizon); err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	a.bear = s.Bear
	return nil
}

// strike replaces the schedule: faults have changed, or somebody has died. What he
// sent and is not here is lost, and results with it, so that elements are followed no
// further.
func (a *actor) strike(m *railyardv1.Strike) error {
	s, err := wire.DecodeStruck(m.GetStruck())
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	if a.kernel == nil || a.faults == nil && !a.live {
		return wire.Failf(wire.Mismatch, "a strike in a session without faults")
	}
	if a.faults, err = fault.Compile(a.fabric, s.Faults, s.Seed, s.Horizon); err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	a.bear = s.Bear
	a.kernel.Bear(s.Bear)
	a.kernel.Suffer(a.faults)
	if len(m.GetDead()) > 0 {
		for _, p := range m.GetDead() {
			a.bury(p)
		}
		clear(a.machines)
		a.blind = true
	}
	if a.ending != nil {
		return a.maybeFinish()
	}
	return a.maybeRun()
}

// discard gives back the memory of elements that nobody follows any more.
func (a *actor) discard(f *wire.Frame) { _ = f.Take() }

// bury notes that a participant has died.
func (a *actor) bury(index uint32) {
	if int(index) < len(a.peers) && a.peers[index] != nil {
		a.peers[index].dead = true
		a.peers[index].out.close()
	}
}

// mourned reports whether an error is only the end of a peer's stream. Where faults
// strike it is the coordinator who says what follows from that.
func (a *actor) mourned(e *event) bool {
	if e.lost == nil || !e.lost.dead && a.faults == nil {
		return false
	}
	e.lost.over = true
	return true
}

// bereaved returns how the stream of a peer broke between batches, unless faults
// strike the one that begins: a death then leads to what it leads to in a batch.
func (a *actor) bereaved() error {
	for _, p := range a.peers {
		if p == nil || p.broke == nil {
			continue
		}
		if p.over = true; !p.dead && a.faults == nil {
			return p.broke
		}
	}
	return nil
}

// silent reports whether nothing more will come from a participant.
func (a *actor) silent(index int) bool {
	return index < len(a.peers) && a.peers[index] != nil && a.peers[index].dead && a.peers[index].over
}
