package payload

import (
	"github.com/railyard/railyard/collective"
)

// Move is one slice of one step carried out, as a kernel reports it.
type Move struct {
	Block       int32 // position in Wiring.Blocks
	Step, Slice int32
	Loop        int32
}

// Apply does to the hosted ranks' elements what a slice of a step says: it
// takes the messages received from their FIFOs, reduces them, stores, and puts
// what is sent on the FIFOs of the send connections.
//
// Moves come in the kernel's order. A message that is not there, or not as long
// as the slice, is a bug and panics.
func (m *Machine) Apply(v Move) {
	b := &m.wiring.Blocks[v.Block]
	s := &b.Steps[v.Step]
	m.src, m.dst, m.in = m.src[:0], m.dst[:0], m.in[:0]
	if s.Kind.ReadsSrc() {
		m.src = m.locate(m.src, v, s.Src)
	}
	if s.Kind.WritesDst() {
		m.dst = m.locate(m.dst, v, s.Dst)
	}
	if s.Kind.ReadsSrc() && s.Kind.WritesDst() {
		m.match(v)
	}
	if s.Kind.Receives() {
		m.receive(v)
	}
	switch s.Kind {
	case collective.Nop:
	case collective.Send:
		m.send(v, m.gather())
	case collective.Recv:
		scatter(m.dst, m.in[0])
		m.Recycle(m.in[0])
	case collective.RecvCopySend:
		scatter(m.dst, m.in[0])
		m.send(v, m.in[0])
	case collective.RecvReduceCopy:
		m.reduce()
	case collective.RecvReduceSend:
		m.send(v, m.fold())
	case collective.RecvReduceCopySend:
		sum := m.fold()
		scatter(m.dst, sum)
		m.send(v, sum)
	case collective.Forward:
		m.send(v, m.forward(b.Unit))
	case collective.Copy:
		m.copy()
	case collective.ReduceLocal:
		for i, d := range m.dst {
			m.combine(d, d, m.src[i])
		}
	default:
		m.bug(v, "no such kind of step")
	}
}

// match makes sure that source and destination fall into the same pieces.
func (m *Machine) match(v Move) {
	same := len(m.src) == len(m.dst)
	for i := 0; same && i < len(m.src); i++ {
		same = len(m.src[i]) == len(m.dst[i])
	}
	if !same {
		m.bug(v, "source and destination chunks are not equally long")
	}
}

// receive takes the messages of the step's receive peers, in the order of their
// bits.
func (m *Machine) receive(v Move) {
	b := &m.wiring.Blocks[v.Block]
	s := &b.Steps[v.Step]
	want := length(m.src)
	switch {
	case s.Kind == collective.Forward:
		want = m.sliceLen(v, s.Src)
	case !s.Kind.ReadsSrc():
		want = length(m.dst)
	}
	for k := s.Recv.Next(0); k < len(b.Recvs); k = s.Recv.Next(k + 1) {
		msg, ok := m.fifos[b.Recvs[k]].pop()
		if !ok {
			m.bug(v, "nothing has come from rank %d on channel %d", b.RecvFrom[k], b.Channel)
		}
		if len(msg) != want {
			m.bug(v, "%d bytes came from rank %d on channel %d; the slice has %d", len(msg), b.RecvFrom[k], b.Channel, want)
		}
		m.in = append(m.in, msg)
	}
	if n := len(m.in); n == 0 || n > 1 && !s.Kind.ReadsSrc() && s.Kind != collective.Forward {
		m.bug(v, "receives from %d peers", n)
	}
}

// send puts msg on the step's send connections: the buffer itself on the last,
// copies on the others.
func (m *Machine) send(v Move, msg []byte) {
	b := &m.wiring.Blocks[v.Block]
	peers := b.Steps[v.Step].Send
	if peers == 0 {
		m.bug(v, "sends to no peer")
	}
	last := peers.Next(0)
	for next := peers.Next(last + 1); next < len(b.Sends); next = peers.Next(next + 1) {
		dup := m.Buffer(len(msg))
		copy(dup, msg)
		m.fifos[b.Sends[last]].push(dup)
		last = next
	}
	m.fifos[b.Sends[last]].push(msg)
}

// gather returns a message that is a snapshot of the source.
func (m *Machine) gather() []byte {
	msg := m.Buffer(length(m.src))
	rest := msg
	for _, p := range m.src {
		rest = rest[copy(rest, p):]
	}
	return msg
}

// scatter stores a message in the pieces of a destination.
func scatter(dst [][]byte, msg []byte) {
	for _, p := range dst {
		msg = msg[copy(p, msg):]
	}
}

// reduce stores source ⊕ messages in the destination.
func (m *Machine) reduce() {
	left := m.src
	for _, msg := range m.in {
		rest := msg
		for i, d := range m.dst {
			m.combine(d, left[i], rest[:len(d)])
			rest = rest[len(d):]
		}
		m.Recycle(msg)
		left = m.dst
	}
}

// fold returns source ⊕ messages, in the buffer of the first message.
func (m *Machine) fold() []byte {
	sum := m.in[0]
	rest := sum
	for _, p := range m.src {
		m.combine(rest[:len(p)], p, rest[:len(p)])
		rest = rest[len(p):]
	}
	for _, msg := range m.in[1:] {
		m.combine(sum, sum, msg)
		m.Recycle(msg)
	}
	return sum
}

// forward returns the reduction of all messages, in the buffer of the first. A
// switch does it in one pass, with an accumulator of its own.
func (m *Machine) forward(u collective.Unit) []byte {
	if u == collective.SM || len(m.in) == 1 {
		return m.fold()
	}
	sum := m.in[0]
	collective.CombineAll(sum, m.in, m.run.DType, m.run.RedOp)
	for _, msg := range m.in[1:] {
		m.Recycle(msg)
	}
	return sum
}

// copy copies source to destination. In place they may be the same memory, and
// then nothing is to be done.
func (m *Machine) copy() {
	for i, d := range m.dst {
		if s := m.src[i]; &d[0] != &s[0] {
			copy(d, s)
		}
	}
}

func (m *Machine) combine(dst, a, b []byte) {
	collective.Combine(dst, a, b, m.run.DType, m.run.RedOp)
}

// length returns the bytes of all pieces.
func length(pieces [][]byte) int {
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	return n
}
