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

// mourned reports whether an error is only the end of a peer's stream that a fault
// has killed.
func (a *actor) mourned(e *event) bool { return e.lost != nil && e.lost.dead }
