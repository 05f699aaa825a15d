package collective

import (
	"slices"
	"testing"
)

// figures are what the texts of an algorithm say of an operation on one shape,
// worked out by hand: steps, and bytes on the wire for buffers of S bytes.
type figures struct {
	nodes, gpus, steps int
	wire               int64
}

// S is the larger buffer of a rank in bytes; every number of ranks below divides
// it.
const S int64 = 5040

// on is one figure for each of the three shapes that most algorithms do: n = 8 on
// one node, n = 4 on four, n = 12 on three.
func on(a, b, c int, x, y, z int64) []figures {
	return []figures{{1, 8, a, x}, {4, 1, b, y}, {3, 4, c, z}}
}

type text struct {
	name, steps, wire string
	ops               map[Op][]figures
}

// texts has, for each algorithm, the texts that a listing prints, and what they
// come to.
var texts = []text{
	{"ring", "all_reduce, barrier 2n − 1; all_gather, reduce_scatter n; broadcast, reduce 1, in a chain of n − 1",
		"all_reduce, barrier 2(n − 1) S; others (n − 1) S", map[Op][]figures{
			AllReduce: on(15, 7, 23, 14*S, 6*S, 22*S), Barrier: on(15, 7, 23, 14*S, 6*S, 22*S),
			AllGather: on(8, 4, 12, 7*S, 3*S, 11*S), ReduceScatter: on(8, 4, 12, 7*S, 3*S, 11*S),
			Broadcast: on(1, 1, 1, 7*S, 3*S, 11*S), Reduce: on(1, 1, 1, 7*S, 3*S, 11*S)}},
	{"tree", "1 up and 1 down at once, in chains of about g − 1 + log2 N", "2(n − 1) S", map[Op][]figures{
		AllReduce: on(1, 1, 1, 14*S, 6*S, 22*S), Barrier: on(1, 1, 1, 14*S, 6*S, 22*S)}},
	{"nvls", "n, at most 32", "all_reduce (n+3) S, all_gather 2 S, reduce_scatter (n+1) S", map[Op][]figures{
		AllReduce:     {{1, 5, 5, 8 * S}, {1, 8, 8, 11 * S}, {1, 12, 12, 15 * S}, {1, 72, 32, 75 * S}},
		AllGather:     {{1, 5, 5, 2 * S}, {1, 8, 8, 2 * S}, {1, 12, 12, 2 * S}},
		ReduceScatter: {{1, 5, 5, 6 * S}, {1, 8, 8, 9 * S}, {1, 12, 12, 13 * S}}}},
	{"nvlstree", "1", "(n + 5N − 2) S", map[Op][]figures{
		AllReduce: {{2, 4, 1, 16 * S}, {6, 1, 1, 34 * S}, {3, 4, 1, 25 * S}}}},
	{"collnetdirect", "1", "(2n − N + 1) S", map[Op][]figures{
		AllReduce: {{2, 4, 1, 15 * S}, {4, 1, 1, 5 * S}, {3, 4, 1, 22 * S}}}},
	{"collnetchain", "1", "(2n − N + 1) S", map[Op][]figures{
		AllReduce: {{2, 4, 1, 15 * S}, {4, 1, 1, 5 * S}, {3, 4, 1, 22 * S}}}},
	{"recursive-doubling", "k + 1, k = ⌊log2 n⌋", "(k 2^k + 2(n − 2^k)) S", map[Op][]figures{
		AllReduce: on(4, 3, 4, 24*S, 8*S, 32*S), Barrier: on(4, 3, 4, 24*S, 8*S, 32*S)}},
	{"halving-doubling", "4k − 1, k = ⌊log2 n⌋; 4k where n is no power of 2", "2(n − 1) S", map[Op][]figures{
		AllReduce: on(11, 7, 12, 14*S, 6*S, 22*S)}},
	{"bruck", "2⌈log2 n⌉", "(n − 1) S", map[Op][]figures{
		AllGather: on(6, 4, 8, 7*S, 3*S, 11*S), ReduceScatter: on(6, 4, 8, 7*S, 3*S, 11*S)}},
	{"pat", "2⌈log2 n⌉", "(n − 1) S", map[Op][]figures{
		AllGather: on(6, 4, 8, 7*S, 3*S, 11*S), ReduceScatter: on(6, 4, 8, 7*S, 3*S, 11*S)}},
	{"binomial", "⌈log2 n⌉", "broadcast, reduce (n − 1) S; gather, scatter S/n Σ ones(v), v < n", map[Op][]figures{
		Broadcast: on(3, 2, 4, 7*S, 3*S, 11*S), Reduce: on(3, 2, 4, 7*S, 3*S, 11*S),
		Gather: on(3, 2, 4, S/8*12, S/4*4, S/12*20), Scatter: on(3, 2, 4, S/8*12, S/4*4, S/12*20)}},
	{"direct", "all_reduce 2n − 1, reduce_scatter n, sendrecv 1, scatter max(N − 1, g − 1), others max(n − g, g − 1); at most 64 peers a block",
		"all_reduce 2(n − 1) S, gather and scatter (n − 1) S/n, sendrecv n S, others (n − 1) S", map[Op][]figures{
			AllReduce: on(15, 7, 23, 14*S, 6*S, 22*S), ReduceScatter: on(8, 4, 12, 7*S, 3*S, 11*S),
			AllGather: on(7, 3, 8, 7*S, 3*S, 11*S),
			AllToAll:  append(on(7, 3, 8, 7*S, 3*S, 11*S), figures{1, 80, 64, 79 * S}),
			AllToAllV: on(7, 3, 8, 7*S, 3*S, 11*S), SendRecv: on(1, 1, 1, 8*S, 4*S, 12*S),
			Gather: on(7, 3, 8, S/8*7, S/4*3, S/12*11), Scatter: on(7, 3, 3, S/8*7, S/4*3, S/12*11)}},
	{"pairwise", "2(n − 1), at most 64 peers a block", "(n − 1) S", map[Op][]figures{
		AllToAll:  append(on(14, 6, 22, 7*S, 3*S, 11*S), figures{1, 80, 128, 79 * S}),
		AllToAllV: on(14, 6, 22, 7*S, 3*S, 11*S)}},
	{"hierarchical", "all_reduce 2N (2N − 1 if g = 1, 2 if N = 1), alltoall N (N − 1 if g = 1)",
		"all_reduce 2(n − 1) S, alltoall (N(g − 1) + g(N − 1)) S", map[Op][]figures{
			AllReduce: on(2, 7, 6, 14*S, 6*S, 22*S), AllToAll: on(1, 3, 3, 7*S, 3*S, 17*S)}},
}

// TestTextsAreTheFormulas: the texts say what Steps and Wire compute, which other
// tests hold against plans. A text that changes, an algorithm or an operation that
// comes, needs its figures here.
func TestTextsAreTheFormulas(t *testing.T) {
	for _, a := range Algorithms() {
		i := slices.IndexFunc(texts, func(x text) bool { return x.name == a.Name })
		if i < 0 {
			t.Errorf("%s has no figures", a.Name)
			continue
		}
		x := texts[i]
		if x.steps != a.StepsText || x.wire != a.WireText {
			t.Errorf("%s: steps %q, bytes %q; figures are there for %q and %q", a.Name, a.StepsText, a.WireText, x.steps, x.wire)
		}
		for _, op := range a.Ops {
			if len(x.ops[op]) < 3 {
				t.Errorf("%s %s has %d figures, want 3", a.Name, op, len(x.ops[op]))
			}
			for _, f := range x.ops[op] {
				s := Uniform(f.nodes, f.gpus)
				if steps, wire := a.Steps(op, s), a.Wire(op, s, S); steps != f.steps || wire != f.wire {
					t.Errorf("%s %s on %d nodes of %d: %d steps and %d bytes; the texts say %d and %d", a.Name, op, f.nodes, f.gpus, steps, wire, f.steps, f.wire)
				}
			}
		}
	}
}
