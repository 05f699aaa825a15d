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
		s.carried += p.GetCarriedBytes()
	}
	return nil
}

// gatherShared adds what the batch put on the ports that no member owns.
func (s *session) gatherShared() {
	if s.shared == nil {
		return
	}
	if s.busy == nil {
		s.busy = make([]shaping.Duration, s.fabric.Ports())
	}
	for i := range s.busy {
		id := int32(i)
		if !s.shared.Owns(id) {
			continue
		}
		_, busy := s.shared.Use(id)
		if d := busy - s.busy[i]; d > 0 {
			s.use.Ports = append(s.use.Ports, sweep.PortUse{Port: id, Busy: d})
		}
		s.busy[i] = busy
	}
}
