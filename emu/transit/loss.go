package transit

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Fate is what became of a frame as it left its source.
type Fate struct {
	Lost bool
	// Dead: the port can carry nothing and does not lose either, as an NVLink
	// whose lanes are all down: nothing will ever get through.
	Dead bool
	Port fabric.PortID // where
	At   shaping.Time  // when: at the earliest now
	// Rest is how many bytes have to be sent again. Seen: more of the frame got
	// through behind what was lost, so that the receiver notices, at the Shown-th byte.
	Rest  shaping.Bytes
	Seen  bool
	Shown shaping.Bytes
	// Some: a part of the frame got through.
	Some bool
	Head shaping.Time // when the frame reaches the port behind the egress
}

// Loss is news of a lost frame for its sender.
type Loss struct {
	Local int32 // the connection
	PSN   uint32
	Seq   uint32 // of the frame that told: the one that was lost, or one behind it
	Port  fabric.PortID
	Rest  shaping.Bytes
	Nak   bool
}

// gap is the first frame that a connection lost at a shared port. The receiver
// takes nothing behind it until it comes again.
type gap struct {
	psn   uint32
	naked bool // the sender has been told, or will be, by a NAK
}

// Fate returns what became of the frame injected last.
func (t *Transit) Fate() *Fate { return &t.fate }

// Packet is what is lost or damaged at once: InfiniBand's path MTU in use is
// 4096 B (NCCL takes the port's active MTU).
const Packet = 4 * shaping.KiB

// departs notes the fate of a frame that has its booking at the egress until
// end, and reports whether it gets past it.
func (t *Transit) departs(f *Frame, end shaping.Time) bool {
	t.fate = Fate{Head: f.Head, At: t.Now()}
	for at, id := range f.path.Ports {
		if t.ports[id].weather == nil || at >= f.path.Inject-1 && at < f.path.Lossy {
			continue
		}
		if s, _ := t.ports[id].line.At(t.Now()); s.Share == 0 || s.Down {
			t.fate.Lost, t.fate.Dead, t.fate.Port, t.fate.Rest = true, true, id, f.Bytes
			return false
		}
	}
	if f.path.Lossy == 0 {
		return true
	}
	if apart := t.faults.Apart(t.fabric.NodeOf(int(f.From)), t.fabric.NodeOf(int(f.To))); apart != nil {
		if at, cut := apart.DownDuring(t.Now(), f.Tail); cut {
			t.fate.At, t.fate.Lost, t.fate.Port, t.fate.Rest = at, true, f.path.Ports[max(f.path.Inject-1, 0)], f.Bytes
			return false
		}
	}
	if at := f.path.Inject - 1; at >= 0 && !t.passes(f, f.path.Ports[at], t.Now(), end) {
		return false
	}
	if int(f.at) < f.path.Lossy && !t.passes(f, f.path.Ports[f.at], f.Head, f.Tail) {
		return false
	}
	return !f.Useless
}

// passes reports whether a frame that reaches a port from head to tail gets
// through it. If not, fate says what is lost.
func (t *Transit) passes(f *Frame, id fabric.PortID, head, tail shaping.Time) bool {
	p := &t.ports[id]
	if p.weather == nil {
		return true
	}
	if at, down := p.line.DownDuring(head, tail); down {
		t.lose(at, id, f.Bytes)
		return false
	}
	s, _ := p.line.At(tail)
	chance := s.Loss + s.Corrupt
	if chance == 0 {
		return true
	}
	return t.count(f, id, head, chance)
}

func (t *Transit) lose(at shaping.Time, id fabric.PortID, rest shaping.Bytes) {
	t.fate.At, t.fate.Lost, t.fate.Port, t.fate.Rest, t.fate.Seen, t.fate.Some = at, true, id, rest, false, false
}

// count draws for each packet of a frame whether it is lost, until one behind the
// first that is gets through, which tells the receiver.
func (t *Transit) count(f *Frame, id fabric.PortID, head shaping.Time, chance int64) bool {
	lost := false
	for i := range (f.Bytes + Packet - 1) / Packet {
		gone := int64(t.faults.Draw(uint64(id), uint64(f.Source), uint64(f.Seq), uint64(i))%fault.Certain) < chance
		switch {
		case gone && !lost:
			lost = true
			t.lose(head, id, f.Bytes-i*Packet)
			t.fate.Some = i > 0
		case !gone && lost:
			t.fate.Seen, t.fate.Some, t.fate.Shown = true, true, min((i+1)*Packet, f.Bytes)
			return false
		}
	}
	return !lost
}

// carries reports whether a frame that has left a shared port gets to the next
// one. If not, its sender will hear of it.
func (t *Transit) carries(i int32) bool {
	f := &t.frames[i]
	if int(f.at) >= f.path.Lossy || f.path.Lossy == 0 {
		return true
	}
	g, broken := t.gaps[f.Conn]
	if broken && g.psn == f.PSN {
		delete(t.gaps, f.Conn)
		broken = false
	}
	through := t.passes(f, f.path.Ports[f.at], f.Head, f.Tail)
	switch {
	case through && !broken:
		return true
	case !broken:
		t.mind(f.Conn, gap{f.PSN, t.fate.Seen})
		t.tell(f, f.PSN, t.fate.Rest, t.fate.Seen)
	case (through || t.fate.Some) && !g.naked:
		t.gaps[f.Conn] = gap{g.psn, true}
		t.tell(f, g.psn, 0, true)
	}
	t.Release(i)
	return false
}

func (t *Transit) mind(conn uint32, g gap) {
	if t.gaps == nil {
		t.gaps = map[uint32]gap{}
	}
	t.gaps[conn] = g
}

// tell sends news of a lost frame back to its sender: by the receiver's NAK, or
// only so that the emulator knows which timer will fire.
func (t *Transit) tell(f *Frame, psn uint32, rest shaping.Bytes, nak bool) {
	stamp := t.Now()
	for at := max(f.path.Inject-1, 0); at < int(f.at); at++ {
		stamp = stamp.Add(f.path.Latency[at])
	}
	if nak {
		for at := int(f.at) - 1; at < f.path.Lossy-1; at++ {
			stamp = stamp.Add(2 * f.path.Latency[at])
		}
	}
	stamp = max(stamp, t.Now().Add(t.fabric.LeastHop()))
	t.seen = max(t.seen, stamp)
	if stamp >= t.faults.Dead(t.fabric.NodeOf(int(f.From))) {
		return
	}
	h := Header{Conn: f.Conn, Source: f.Source, Seq: f.Seq, Hop: f.Hop, Lost: true, Nak: nak, PSN: psn, Way: f.Way, At: f.path.Ports[f.at],
		Head: stamp, Tail: stamp, Bytes: rest, From: f.From, To: f.To, Channel: f.Channel, Protocol: f.Protocol}
	if to := t.hosts[t.fabric.NodeOf(int(f.From))]; int32(to) != t.me {
		t.Left = append(t.Left, Emission{to, f.Local, h})
		return
	}
	t.Learn(h, f.Local)
}

// Learn takes news of a lost frame of a connection that is sent here.
func (t *Transit) Learn(h Header, local int32) {
	t.Push(h.Key(), int32(len(t.lost)))
	t.lost = append(t.lost, Loss{Local: local, PSN: h.PSN, Seq: h.Seq, Port: h.At, Rest: h.Bytes, Nak: h.Nak})
}

// Loss returns news by the number that events carry.
func (t *Transit) Loss(i int32) Loss { return t.lost[i] }

// intoGrave reports whether a frame goes to a node that will be dead when it
// arrives.
func (t *Transit) intoGrave(f *Frame) bool {
	node := t.fabric.NodeOf(int(f.To))
	if int(f.at) < len(f.path.Ports) {
		if node = t.fabric.Port(f.path.Ports[f.at]).Node; node == fabric.Shared {
			return false
		}
	}
	return f.Tail >= t.faults.Dead(node)
}

// Where returns the node that owns the port at which a frame stands or arrives
// next, or the node at the end of its way.
func (t *Transit) Where(i int32) int {
	f := &t.frames[i]
	if int(f.at) < len(f.path.Ports) {
		return t.fabric.Port(f.path.Ports[f.at]).Node
	}
	if f.path.InSwitch {
		return f.path.Node
	}
	return t.fabric.NodeOf(int(f.To))
}

// Clear forgets everything that is pending: frames, news and turns at ports.
// Bookings stand.
func (t *Transit) Clear() {
	t.Drop(func(Key, int32) bool { return true })
	t.frames, t.free, t.lost, t.gaps = t.frames[:0], t.free[:0], t.lost[:0], nil
	for i := range t.ports {
		t.ports[i].flows = t.ports[i].flows[:0]
		if w := t.ports[i].weather; w != nil {
			w.last = nil
		}
	}
}
