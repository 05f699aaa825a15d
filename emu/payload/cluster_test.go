package payload

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/wiring"
)

// cluster runs a plan on machines that each host some of the ranks. It stands
// in for the kernel: any order that dependencies and messages allow is as good.
type cluster struct {
	hosts []*host
	moves int
	// pushed is called after each message put on a FIFO, before it can be
	// taken from it.
	pushed func(h *host, conn int)
}

type host struct {
	*Machine
	at []Move // next move of each block
}

// newCluster spreads the ranks evenly over machines, in order.
func newCluster(t testing.TB, run emu.Run, p *collective.Plan, g collective.Geometry, machines int) *cluster {
	t.Helper()
	return following(t, nil, run, p, g, machines)
}

// following is newCluster for a run whose machines may take over inputs of an
// earlier one.
func following(t testing.TB, earlier *cluster, run emu.Run, p *collective.Plan, g collective.Geometry, machines int) *cluster {
	t.Helper()
	c := &cluster{}
	for k := range machines {
		w, err := wiring.Lay(p, 0, func(rank int) bool { return rank*machines/p.Ranks == k })
		if err != nil {
			t.Fatal(err)
		}
		var from *Machine
		if earlier != nil && earlier.hosts[k].Lends(&run, w, g) {
			from = earlier.hosts[k].Machine
		}
		h := &host{Machine: New(run, w, g, from), at: make([]Move, len(w.Blocks))}
		for i := range h.at {
			h.at[i].Block = int32(i)
		}
		c.hosts = append(c.hosts, h)
	}
	return c
}

// run carries out every move, each block going as far as it can in its turn,
// and fails when all are stuck.
func (c *cluster) run(t testing.TB) {
	t.Helper()
	for progress := true; progress; {
		progress = false
		for _, h := range c.hosts {
			for i := range h.at {
				for h.ready(i) {
					c.step(h, i)
					progress = true
				}
			}
		}
	}
	for _, h := range c.hosts {
		for i := range h.at {
			if int(h.at[i].Loop) < h.geo.Loops && len(h.wiring.Blocks[i].Steps) > 0 {
				t.Fatalf("rank %d block %d is stuck before %+v", h.wiring.Blocks[i].Rank, h.wiring.Blocks[i].Index, h.at[i])
			}
		}
		if n := h.Waiting(); n != 0 {
			t.Fatalf("%d messages are left", n)
		}
	}
}

func (h *host) ready(block int) bool {
	b, at := &h.wiring.Blocks[block], h.at[block]
	if int(at.Loop) == h.geo.Loops || len(b.Steps) == 0 {
		return false
	}
	s := &b.Steps[at.Step]
	for _, d := range s.Deps {
		first, _ := h.wiring.RankBlocks(b.Rank)
		if o := h.at[first+d.Block]; o.Loop < at.Loop || o.Loop == at.Loop && int(o.Step) <= d.Step {
			return false
		}
	}
	for i, conn := range b.Recvs {
		if f := &h.fifos[conn]; s.Recv.Has(i) && f.head == len(f.msgs) {
			return false
		}
	}
	return true
}

func (c *cluster) step(h *host, block int) {
	b, at := &h.wiring.Blocks[block], &h.at[block]
	s := &b.Steps[at.Step]
	h.Apply(*at)
	c.moves++
	for i, conn := range b.Sends {
		if s.Send.Has(i) {
			if c.pushed != nil {
				c.pushed(h, conn)
			}
			c.ship(h, conn)
		}
	}
	if at.Slice++; int(at.Slice) == h.geo.Slices {
		at.Slice, at.Step = 0, at.Step+1
	}
	if int(at.Step) == len(b.Steps) {
		at.Step, at.Loop = 0, at.Loop+1
	}
}

// ship carries a message to the machine that hosts its receiver. It arrives in
// a buffer that is as long as the message and begins at an odd address, as one
// cut out of a frame may.
func (c *cluster) ship(h *host, conn int) {
	if h.wiring.Conns[conn].Receiver != wiring.None {
		return
	}
	msg := h.Take(conn)
	frame := append([]byte{0}, msg...)
	h.Recycle(msg)
	for _, peer := range c.hosts {
		if at, ok := peer.wiring.Conn(h.wiring.Conns[conn].ID); ok && peer != h {
			peer.Put(at, frame[1:])
			return
		}
	}
	panic("a connection leads nowhere")
}

func (c *cluster) verdicts() (all []Verdict) {
	for _, h := range c.hosts {
		all = append(all, h.VerifyAll()...)
	}
	return all
}

func (c *cluster) wrong() (wrong int64) {
	for _, v := range c.verdicts() {
		wrong += v.Wrong
	}
	return wrong
}

// geometry cuts count elements for plan p into loops and slices.
func geometry(p *collective.Plan, count int64, loops, slices int) collective.Geometry {
	g := collective.Geometry{Count: count, Chunks: p.Chunks, Loops: loops, Slices: slices, SlotsPerSlice: 1}
	if p.Op == collective.AllToAllV {
		g.Ranks = p.Ranks
	}
	return g
}
