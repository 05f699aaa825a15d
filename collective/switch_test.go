package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// switched are the algorithms in which switches compute.
var switched = []Algorithm{nvls, nvlstree, collnetDirect, collnetChain}

// computing is a shape all of whose switches compute, with the given rails.
func computing(nodes, gpus, rails int) Shape {
	s := Uniform(nodes, gpus)
	s.NVLS, s.SHARP = true, true
	for i := range s.Nodes {
		s.Nodes[i].Heads = s.Nodes[i].Heads[:rails]
	}
	return s
}

// eachSwitched calls f for every algorithm on every shape and operation for
// which it is legal.
func eachSwitched(f func(a *Algorithm, op Op, s Shape)) {
	for nodes := 1; nodes <= 8; nodes++ {
		for gpus := 1; gpus <= 16; gpus++ {
			for i := range switched {
				a := &switched[i]
				for _, op := range a.Ops {
					s := computing(nodes, gpus, (gpus+1)/2)
					if a.Check(Use{Op: op}, s) == nil {
						f(a, op, s)
					}
				}
			}
		}
	}
}

func TestSwitchedPlansAreProved(t *testing.T) {
	proved := map[string]int{}
	eachSwitched(func(a *Algorithm, op Op, s Shape) {
		for _, channels := range []int{1 + s.NRanks()%3} {
			p := mustBuild(t, a.Name, op, s, Options{Channels: channels})
			for _, check := range []func(*Plan) error{Check, CheckInPlace} {
				if err := check(p); err != nil {
					t.Fatalf("%s %s on %d × %d, %d channels: %v", a.Name, op, len(s.Nodes), len(s.Nodes[0].Ranks), channels, err)
				}
			}
		}
		proved[a.Name]++
	})
	// Domains of more ranks than one mask picks, whole and in parts that do not
	// divide by heads: NVLS in each, and trees between them.
	for _, s := range []Shape{computing(1, 33, 33), computing(1, 64, 64), computing(1, 65, 5), computing(1, 72, 72), computing(2, 72, 72)} {
		name := []string{"nvls", "nvlstree"}[len(s.Nodes)-1]
		p := mustBuild(t, name, AllReduce, s, Options{Channels: 3})
		for _, check := range []func(*Plan) error{Check, CheckInPlace} {
			if err := check(p); err != nil {
				t.Fatalf("%s on %d × %d: %v", name, len(s.Nodes), len(s.Nodes[0].Ranks), err)
			}
		}
	}
	// nvls: one node of 5 to 16, three operations. nvlstree: 2 to 8 nodes of 1 to
	// 16, less 2 × 1, 2 × 2, 3 × 1 and 4 × 1, which have 4 ranks or fewer.
	want := map[string]int{"nvls": 3 * 12, "nvlstree": 7*16 - 4, "collnetdirect": 7 * 16, "collnetchain": 7 * 16}
	for name, n := range want {
		if proved[name] != n {
			t.Errorf("%s was legal on %d shapes and operations, want %d", name, proved[name], n)
		}
	}
}

// TestSwitchedFormulas counts what the headers say: the steps of the busiest
// block, and the bytes on all links, a switch's multicast once.
func TestSwitchedFormulas(t *testing.T) {
	eachSwitched(func(a *Algorithm, op Op, s Shape) {
		p := mustBuild(t, a.Name, op, s, Options{Channels: 2})
		in, out := op.Parts(p.Ranks)
		size := int64(max(in, out) * p.Chunks) // a byte a chunk
		steps, bytes := 0, int64(0)
		for r := range p.Ranks {
			for _, b := range p.Rank(r) {
				steps = max(steps, len(b.Steps))
				for _, st := range b.Steps {
					switch {
					case !st.Kind.Sends():
					case b.Unit != SM:
						bytes += int64(st.Chunks())
					default:
						bytes += int64(st.Chunks() * st.Send.Count())
					}
				}
			}
		}
		what := fmt.Sprintf("%s %s on %d × %d", a.Name, op, len(s.Nodes), len(s.Nodes[0].Ranks))
		if want := a.Steps(op, s); steps != want {
			t.Errorf("%s: %d steps, the formula says %d", what, steps, want)
		}
		if want := a.Wire(op, s, size); bytes != want {
			t.Errorf("%s: %d B of %d on links, the formula says %d", what, bytes, size, want)
		}
	})
}

// TestSwitchLegality is the table of what switches do, and why not.
func TestSwitchLegality(t *testing.T) {
	one, two, four := computing(1, 8, 8), computing(2, 8, 8), computing(1, 4, 4)
	plain := Uniform(2, 8)
	for _, tc := range []struct {
		a    *Algorithm
		u    Use
		s    Shape
		want string // part of the refusal; empty: legal
	}{
		{&nvls, Use{}, one, ""},
		{&nvls, Use{DType: Float16, RedOp: Max}, one, ""},
		{&nvls, Use{DType: BFloat16, RedOp: Min}, one, ""},
		{&nvls, Use{DType: Int32, RedOp: Min}, one, ""},
		{&nvls, Use{DType: Uint64, RedOp: Max}, one, ""},
		{&nvls, Use{DType: Float64}, one, ""},
		{&nvls, Use{Op: AllGather, DType: Int8, RedOp: Prod}, one, ""},
		{&nvls, Use{Op: Broadcast}, one, "does not do broadcast; it does all_reduce, all_gather, reduce_scatter"},
		{&nvls, Use{Protocol: LL}, one, "does not use protocol ll; it uses simple"},
		{&nvls, Use{DType: Float32, RedOp: Max}, one, "reduction max of float: the NVSwitch does not do it; allowed: sum"},
		{&nvls, Use{DType: Float64, RedOp: Min}, one, "reduction min of double"},
		{&nvls, Use{RedOp: Prod}, one, "reduction prod of float"},
		{&nvls, Use{DType: Int32, RedOp: Avg}, one, "reduction avg of int32: the NVSwitch does not do it; allowed: sum, min, max"},
		{&nvls, Use{DType: Float16, RedOp: MulSum}, one, "reduction mulsum of half"},
		{&nvls, Use{DType: Int8}, one, "type int8: the NVSwitch does not reduce it; allowed are float, half, bfloat16, double, int32, uint32, int64, uint64"},
		{&nvls, Use{Op: ReduceScatter, DType: Float8E4M3}, one, "type f8e4m3"},
		{&nvls, Use{}, two, "nodes 2: all ranks must be behind one NVSwitch; between nodes use nvlstree"},
		{&nvls, Use{}, four, "ranks 4: it takes more than 4"},
		{&nvls, Use{}, computing(1, 72, 72), ""},
		{&nvls, Use{}, computing(1, 576, 8), ""},
		{&nvls, Use{}, computing(1, 577, 8), "node 0 has 577 ranks; NVSwitches join at most 576"},
		{&nvls, Use{Op: AllGather}, computing(1, 32, 8), ""},
		{&nvls, Use{Op: AllGather}, computing(1, 33, 8), "ranks 33: all_gather takes every rank for a head, of which there are at most 32"},
		{&nvls, Use{Op: ReduceScatter}, computing(1, 72, 8), "ranks 72: reduce_scatter takes every rank for a head"},
		{&nvlstree, Use{}, computing(2, 72, 72), ""},
		{&collnetDirect, Use{}, computing(2, 72, 72), "node 0 has 72 ranks; the head of a channel takes in at most 64"},
		{&nvls, Use{}, Uniform(1, 8), "no NVSwitch that reduces"},
		{&nvlstree, Use{}, two, ""},
		{&nvlstree, Use{Op: AllGather}, two, "does not do all_gather"},
		{&nvlstree, Use{}, one, "nodes 1: it takes 2 or more; inside one use nvls"},
		{&nvlstree, Use{}, computing(2, 2, 1), "ranks 4: it takes more than 4"},
		{&nvlstree, Use{}, plain, "no NVSwitch that reduces"},
		{&nvlstree, Use{DType: Uint8}, two, "type uint8"},
		{&collnetDirect, Use{}, two, ""},
		{&collnetDirect, Use{RedOp: Max}, two, ""},
		{&collnetChain, Use{DType: BFloat16, RedOp: Min}, computing(2, 1, 1), ""},
		{&collnetDirect, Use{}, one, "nodes 1: it takes 2 or more"},
		{&collnetDirect, Use{}, plain, "do not reduce (SHARP); use a link whose switches do"},
		{&collnetChain, Use{RedOp: Avg}, two, "reduction avg of float: SHARP does not do it; allowed: sum, min, max"},
		{&collnetChain, Use{DType: Float8E5M2}, two, "type f8e5m2: SHARP does not reduce it"},
		{&collnetDirect, Use{}, computing(65, 1, 1), "nodes 65: a switch tree joins at most 64"},
	} {
		err := tc.a.Check(tc.u, tc.s)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s, %+v on %d nodes: %v; want %q", tc.a.Name, tc.u, len(tc.s.Nodes), err, tc.want)
		}
	}
}

// TestDamagedSwitchesAreCaught: what goes wrong in a switch's block, or on the
// way to it, is found like anything else.
func TestDamagedSwitchesAreCaught(t *testing.T) {
	for what, tc := range map[string]struct {
		fits func(b *Block) bool
		do   func(b *Block)
	}{
		"a lost step":  {func(b *Block) bool { return true }, func(b *Block) { b.Steps = b.Steps[1:] }},
		"another unit": {func(b *Block) bool { return true }, func(b *Block) { b.Unit = (b.Unit + 1) % numUnits }},
		"a peer's unit": {func(b *Block) bool { return b.Unit == SM && len(b.SendTo) > 0 && b.To(0) != SHARP },
			func(b *Block) { b.ToUnits = slices.Repeat([]Unit{SHARP}, len(b.SendTo)) }},
		"units too many":   {func(b *Block) bool { return true }, func(b *Block) { b.FromUnits = make([]Unit, len(b.RecvFrom)+1) }},
		"one peer less":    {func(b *Block) bool { return b.Steps[0].Recv.Count() > 1 }, func(b *Block) { b.Steps[0].Recv &= b.Steps[0].Recv - 1 }},
		"a sum that stays": {func(b *Block) bool { return b.Unit != SM }, func(b *Block) { b.Steps[0].Kind, b.Steps[0].Send = Recv, 0 }},
	} {
		n := 0
		for _, a := range switched {
			nodes := 2
			if a.Name == "nvls" {
				nodes = 1
			}
			p := mustBuild(t, a.Name, AllReduce, computing(nodes, 5, 2), Options{Channels: 2})
			for r := range p.Ranks {
				for k := range p.Rank(r) {
					q, ranks := unrolled(p)
					if b := &ranks[r][k]; tc.fits(b) {
						tc.do(b)
						caught(t, q, Place{r, k, 0}, what)
						n++
					}
				}
			}
		}
		if n == 0 {
			t.Errorf("%s: no block could be damaged so", what)
		}
	}
	q := mustBuild(t, "collnetchain", AllReduce, computing(2, 1, 1), Options{Channels: 1})
	q.SHARP = false
	caught(t, q, Place{-1, -1, -1}, "a switch that is not said")
}

// TestMoreRanksThanHeads: of 72 ranks 32, spread evenly, are heads, each of the
// 32nd part of a channel; a switch's block takes in all, and a block of an SM may
// not, nor one of a switch that the plan does not announce.
func TestMoreRanksThanHeads(t *testing.T) {
	p := mustBuild(t, "nvls", AllReduce, computing(1, 72, 72), Options{Channels: 2})
	heads, apart, last := 0, 0, 0
	for r := range p.Ranks {
		blocks := p.Rank(r)
		if scatter, gather := blocks[0], blocks[len(blocks)/p.Channels-1]; len(scatter.SendTo) != 32 || len(gather.RecvFrom) != 32 {
			t.Fatalf("rank %d sends to %d heads and receives from %d", r, len(scatter.SendTo), len(gather.RecvFrom))
		}
		if len(blocks) == 2*p.Channels {
			continue
		}
		if sum := blocks[1]; sum.Unit != NVSwitch || len(sum.RecvFrom) != 72 || sum.Steps[0].Recv != All {
			t.Fatalf("rank %d: block 1 is in %s and receives from %d", r, sum.Unit, len(sum.RecvFrom))
		}
		heads, apart, last = heads+1, max(apart, r-last), r
	}
	if heads != 32 || apart > 3 || p.Chunks != 2*32 || p.Ports != 72 {
		t.Errorf("%d heads, at most %d apart; %d chunks, %d ports", heads, apart, p.Chunks, p.Ports)
	}
	p.Ports = 64
	caught(t, p, Place{0, 1, -1}, "more ports than are announced")
	p.Ports = MaxPorts + 1
	caught(t, p, Place{-1, -1, -1}, "more ports than there are")
	q := computing(1, 72, 72)
	if _, err := Build("nvls", ReduceScatter, q, Options{Channels: 1}); err == nil {
		t.Error("a reduce_scatter of 72 ranks was built")
	}
}

// TestMasks: Next and Has enumerate what a mask picks, All whatever there is.
func TestMasks(t *testing.T) {
	first := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	for _, tc := range []struct {
		m    Mask
		n    int
		want []int
	}{
		{0, 5, nil}, {Bit(0) | Bit(2) | Bit(63), 64, []int{0, 2, 63}}, {Bit(0) | Bit(63), 72, []int{0, 63}},
		{FirstPeers(3), 3, first(3)}, {FirstPeers(63), 72, first(63)}, {FirstPeers(64), 64, first(64)}, {All, 576, first(576)},
	} {
		var next, has []int
		for i := tc.m.Next(0); i < tc.n; i = tc.m.Next(i + 1) {
			next = append(next, i)
		}
		for i := range tc.n {
			if tc.m.Has(i) {
				has = append(has, i)
			}
		}
		if !slices.Equal(next, tc.want) || !slices.Equal(has, tc.want) {
			t.Errorf("%x of %d: Next says %v, Has %v, want %v", uint64(tc.m), tc.n, next, has, tc.want)
		}
	}
}
