package collective

import (
	"slices"
	"strings"
	"testing"
)

// oneNode is every number of ranks from 1 to 64, on one node.
func oneNode() []Shape {
	var list []Shape
	for n := 1; n <= 64; n++ {
		list = append(list, Uniform(1, n))
	}
	return list
}

// spread is a sample of clusters of 2 to 8 nodes of 1 to 16 ranks, and one of
// nodes that differ.
func spread() []Shape {
	list := []Shape{unequal(), Uniform(3, 16), Uniform(8, 16)}
	for nodes := 2; nodes <= 8; nodes++ {
		for _, gpus := range []int{1, 2, 3, 7, 8} {
			if nodes*gpus <= 32 {
				list = append(list, Uniform(nodes, gpus))
			}
		}
	}
	return list
}

// unequal is three nodes of 3, 1 and 4 ranks on 2, 0 and 3 rails, ranks not in
// node order.
func unequal() Shape {
	return Shape{Nodes: []Group{
		{Ranks: []int{4, 0, 6}, Heads: []int{6, 4}},
		{Ranks: []int{3}},
		{Ranks: []int{1, 7, 2, 5}, Heads: []int{2, 2, 1}},
	}}
}

func mustBuild(t testing.TB, algorithm string, op Op, s Shape, o Options) *Plan {
	t.Helper()
	p, err := Build(algorithm, op, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sent returns how many elements a rank sends in a whole run.
func sent(p *Plan, g Geometry, rank int) int64 {
	var sum int64
	for _, b := range p.Rank(rank) {
		for i := range b.Steps {
			s := &b.Steps[i]
			if !s.Kind.Sends() {
				continue
			}
			first := Step{Src: s.Dst}
			if s.Kind.ReadsSrc() {
				first.Src = s.Src
			}
			for loop := range g.Loops {
				sum += g.Message(b.chunk(first.Src), s.Chunks(), loop) * int64(s.Send.Count())
			}
		}
	}
	return sum
}

// counts of elements a part: none, few, primes, a round number, and enough for
// several loops of all but the largest plans.
var someCounts = []int64{0, 1, 7, 97, 4096, 7_000_003}

// That one to three channels are proven is the registry's test.
func TestRingIsProvenOnManyChannels(t *testing.T) {
	for _, op := range ring.Ops {
		for _, s := range []Shape{Uniform(1, 1), Uniform(1, 2), Uniform(1, 8), Uniform(2, 4), unequal()} {
			for channels := 4; channels <= 9; channels++ {
				proven(t, op, s, channels)
			}
		}
	}
}

// proven checks a ring as it is and in place.
func proven(t *testing.T, op Op, s Shape, channels int) {
	t.Helper()
	p := mustBuild(t, "ring", op, s, Options{Channels: channels})
	if err := Check(p); err != nil {
		t.Fatalf("%v of %v on %d channels: %v", op, s, channels, err)
	}
	if err := CheckInPlace(p); err != nil {
		t.Fatalf("%v of %v on %d channels, in place: %v", op, s, channels, err)
	}
}

func TestRingIsProvenWithEveryOption(t *testing.T) {
	for _, o := range []Options{
		{Channels: 2, Slices: 1}, {Channels: 2, Slices: 2}, {Channels: 2, Slices: 4}, {Channels: 2, Protocol: LL},
	} {
		for _, op := range []Op{AllReduce, AllGather, ReduceScatter} {
			if err := Check(mustBuild(t, "ring", op, unequal(), o)); err != nil {
				t.Errorf("%v with %+v: %v", op, o, err)
			}
		}
	}
}

func TestRingBytes(t *testing.T) {
	for _, s := range []Shape{Uniform(1, 1), Uniform(1, 2), Uniform(2, 3), Uniform(2, 8), Uniform(1, 13), unequal()} {
		for _, count := range someCounts {
			for _, op := range []Op{AllReduce, AllGather, ReduceScatter} {
				ringBytes(t, op, s, count)
			}
		}
	}
}

// ringBytes compares what ranks send with the header: exactly for all together
// and for a count that divides, else within one element for each message cut
// short or long.
func ringBytes(t *testing.T, op Op, s Shape, count int64) {
	const channels = 3
	p := mustBuild(t, "ring", op, s, Options{Channels: channels})
	g := p.Size(count, 4)
	n := int64(p.Ranks)
	factor, larger := int64(1), n*count // of the larger buffer, (n−1)/n
	if op == AllReduce {
		factor, larger = 2, count
	}
	var total int64
	for r := range p.Ranks {
		got := sent(p, g, r)
		total += got
		off := got*n - factor*(n-1)*larger
		if slack := 2 * n * channels * int64(g.Loops); off < -slack || off > slack {
			t.Errorf("%v of %d elements, rank %d of %d: sends %d, not %d(n-1)/n of %d", op, count, r, n, got, factor, larger)
		}
		if count%int64(p.Chunks*g.Loops) == 0 && off != 0 {
			t.Errorf("%v of %d elements, rank %d of %d: sends %d, not just %d(n-1)/n of %d", op, count, r, n, got, factor, larger)
		}
	}
	if want := factor * (n - 1) * larger; total != want {
		t.Errorf("%v of %d elements on %d ranks: all send %d, want %d", op, count, n, total, want)
	}
}

// Each channel is one closed circle, which enters every node once, at the head
// of the channel's rail.
func TestRingKeepsToItsRail(t *testing.T) {
	for _, s := range []Shape{Uniform(1, 8), Uniform(4, 8), Uniform(3, 5), unequal()} {
		node := map[int]int{}
		for v, g := range s.Nodes {
			for _, r := range g.Ranks {
				node[r] = v
			}
		}
		p := mustBuild(t, "ring", AllReduce, s, Options{Channels: 11})
		for c := range p.Channels {
			var path []int
			for r, first := 0, true; first || r != 0; first = false {
				path = append(path, r)
				next := p.Rank(r)[c].SendTo[0]
				if from := p.Rank(next)[c].RecvFrom[0]; from != r {
					t.Fatalf("channel %d: rank %d sends to %d, which receives from %d", c, r, next, from)
				}
				if entry := s.Nodes[node[next]].Head(c); node[next] != node[r] && next != entry {
					t.Errorf("channel %d enters node %d at rank %d; its head is %d", c, node[next], next, entry)
				}
				r = next
			}
			slices.Sort(path)
			if path = slices.Compact(path); len(path) != p.Ranks {
				t.Errorf("channel %d: the circle visits %d of %d ranks", c, len(path), p.Ranks)
			}
		}
	}
}

// Rank is called often, for peers too: it must not make steps each time.
func TestRingSharesSteps(t *testing.T) {
	p := mustBuild(t, "ring", AllReduce, Uniform(128, 8), Options{Channels: 16})
	if a, b := p.Rank(0)[0].Steps, p.Rank(1000)[15].Steps; &a[0] != &b[0] {
		t.Error("steps of two ranks are not the same list")
	}
	if n := testing.AllocsPerRun(10, func() { p.Rank(77) }); n > 1 {
		t.Errorf("Rank allocates %v times; one list of blocks is enough", n)
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Shape
		o    Options
		want string
	}{
		{"no nodes", Shape{}, Options{Channels: 1}, "no nodes"},
		{"empty node", Shape{Nodes: []Group{{}}}, Options{Channels: 1}, "node 0 has no ranks"},
		{"gap", Shape{Nodes: []Group{{Ranks: []int{0, 2}}}}, Options{Channels: 1}, "rank 2 is out of range"},
		{"twice", Shape{Nodes: []Group{{Ranks: []int{0}}, {Ranks: []int{0}}}}, Options{Channels: 1}, "there twice"},
		{"foreign head", Shape{Nodes: []Group{{Ranks: []int{0}, Heads: []int{1}}, {Ranks: []int{1}}}}, Options{Channels: 1}, "head 1 of rail 0"},
		{"slices", Uniform(1, 2), Options{Channels: 1, Slices: -1}, "slices -1"},
		{"protocol", Uniform(1, 2), Options{Channels: 1, Protocol: 7}, "protocol 7: unknown; allowed are simple, ll, ll128"},
	} {
		for _, a := range Algorithms() {
			if _, err := a.Build(AllReduce, c.s, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %s: error %v, want one with %q", a.Name, c.name, err, c.want)
			}
		}
	}
}
