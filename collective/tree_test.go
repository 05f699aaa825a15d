package collective

import (
	"fmt"
	"math/bits"
	"slices"
	"testing"
)

func TestTreeIsProven(t *testing.T) {
	for _, s := range spread() {
		for _, o := range []Options{{Channels: 5}, {Channels: 4, Protocol: LL}} {
			p := mustBuild(t, "tree", AllReduce, s, o)
			if err := Check(p); err != nil {
				t.Fatalf("%v with %+v: %v", s, o, err)
			}
			if err := CheckInPlace(p); err != nil {
				t.Fatalf("%v with %+v, in place: %v", s, o, err)
			}
		}
	}
}

// All ranks together send 2(n−1) times the buffer, each once up and once down
// every edge; a rank has two steps a channel.
func TestTreeBytes(t *testing.T) {
	for _, s := range []Shape{Uniform(1, 1), Uniform(1, 2), Uniform(2, 3), Uniform(5, 8), Uniform(13, 1), unequal()} {
		for _, count := range someCounts {
			p := mustBuild(t, "tree", AllReduce, s, Options{Channels: 3})
			g := p.Size(count, 4)
			var total int64
			for r := range p.Ranks {
				got, want := sent(p, g, r), int64(0)
				for c := range p.Channels {
					want += kinOf(p, r, c) * onChannel(g, c)
				}
				if got != want {
					t.Errorf("%d elements on %d ranks: rank %d sends %d, want %d", count, p.Ranks, r, got, want)
				}
				total += got
			}
			if want := 2 * int64(p.Ranks-1) * count; total != want {
				t.Errorf("%d elements on %d ranks: all send %d, want %d", count, p.Ranks, total, want)
			}
		}
	}
}

// kinOf counts the ranks that a rank gets anything from on a channel.
func kinOf(p *Plan, rank, channel int) int64 {
	n := 0
	for _, b := range p.Rank(rank) {
		if b.Channel == channel {
			n += len(b.RecvFrom)
		}
	}
	return int64(n)
}

// onChannel returns how many elements chunk c of all loops has.
func onChannel(g Geometry, c int) int64 {
	var sum int64
	for l := range g.Loops {
		_, n := g.Chunk(c, l)
		sum += n
	}
	return sum
}

func TestTreeSteps(t *testing.T) {
	p := mustBuild(t, "tree", AllReduce, Uniform(5, 4), Options{Channels: 3})
	for r := range p.Ranks {
		blocks := p.Rank(r)
		if len(blocks) != p.Blocks || p.Blocks != 2*p.Channels {
			t.Errorf("rank %d has %d blocks, the plan says %d", r, len(blocks), p.Blocks)
		}
		for i, b := range blocks {
			if len(b.Steps) != 1 {
				t.Errorf("rank %d block %d has %d steps, the header says 1", r, i, len(b.Steps))
			}
			if len(b.RecvFrom) > 3 || len(b.SendTo) > 3 {
				t.Errorf("rank %d block %d has %d and %d peers, more than parent and 3 children", r, i, len(b.RecvFrom), len(b.SendTo))
			}
		}
	}
}

// The chain from the root to the farthest rank: the tree, then a node.
func TestTreeDepth(t *testing.T) {
	for nodes := 1; nodes <= 40; nodes++ {
		for _, gpus := range []int{1, 4} {
			for _, channels := range []int{1, 2} {
				p := mustBuild(t, "tree", AllReduce, Uniform(nodes, gpus), Options{Channels: channels})
				if want := gpus - 1 + bits.Len(uint(nodes-1)); p.Depth != want {
					t.Errorf("%d nodes of %d on %d channels: depth %d, want %d", nodes, gpus, channels, p.Depth, want)
				}
			}
		}
	}
	if p := mustBuild(t, "tree", AllReduce, unequal(), Options{Channels: 1}); p.Depth != 4 {
		t.Errorf("unequal nodes: depth %d, want 4: root, its child, and three more in the chain", p.Depth)
	}
}

// The drawings in NCCL's src/graph/trees.cc, as parents of each node.
func TestNodeTreesAreNCCLs(t *testing.T) {
	for _, c := range []struct {
		nodes, tree int
		want        []int
	}{
		{14, 0, []int{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8, 12}},
		{12, 0, []int{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 8, 10}},
		{12, 1, []int{1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, -1}},
		{13, 0, []int{-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 12, 10, 8}},
		{13, 1, []int{9, -1, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11}},
	} {
		got := newForest(Uniform(c.nodes, 1), 2).trees[c.tree].parent
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("tree %d of %d nodes: parents %v, want %v", c.tree+1, c.nodes, got, c.want)
		}
	}
}

// What makes two trees better than one: a leaf of one is an inner node of the
// other, so that every NIC both sends and receives.
func TestLeavesAreInnerInTheOtherTree(t *testing.T) {
	for nodes := 2; nodes <= 100; nodes++ {
		f := newForest(Uniform(nodes, 1), 2)
		for v := range nodes {
			if f.trees[0].children[v] == nil && f.trees[1].children[v] == nil {
				t.Errorf("%d nodes: node %d is a leaf in both trees", nodes, v)
			}
			for i, tree := range f.trees {
				if len(tree.children[v]) > 2 {
					t.Errorf("%d nodes: node %d has %d children in tree %d", nodes, v, len(tree.children[v]), i+1)
				}
			}
		}
	}
}

// Between nodes only heads talk: each channel stays on its rail.
func TestTreeKeepsToItsRail(t *testing.T) {
	for _, s := range []Shape{Uniform(4, 8), Uniform(3, 5), unequal()} {
		f := newForest(s, 11)
		p := mustBuild(t, "tree", AllReduce, s, Options{Channels: 11})
		for r := range p.Ranks {
			for i, b := range p.Rank(r) {
				for _, peer := range slices.Concat(b.SendTo, b.RecvFrom) {
					v, w := f.node[r], f.node[peer]
					if v != w && (r != s.Nodes[v].Head(b.Channel) || peer != s.Nodes[w].Head(b.Channel)) {
						t.Errorf("rank %d block %d, channel %d: talks to rank %d of another node, and they are not both heads", r, i, b.Channel, peer)
					}
				}
			}
		}
	}
}
