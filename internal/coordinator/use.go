package coordinator

import (
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// gather adds what one member says of where the time of a batch went.
func (s *session) gather(f *railyardv1.Finished) error {
	t := f.GetTime()
	s.use.Busy += shaping.Duration(t.GetBusyPs())
	s.use.WaitData += shaping.Duration(t.GetWaitDataPs())
	s.use.WaitSlot += shaping.Duration(t.GetWaitSlotPs())
	s.use.WaitDep += shaping.Duration(t.GetWaitDepPs())
	for _, p := range f.GetPorts() {
		if int(p.GetPort()) >= s.fabric.Ports() {
			return wire.Failf(wire.Mismatch, "port %d of %d", p.GetPort(), s.fabric.Ports())
		}
		s.use.Ports = append(s.use.Ports, sweep.PortUse{Port: int32(p.GetPort()), Busy: shaping.Duration(p.GetBusyPs())})
	}
	return nil
}
