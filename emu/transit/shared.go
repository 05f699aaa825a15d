package transit

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Shared is the fabric participant: the ports that several nodes share, and
// nothing else. Headers of frames pass through it; payload goes straight from
// node to node.
type Shared struct {
	*Transit
	fabric *fabric.Fabric
	routes map[routeKey]*fabric.Route
}

type routeKey struct {
	from, to, channel int32
	protocol          collective.Protocol
}

// NewShared returns the fabric participant.
func NewShared(f *fabric.Fabric, o Owners, record bool) *Shared {
	return &Shared{Transit: New(f, o, o.Shared, record), fabric: f, routes: map[routeKey]*fabric.Route{}}
}

// Check reports why a header cannot be accepted: it is on no way through a
// shared port, or its instant has passed. A node may be of another build, or
// hostile; Accept takes its word.
func (s *Shared) Check(h *Header) error {
	if gpus := int32(s.fabric.GPUs()); h.From < 0 || h.From >= gpus || h.To < 0 || h.To >= gpus {
		return fmt.Errorf("a frame from GPU %d to GPU %d; there are %d", h.From, h.To, gpus)
	}
	if h.Credit || h.Alone || h.Lost || h.Head > h.Tail || h.Tail < s.Now() || h.Bytes < 0 || h.Bytes > MaxFrame || h.Channel < 0 {
		return fmt.Errorf("a frame of %d bytes on connection %d stamped %d to %d ps, when it is %d ps",
			h.Bytes, h.Conn, int64(h.Head), int64(h.Tail), int64(s.Now()))
	}
	if h.Way != 0 && (s.Ways == nil || !s.Ways.Valid(h.From, h.To, h.Way)) {
		return fmt.Errorf("a frame on connection %d by a way %d that there is none of", h.Conn, h.Way)
	}
	ports := s.route(h).Wire.Ports
	if h.At < 0 || int(h.At) >= len(ports) || !s.Owns(ports[h.At]) {
		return fmt.Errorf("a frame on connection %d for port %d of its way, which is not shared", h.Conn, h.At)
	}
	return nil
}

// Accept takes the header of a frame whose next port is shared.
func (s *Shared) Accept(h Header) { s.Transit.Accept(h, &s.route(&h).Wire, -1) }

func (s *Shared) route(h *Header) *fabric.Route {
	if h.Way != 0 {
		return s.Ways.Route(h.From, h.To, h.Channel, h.Protocol, h.Way)
	}
	k := routeKey{h.From, h.To, h.Channel, h.Protocol}
	r, ok := s.routes[k]
	if !ok {
		made := s.fabric.Route(int(h.From), int(h.To), int(h.Channel), h.Protocol)
		r = &made
		s.routes[k] = r
	}
	return r
}

// Forward runs the fabric up to, and not including, the instant until, which
// every frame it hands on lowers to the earliest instant at which its receiver
// may answer. It calls emit for each such frame, with that instant, and returns
// the lowered horizon.
func (s *Shared) Forward(until shaping.Time, emit func(e Emission, induced shaping.Time)) shaping.Time {
	for s.Next() < until {
		key, i := s.Pop()
		if s.Step(key.Kind(), i) {
			panic("transit: a frame ends at a shared port")
		}
		for _, e := range s.Left {
			r := s.route(&e.Header)
			induced := r.Reaction(e.Tail, e.Bytes, e.Protocol)
			if e.Lost { // it may be sent again at once, by whichever NIC
				induced = e.Tail.Add(s.fabric.LeastHop())
			}
			until = min(until, induced)
			emit(e, induced)
		}
		s.Left = s.Left[:0]
	}
	return until
}

// Bound returns a lower bound on the stamp of anything the fabric may still
// hand on: its earliest event, and the least latency from a shared port to a node.
func (s *Shared) Bound() shaping.Time { return s.Next().Add(s.fabric.LeastHop()) }

// TakeRecords returns the records kept since the last call.
func (s *Shared) TakeRecords() []emu.Record {
	r := s.Records
	s.Records = nil
	return r
}
