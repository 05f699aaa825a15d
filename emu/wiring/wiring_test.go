package wiring_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/wiring"
)

// end is a block of a small plan, by whom it is connected to.
type end struct {
	channel  int
	to, from []int
}

// plan has the given blocks on each rank.
func plan(ranks ...[]end) *collective.Plan {
	p := collective.Plan{Algorithm: "by hand", Ranks: len(ranks)}
	for _, r := range ranks {
		p.Blocks = max(p.Blocks, len(r))
	}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		var blocks []collective.Block
		for _, e := range ranks[rank] {
			blocks = append(blocks, collective.Block{Channel: e.channel, SendTo: e.to, RecvFrom: e.from})
		}
		return blocks
	})
}

func all(int) bool { return true }

// TestLayByHand wires two ranks that send to one another on two channels, and
// checks every number of it.
func TestLayByHand(t *testing.T) {
	p := plan(
		[]end{{channel: 0, to: []int{1}, from: []int{1}}, {channel: 1, to: []int{1}, from: []int{1}}},
		[]end{{channel: 1, to: []int{0}, from: []int{0}}, {channel: 0, to: []int{0}, from: []int{0}}},
	)
	w, err := wiring.Lay(p, 100, all)
	if err != nil {
		t.Fatal(err)
	}
	// Blocks are 100 to 103, connection k of a block has the id 8 × block + k.
	wantBlocks := []string{
		"100: rank 0 block 0, sends [0], receives [3]",
		"101: rank 0 block 1, sends [1], receives [2]",
		"102: rank 1 block 0, sends [2], receives [1]",
		"103: rank 1 block 1, sends [3], receives [0]",
	}
	wantConns := []string{
		"6400: channel 0, rank 0 block 0 to rank 1 block 3",
		"6464: channel 1, rank 0 block 1 to rank 1 block 2",
		"6528: channel 1, rank 1 block 2 to rank 0 block 1",
		"6592: channel 0, rank 1 block 3 to rank 0 block 0",
	}
	var blocks, conns []string
	for _, b := range w.Blocks {
		blocks = append(blocks, fmt.Sprintf("%d: rank %d block %d, sends %v, receives %v", b.ID, b.Rank, b.Index, b.Sends, b.Recvs))
	}
	for _, c := range w.Conns {
		conns = append(conns, fmt.Sprintf("%d: channel %d, rank %d block %d to rank %d block %d", c.ID, c.Channel, c.From, c.Sender, c.To, c.Receiver))
		if at, ok := w.Conn(c.ID); !ok || w.Conns[at].ID != c.ID || c.ID != w.Blocks[c.Sender].ID.Conn(0) {
			t.Errorf("connection %d is found at %d, %v, and belongs to block %d", c.ID, at, ok, w.Blocks[c.Sender].ID)
		}
	}
	if !slices.Equal(blocks, wantBlocks) || !slices.Equal(conns, wantConns) {
		t.Errorf("blocks %q\nconnections %q", blocks, conns)
	}
	if n := wiring.IDs(p); n != 4 {
		t.Errorf("takes %d ids, want 4", n)
	}
	if first, ok := w.RankBlocks(1); first != 2 || !ok {
		t.Errorf("rank 1 begins at block %d, %v", first, ok)
	}
	if _, ok := w.Conn(6401); ok {
		t.Error("found a connection that there is not")
	}
}

// TestSwitchesOfManyPorts: where a switch has more peers than a block's id has
// numbers for, every block takes several ids, here or elsewhere, and each
// connection is found by its own.
func TestSwitchesOfManyPorts(t *testing.T) {
	s := collective.Uniform(1, 72)
	p, err := collective.Build("nvls", collective.AllReduce, s, collective.Options{Channels: 2})
	if err != nil {
		t.Fatal(err)
	}
	if n := wiring.IDs(p); n != 72*2*5*2 {
		t.Errorf("takes %d ids, want 2 for each of 720 blocks", n)
	}
	ends := map[wiring.ConnID]int{}
	for part := range 18 {
		w, err := wiring.Lay(p, 1000, func(rank int) bool { return rank/4 == part })
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.Conns {
			c := &w.Conns[i]
			if at, ok := w.Conn(c.ID); !ok || at != i {
				t.Fatalf("connection %d, from %d to %d, is found at %d, %v; it is at %d", c.ID, c.From, c.To, at, ok, i)
			}
			for _, end := range []int{c.Sender, c.Receiver} {
				if end != wiring.None {
					ends[c.ID]++
				}
			}
		}
	}
	// A channel: 72 × 32 to heads' sums, 32 to heads, 32 back, 32 × 72 from there.
	if len(ends) != 2*(2*72*32+2*32) {
		t.Errorf("%d connections", len(ends))
	}
	for id, n := range ends {
		if n != 2 {
			t.Errorf("connection %d has %d ends", id, n)
		}
	}
}

// TestRanksHaveRoomForTheLargest: a block's id does not depend on how many blocks
// other ranks have, which a process would have to ask for.
func TestRanksHaveRoomForTheLargest(t *testing.T) {
	w, err := wiring.Lay(plan([]end{{}}, []end{{}, {}, {}}, []end{{}, {}}), 10, all)
	if err != nil {
		t.Fatal(err)
	}
	var ids []wiring.BlockID
	for _, b := range w.Blocks {
		ids = append(ids, b.ID)
	}
	if !slices.Equal(ids, []wiring.BlockID{10, 13, 14, 15, 16, 17}) || wiring.IDs(w.Plan) != 9 {
		t.Errorf("ids %v of %d", ids, wiring.IDs(w.Plan))
	}
}

// TestHalfOfIt wires one rank of two: connections keep their ids, and the ends
// that are elsewhere are None.
func TestHalfOfIt(t *testing.T) {
	p := plan([]end{{to: []int{1}}}, []end{{from: []int{0}}})
	for rank, want := range []wiring.Conn{
		{ID: 0, From: 0, To: 1, Sender: 0, Receiver: wiring.None},
		{ID: 0, From: 0, To: 1, Sender: wiring.None, Receiver: 0},
	} {
		w, err := wiring.Lay(p, 0, func(r int) bool { return r == rank })
		if err != nil || len(w.Conns) != 1 || w.Conns[0] != want {
			t.Errorf("rank %d alone: %+v, %v; want %+v", rank, w, err, want)
		}
		if _, hosted := w.RankBlocks(1 - rank); hosted {
			t.Errorf("rank %d alone: hosts the other", rank)
		}
	}
}

func TestLayReportsWhatDoesNotPair(t *testing.T) {
	many := make([]int, collective.MaxPeers+1)
	for i := range many {
		many[i] = i + 1
	}
	for _, tc := range []struct {
		name   string
		plan   *collective.Plan
		hosted []int
		want   string
	}{
		{"nobody receives", plan([]end{{channel: 3, to: []int{1}}}, []end{{channel: 2}}), []int{0, 1},
			"rank 0 sends to rank 1 on channel 3, which no block there receives"},
		{"nobody receives, and the receiver is elsewhere", plan([]end{{channel: 3, to: []int{1}}}, []end{{}}), []int{0},
			"rank 0 sends to rank 1 on channel 3, which no block there receives"},
		{"received on another channel", plan([]end{{channel: 0, to: []int{1}}}, []end{{channel: 1, from: []int{0}}}), []int{0, 1},
			"rank 1 block 0 receives from rank 0 on channel 1: 0 blocks send there; exactly one must"},
		{"received on another channel, elsewhere", plan([]end{{channel: 0, to: []int{1}}}, []end{{channel: 1, from: []int{0}}}), []int{0},
			"rank 0 sends to rank 1 on channel 0, which no block there receives"},
		{"nobody sends", plan([]end{{}}, []end{{}, {channel: 1, from: []int{0}}}), []int{1},
			"rank 1 block 1 receives from rank 0 on channel 1: 0 blocks send there; exactly one must"},
		{"two blocks send", plan([]end{{to: []int{1}}, {to: []int{1}}}, []end{{from: []int{0}}}), []int{0, 1},
			"rank 1 block 0 receives from rank 0 on channel 0: 2 blocks send there; exactly one must"},
		{"one block sends twice", plan([]end{{to: []int{1, 1}}}, []end{{from: []int{0}}}), []int{0, 1},
			"rank 1 block 0 receives from rank 0 on channel 0: 2 blocks send there; exactly one must"},
		{"two blocks receive", plan([]end{{to: []int{1}}}, []end{{from: []int{0}}, {from: []int{0}}}), []int{0, 1},
			"rank 1: two blocks receive from rank 0 on channel 0"},
		{"one block receives twice", plan([]end{{to: []int{1}}}, []end{{from: []int{0, 0}}}), []int{0, 1},
			"rank 1: two blocks receive from rank 0 on channel 0"},
		{"sends to a rank that there is not", plan([]end{{to: []int{2}}}, []end{{}}), []int{0, 1},
			"rank 0 sends to rank 2 on channel 0, which no block there receives"},
		{"sends to a rank below zero", plan([]end{{to: []int{-1}}}), []int{0},
			"rank 0 sends to rank -1 on channel 0, which no block there receives"},
		{"receives from a rank that there is not", plan([]end{{from: []int{7}}}, []end{{}}), []int{0, 1},
			"rank 0 block 0 receives from rank 7 on channel 0: no such rank; there are 2"},
		{"receives from a rank below zero", plan([]end{{from: []int{-1}}}), []int{0},
			"rank 0 block 0 receives from rank -1 on channel 0: no such rank; there are 1"},
		{"sends to too many", plan([]end{{to: many}}), []int{0},
			"rank 0 block 0: 65 send and 0 receive peers; at most 64 each"},
		{"receives from too many", plan([]end{{from: many}}), []int{0},
			"rank 0 block 0: 0 send and 65 receive peers; at most 64 each"},
	} {
		w, err := wiring.Lay(tc.plan, 0, func(r int) bool { return slices.Contains(tc.hosted, r) })
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: error %v,\nwant %s", tc.name, err, tc.want)
		}
		if w != nil {
			t.Errorf("%s: a wiring beside the error", tc.name)
		}
	}
}

// TestLayLooksAtItsOwnRanksOnly: what is wrong between ranks that others host is
// for them to say.
func TestLayLooksAtItsOwnRanksOnly(t *testing.T) {
	p := plan([]end{{}}, []end{{to: []int{2}}}, []end{{}})
	if _, err := wiring.Lay(p, 0, func(r int) bool { return r == 0 }); err != nil {
		t.Error(err)
	}
}

// TestIDsAreTheSameEverywhere wires random subsets of the ranks of random plans:
// a block or connection has the id that it has when all are wired, and the same
// ends, as far as they are hosted.
func TestIDsAreTheSameEverywhere(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		p, err := drawPlan(rng)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		base := wiring.BlockID(rng.IntN(1000))
		whole, err := wiring.Lay(p, base, all)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		hosted := make([]bool, p.Ranks)
		for i := range hosted {
			hosted[i] = rng.IntN(2) == 0
		}
		part, err := wiring.Lay(p, base, func(r int) bool { return hosted[r] })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		compare(t, seed, whole, part, hosted)
	}
}

func drawPlan(rng *rand.Rand) (*collective.Plan, error) {
	list := collective.Algorithms()
	for {
		a := list[rng.IntN(len(list))]
		op := a.Ops[rng.IntN(len(a.Ops))]
		s := collective.Uniform(1+rng.IntN(4), 1+rng.IntN(8))
		s.NVLS, s.SHARP = true, true
		if a.Check(collective.Use{Op: op}, s) == nil {
			return collective.Build(a.Name, op, s, collective.Options{Channels: 1 + rng.IntN(4)})
		}
	}
}

func compare(t *testing.T, seed uint64, whole, part *wiring.Wiring, hosted []bool) {
	t.Helper()
	// ends says which blocks a connection joins, by their global ids.
	ends := func(w *wiring.Wiring, c wiring.Conn) string {
		name := func(rank, at int) string {
			if !hosted[rank] {
				return "elsewhere"
			}
			return fmt.Sprint(w.Blocks[at].ID)
		}
		return fmt.Sprintf("%d: channel %d, rank %d block %s to rank %d block %s",
			c.ID, c.Channel, c.From, name(c.From, c.Sender), c.To, name(c.To, c.Receiver))
	}
	var want, got []string
	for _, c := range whole.Conns {
		if hosted[c.From] || hosted[c.To] {
			want = append(want, ends(whole, c))
		}
	}
	for _, c := range part.Conns {
		got = append(got, ends(part, c))
		if (c.Sender == wiring.None) == hosted[c.From] || (c.Receiver == wiring.None) == hosted[c.To] {
			t.Errorf("seed %d: connection %+v, of which the sender is hosted %v and the receiver %v", seed, c, hosted[c.From], hosted[c.To])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("seed %d, hosting %v: connections\n%s\nwant\n%s", seed, hosted, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var ids, wantIDs []wiring.BlockID
	for _, b := range part.Blocks {
		ids = append(ids, b.ID)
	}
	for _, b := range whole.Blocks {
		if hosted[b.Rank] {
			wantIDs = append(wantIDs, b.ID)
		}
	}
	if !slices.Equal(ids, wantIDs) {
		t.Errorf("seed %d, hosting %v: blocks %v, want %v", seed, hosted, ids, wantIDs)
	}
}

// TestIDsDoNotOverlap: runs of a batch are numbered one after the other, and no
// id of one is an id of the next.
func TestIDsDoNotOverlap(t *testing.T) {
	seen := map[wiring.ConnID]bool{}
	base := wiring.BlockID(0)
	for seed := range uint64(20) {
		p, err := drawPlan(rand.New(rand.NewPCG(seed, 2)))
		if err != nil {
			t.Fatal(err)
		}
		w, err := wiring.Lay(p, base, all)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range w.Conns {
			if seen[c.ID] {
				t.Fatalf("plan %d: connection %d has the id of another", seed, c.ID)
			}
			seen[c.ID] = true
		}
		base += wiring.IDs(p)
	}
}
