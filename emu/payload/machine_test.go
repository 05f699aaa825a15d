package payload

import (
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/wiring"
)

var (
	types  = collective.DTypes()
	redOps = collective.RedOps()
)

func newRun(p *collective.Plan, d collective.DType, op collective.RedOp, inPlace bool) emu.Run {
	return emu.Run{Op: p.Op, DType: d, RedOp: op, InPlace: inPlace, Seed: 11}
}

// Every plan, every type and reduction, in place and not, over counts that do
// not divide, in one machine and in several: all elements right.
func TestPlansGiveWhatTheyMust(t *testing.T) {
	const n = 4
	for _, c := range plans {
		t.Run(c.name, func(t *testing.T) {
			p := c.build(n)
			for k, count := range []int64{0, 1, n - 1, n, 97, 3001} {
				for _, d := range types {
					for _, op := range redOps {
						inPlace, machines := k%2 == 0, 1+k%3
						runRight(t, newRun(p, d, op, inPlace), p, geometry(p, count, 1+k%3, 1+k%2), machines)
					}
				}
			}
		})
	}
}

func TestSmallestClusters(t *testing.T) {
	for _, c := range plans {
		for _, inPlace := range []bool{false, true} {
			p := c.build(2)
			runRight(t, newRun(p, collective.Float32, collective.Sum, inPlace), p, geometry(p, 33, 2, 2), 2)
		}
	}
}

func runRight(t *testing.T, run emu.Run, p *collective.Plan, g collective.Geometry, machines int) {
	t.Helper()
	c := newCluster(t, run, p, g, machines)
	c.run(t)
	verdicts := c.verdicts()
	if len(verdicts) != p.Ranks {
		t.Fatalf("%d verdicts for %d ranks", len(verdicts), p.Ranks)
	}
	for r, v := range verdicts {
		elems := collective.Checked(p.Op, p.Ranks, r, p.Root, g.Count)
		if v.Rank != r || v.Wrong != 0 || v.Elements != elems {
			t.Errorf("%v %v in place %v, %+v on %d machines: %+v; want %d elements",
				run.DType, run.RedOp, run.InPlace, g, machines, v, elems)
		}
		if p.Op.Uniform() && v.Digest != verdicts[0].Digest {
			t.Errorf("%v: digests of ranks 0 and %d differ", run.DType, r)
		}
	}
}

// A scale model goes through the same moves as the real thing.
func TestScaleModelMovesEverySlice(t *testing.T) {
	p := ring(collective.AllReduce, 5)
	real := geometry(p, 1<<33, 7, 2)
	model := real.Scale(0)
	if want := int64(7 * 10 * 2); model.Count != want {
		t.Fatalf("the model has %d elements; want one a slice, %d", model.Count, want)
	}
	c := newCluster(t, newRun(p, collective.Float32, collective.Sum, false), p, model, 2)
	c.pushed = func(h *host, conn int) {
		h.Tamper(conn, func(waiting [][]byte) {
			if n := len(waiting[len(waiting)-1]); n != 4 {
				t.Errorf("a message of %d bytes; want one element", n)
			}
		})
	}
	c.run(t)
	if want := 7 * 2 * 5 * 2 * len(p.Rank(0)[0].Steps); c.moves != want {
		t.Errorf("%d moves; want %d", c.moves, want)
	}
	if w := c.wrong(); w != 0 {
		t.Errorf("%d elements wrong", w)
	}
}

func TestInPlaceBuffersOverlapAsInNCCLTests(t *testing.T) {
	const n, count = 3, 5
	for _, op := range collective.Ops() {
		p := collective.NewPlan(collective.Plan{Op: op, Ranks: n, Chunks: 1}, func(int) []collective.Block { return nil })
		for _, inPlace := range []bool{false, true} {
			m := newCluster(t, newRun(p, collective.Int32, collective.Sum, inPlace), p, geometry(p, count, 1, 1), 1).hosts[0]
			for r, mem := range m.ranks {
				i, o := mem.buffers[in], mem.buffers[out]
				parts, wholes := op.Parts(n)
				if len(i) != parts*count*4 || len(o) != wholes*count*4 {
					t.Errorf("%v: input %d B, output %d B", op, len(i), len(o))
				}
				rooted := op == collective.Gather || op == collective.Scatter
				long, short := i, o
				if len(o) > len(i) {
					long, short = o, i
				}
				want := -1
				if inPlace && (!rooted || r == p.Root) {
					want = (len(long) - len(short)) / (n - 1) * r
				}
				at := slices.IndexFunc(upTo(0, len(long)-len(short)+1), func(k int) bool { return &long[k] == &short[0] })
				if at != want {
					t.Errorf("%v in place %v: rank %d's buffers overlap at byte %d; want %d", op, inPlace, r, at, want)
				}
			}
		}
	}
}

// Scratch is made of whole parts, so that every chunk lies where an output's
// chunk would.
func TestScratchHoldsEveryChunk(t *testing.T) {
	for chunks, parts := range []int{0, 1, 1, 1, 2, 2, 2, 3} {
		p := collective.NewPlan(collective.Plan{Op: collective.AllReduce, Ranks: 1, Chunks: 3, Scratch: chunks},
			func(int) []collective.Block { return nil })
		c := newCluster(t, newRun(p, collective.Int32, collective.Sum, false), p, geometry(p, 10, 1, 1), 1)
		if got := len(c.hosts[0].ranks[0].buffers[scratch]); got != parts*10*4 {
			t.Errorf("%d chunks, 3 a part: %d bytes; want %d parts of 40", chunks, got, parts)
		}
	}
}

// A message is what the source was when it was sent.
func TestMessagesAreSnapshots(t *testing.T) {
	p := collective.NewPlan(collective.Plan{Op: collective.SendRecv, Ranks: 2, Channels: 1, Blocks: 1, Chunks: 1},
		func(rank int) []collective.Block {
			return []collective.Block{{SendTo: []int{1 - rank}, RecvFrom: []int{1 - rank}, Steps: []collective.Step{
				{Kind: collective.Send, Src: ref(in, 0), Send: 1},
				{Kind: collective.ReduceLocal, Src: ref(in, 0), Dst: ref(in, 0)},
				{Kind: collective.Recv, Dst: ref(out, 0), Recv: 1},
			}}}
		})
	runRight(t, newRun(p, collective.Int32, collective.Sum, false), p, geometry(p, 100, 1, 1), 1)
}

// What the kernel must never do, and what a plan that was checked never has.
func TestBugsPanic(t *testing.T) {
	p := collective.NewPlan(collective.Plan{Op: collective.AllReduce, Ranks: 3, Channels: 1, Blocks: 1, Chunks: 2},
		func(rank int) []collective.Block {
			return []collective.Block{{SendTo: []int{(rank + 1) % 3}, RecvFrom: []int{(rank + 2) % 3}, Steps: []collective.Step{
				{Kind: collective.Send, Src: ref(in, 0), Send: 1},
				{Kind: collective.Recv, Dst: ref(out, 1), Recv: 1}, // chunk 1 is longer than chunk 0
				{Kind: collective.Copy, Src: ref(in, 0), Dst: ref(out, 1)},
				{Kind: collective.Recv, Dst: ref(out, 0)},
				{Kind: collective.Send, Src: ref(in, 0)},
				{Kind: 99},
			}}}
		})
	run := newRun(p, collective.Int32, collective.Sum, false)
	w, err := wiring.Lay(p, 0, func(r int) bool { return r < 2 })
	if err != nil {
		t.Fatal(err)
	}
	conn := func(from, to int) int {
		return slices.IndexFunc(w.Conns, func(c wiring.Conn) bool { return c.From == from && c.To == to })
	}
	for _, c := range []struct {
		want string
		do   func(m *Machine)
	}{
		{"payload: rank 0 block 0 step 1 (recv) loop 0 slice 0: nothing has come from rank 2 on channel 0",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 1}) }},
		{"payload: rank 1 block 0 step 1 (recv) loop 0 slice 0: 4 bytes came from rank 0 on channel 0; the slice has 8",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 0}); m.Apply(Move{Block: 1, Step: 1}) }},
		{"payload: rank 0 block 0 step 2 (copy) loop 0 slice 0: source and destination chunks are not equally long",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 2}) }},
		{"payload: rank 0 block 0 step 3 (recv) loop 0 slice 0: receives from 0 peers",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 3}) }},
		{"payload: rank 0 block 0 step 4 (send) loop 0 slice 0: sends to no peer",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 4}) }},
		{"payload: rank 0 block 0 step 5 (unknown) loop 0 slice 0: no such kind of step",
			func(m *Machine) { m.Apply(Move{Block: 0, Step: 5}) }},
		{"payload: nothing to take from connection 1→2 of channel 0", func(m *Machine) { m.Take(conn(1, 2)) }},
		{"payload: take from connection 0→1 of channel 0, which does not lead out", func(m *Machine) { m.Take(conn(0, 1)) }},
		{"payload: put on connection 0→1 of channel 0, which does not lead in", func(m *Machine) { m.Put(conn(0, 1), nil) }},
		{"payload: put on connection 1→2 of channel 0, which does not lead in", func(m *Machine) { m.Put(conn(1, 2), nil) }},
		{"payload: verdict on rank 2, which is not hosted here", func(m *Machine) { m.Verify(2) }},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); got != c.want {
					t.Errorf("\n got %s\nwant %s", got, c.want)
				}
			}()
			c.do(New(run, w, geometry(p, 3, 1, 1), nil))
		}()
	}
}

// Once warm, moves allocate nothing: messages are handed on or come from the
// pool.
func TestMovesAllocateNothing(t *testing.T) {
	for _, c := range plans {
		p := c.build(4)
		g := geometry(p, 4000, 60, 2)
		cl := newCluster(t, newRun(p, collective.Float32, collective.Sum, false), p, g, 1)
		h, loops := cl.hosts[0], int32(0)
		loop := func() { // one loop of all blocks
			loops++
			for progress := true; progress; {
				progress = false
				for i := range h.at {
					for h.at[i].Loop < loops && h.ready(i) {
						cl.step(h, i)
						progress = true
					}
				}
			}
		}
		for range 5 {
			loop()
		}
		if n := testing.AllocsPerRun(50, loop); n > 0 {
			t.Errorf("%s: %v allocations a loop", c.name, n)
		}
	}
}

// BenchmarkRing is a whole all-reduce of 8 ranks on real elements; its speed is
// in bytes of output.
func BenchmarkRing(b *testing.B) {
	const n, count = 8, 1 << 20
	p := ring(collective.AllReduce, n)
	for _, op := range redOps {
		b.Run(op.String(), func(b *testing.B) {
			b.SetBytes(n * count * 4)
			run := newRun(p, collective.Float32, op, false)
			for b.Loop() {
				b.StopTimer()
				c := newCluster(b, run, p, geometry(p, count, 4, 2), 1)
				b.StartTimer()
				c.run(b)
			}
		})
	}
}
