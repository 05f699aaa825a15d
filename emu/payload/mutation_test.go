package payload

import (
	"bytes"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/wiring"
)

// mutations are what can go wrong with a message. Each is shown the messages
// waiting on a connection, of which the last has just been sent, and the one
// sent before it (nil: none). It reports whether it has changed anything.
var mutations = []struct {
	name string
	do   func(waiting [][]byte, before []byte, size int64) bool
}{
	{"lost", func(waiting [][]byte, _ []byte, _ int64) bool { // its buffer is as it was allocated
		last := waiting[len(waiting)-1]
		changed := len(last) > 0
		clear(last)
		return changed
	}},
	{"sent twice", func(waiting [][]byte, before []byte, _ int64) bool { // in place of this one
		last := waiting[len(waiting)-1]
		changed := len(before) == len(last) && !bytes.Equal(before, last)
		if changed {
			copy(last, before)
		}
		return changed
	}},
	{"swapped", func(waiting [][]byte, _ []byte, _ int64) bool {
		if len(waiting) < 2 {
			return false
		}
		a, b := waiting[len(waiting)-2], waiting[len(waiting)-1]
		changed := len(a) == len(b) && !bytes.Equal(a, b)
		if changed {
			held := slices.Clone(a)
			copy(a, b)
			copy(b, held)
		}
		return changed
	}},
	{"changed in sign", func(waiting [][]byte, _ []byte, size int64) bool { // not only its zeros
		last := waiting[len(waiting)-1]
		for i := size - 1; i < int64(len(last)); i += size {
			last[i] ^= 0x80
		}
		return len(last) > 0
	}},
}

// mutate runs a plan with the k-th message, counted over the whole run, changed
// by a mutation. It reports whether there was such a message to be changed.
func mutate(c *cluster, k int, do func([][]byte, []byte, int64) bool) (changed *bool) {
	changed = new(bool)
	sent, before := 0, map[int][]byte{}
	c.pushed = func(h *host, conn int) {
		h.Tamper(conn, func(waiting [][]byte) {
			now := slices.Clone(waiting[len(waiting)-1])
			if sent == k {
				*changed = do(waiting, before[conn], h.size)
			}
			before[conn] = now
			sent++
		})
	}
	return changed
}

// Whatever message of a run is lost, doubled or swapped with the next, elements
// are wrong: with all elements and with a scale model, for every plan,
// reduction and type. Slices have about 16 elements, which no float product
// gets through by luck; see TestOneElementSlices for fewer.
func TestNoMutationPasses(t *testing.T) {
	const n = 4
	for i, c := range plans {
		t.Run(c.name, func(t *testing.T) {
			p := c.build(n)
			full := geometry(p, int64(2*16*p.Chunks), 1, 2)
			model := geometry(p, 1<<30, 2, 2).Scale(4 * full.Count)
			tried := map[string]int{}
			for j, op := range redOps {
				for k, d := range types {
					run, g := newRun(p, d, op, (i+j)%2 == 0), []collective.Geometry{full, model}[(j+k)%2]
					tryMutations(t, run, p, g, j*len(types)+k, tried)
				}
			}
			for _, m := range mutations {
				if tried[m.name] == 0 {
					t.Errorf("no message was ever %s", m.name)
				}
			}
		})
	}
}

// every is how many messages lie between those that tryMutations changes, from
// the given one on; other types and reductions change the others.
const every = 24

// tryMutations runs a plan with each mutation of each of those messages.
func tryMutations(t *testing.T, run emu.Run, p *collective.Plan, g collective.Geometry, from int, tried map[string]int) {
	t.Helper()
	idempotent := run.RedOp == collective.Min || run.RedOp == collective.Max
	for _, m := range mutations {
		if m.name == "changed in sign" && idempotent {
			continue // rightly without effect where another rank is extreme
		}
		c := newCluster(t, run, p, g, 1)
		for message := from % every; message < c.messages(); message += every {
			c = newCluster(t, run, p, g, 1)
			changed := mutate(c, message, m.do)
			c.run(t)
			if wrong := c.wrong(); (wrong != 0) != *changed {
				t.Errorf("%v %v, message %d %s: %d elements wrong", run.DType, run.RedOp, message, m.name, wrong)
			}
			if *changed {
				tried[m.name]++
			}
		}
	}
}

// messages returns how many messages the plan sends in a run.
func (c *cluster) messages() (n int) {
	for _, h := range c.hosts {
		for i := range h.wiring.Blocks {
			for _, s := range h.wiring.Blocks[i].Steps {
				for peers := s.Send; peers != 0; peers &= peers - 1 {
					n += h.geo.Loops * h.geo.Slices
				}
			}
		}
	}
	return n
}

// The smallest scale model: one element a slice, and still no sum lets a
// mutation pass.
func TestOneElementSlices(t *testing.T) {
	p := ring(collective.AllReduce, 4)
	g := geometry(p, 1<<30, 2, 2).Scale(0)
	tried := map[string]int{}
	for i, d := range types {
		for from := range 2 { // all messages
			tryMutations(t, newRun(p, d, collective.Sum, false), p, g, 2*i+from, tried)
		}
	}
	if len(tried) != len(mutations) {
		t.Errorf("mutations tried: %v", tried)
	}
}

// On more ranks than narrow types have room for, slices of Spread elements still
// show every mutation: not every rank has a say in every element.
func TestNoMutationPassesOnManyRanks(t *testing.T) {
	const n = 13
	p := ring(collective.AllReduce, n)
	tried := map[string]int{}
	for i, d := range types {
		for j, op := range redOps {
			run := newRun(p, d, op, false)
			spread := dataOf(&run, &wiring.Wiring{Plan: p}).Spread()
			model := geometry(p, 1<<30, 1, 1).Scale(int64(p.Chunks * max(16, spread)))
			message := 17 * (len(redOps)*i + j) % (2 * n * (n - 1) * 2)
			for _, m := range mutations[:3] {
				c := newCluster(t, run, p, model, 1)
				changed := mutate(c, message, m.do)
				c.run(t)
				if wrong := c.wrong(); (wrong != 0) != *changed {
					t.Errorf("%v %v, message %d %s: %d elements wrong", d, op, message, m.name, wrong)
				}
				if *changed {
					tried[m.name]++
				}
			}
		}
	}
	for _, m := range mutations[:3] {
		if tried[m.name] < 20 {
			t.Errorf("mutations tried: %v", tried)
		}
	}
}
