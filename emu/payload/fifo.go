package payload

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/wiring"
)

// fifo is the messages waiting on a connection. Those of zero elements count.
type fifo struct {
	msgs [][]byte
	head int // msgs[:head] are gone
}

func (f *fifo) push(msg []byte) {
	if f.head > 0 && len(f.msgs) == cap(f.msgs) {
		n := copy(f.msgs, f.msgs[f.head:])
		clear(f.msgs[n:]) // owned by others by now
		f.msgs, f.head = f.msgs[:n], 0
	}
	f.msgs = append(f.msgs, msg)
}

func (f *fifo) pop() (msg []byte, ok bool) {
	if f.head == len(f.msgs) {
		return nil, false
	}
	msg = f.msgs[f.head]
	f.msgs[f.head] = nil
	f.head++
	return msg, true
}

// Take removes the oldest message that a hosted rank put on a connection whose
// receiver is hosted elsewhere, and gives the buffer away. Empty messages are
// messages. The caller may Recycle it once it has been sent.
func (m *Machine) Take(conn int) []byte {
	c := &m.wiring.Conns[conn]
	if c.Sender == wiring.None || c.Receiver != wiring.None {
		panic(fmt.Sprintf("payload: take from connection %s, which does not lead out", name(c)))
	}
	msg, ok := m.fifos[conn].pop()
	if !ok {
		panic(fmt.Sprintf("payload: nothing to take from connection %s", name(c)))
	}
	return msg
}

// Put appends a message that has come for a hosted rank on a connection whose
// sender is hosted elsewhere. The machine owns msg from now on: it reduces into
// it and may pass it on.
func (m *Machine) Put(conn int, msg []byte) {
	c := &m.wiring.Conns[conn]
	if c.Receiver == wiring.None || c.Sender != wiring.None {
		panic(fmt.Sprintf("payload: put on connection %s, which does not lead in", name(c)))
	}
	m.fifos[conn].push(msg)
}

// Waiting returns how many messages wait on all connections: none when a run
// has ended.
func (m *Machine) Waiting() int {
	n := 0
	for i := range m.fifos {
		n += len(m.fifos[i].msgs) - m.fifos[i].head
	}
	return n
}

// Tamper shows f the messages that wait on a connection, oldest first. It is
// for mutation tests, which clear or swap their bytes: a check that lets such a
// run pass is no check. Lengths stay as they are.
func (m *Machine) Tamper(conn int, f func(waiting [][]byte)) {
	q := &m.fifos[conn]
	f(q.msgs[q.head:])
}

func name(c *wiring.Conn) string {
	return fmt.Sprintf("%d→%d of channel %d", c.From, c.To, c.Channel)
}

// FlipWaiting turns over a bit of an element of a message that waits on a
// connection, behind n others. Element and bit are counted round what is there; a
// message without elements stays as it is.
func (m *Machine) FlipWaiting(conn, n int, element, bit uint64) {
	q := &m.fifos[conn]
	if waiting := q.msgs[q.head:]; n < len(waiting) {
		m.flip(waiting[n], element, bit)
	}
}

func (m *Machine) flip(b []byte, element, bit uint64) {
	elems := uint64(len(b)) / uint64(m.size)
	if elems == 0 {
		return
	}
	element %= elems
	bit %= 8 * uint64(m.size)
	b[element*uint64(m.size)+bit/8] ^= 1 << (bit % 8)
}

// FlipOutput turns over a bit of an element of a hosted rank's result, counted
// likewise.
func (m *Machine) FlipOutput(rank int, element, bit uint64) {
	for i := range m.ranks {
		if r := &m.ranks[i]; r.rank == rank {
			elems := collective.Checked(m.run.Op, m.data.Ranks, rank, m.data.Root, m.geo.Count)
			m.finish(r, elems)
			m.flip(r.buffers[collective.Output][:elems*m.size], element, bit)
		}
	}
}
