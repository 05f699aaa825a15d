package collective

import "slices"

// clock tells which steps come before which, whatever the timing. It is a
// vector clock: each step knows, of some blocks, the latest step that precedes
// it. Two steps may be ordered in two ways:
//
//	whole   the first is finished before the second begins;
//	sliced  slice i of the first is done before slice i of the second.
//
// A message orders its two steps sliced, as slices stream through; the next
// step of a block, and a dependency, wait for the whole. So does a path with
// at least one of these. A sliced order is good enough for two uses of the
// very same chunks, which are sliced alike.
//
// Step k of a block is written as 2(k+1) for sliced and 2(k+1)+1 for whole,
// and 0 means no step: a greater number then always says more, since whole at
// k implies both at k−1, and the two ways of one step differ in the last bit.
type clock struct {
	*proof
	reach reach
	order []int32
	at    []int32 // position in order of each step
	lanes []int32 // lane of each block that is watched, or −1
	// before[first[i]:first[i+1]] are the steps just before the i-th in order,
	// as positions: 2p for sliced, 2p+1 for whole.
	first  []int32
	before []int32
	from   int // position of row 0
	rows   []row
	// work counts rows computed; unseen claims that would have cost too many.
	work, unseen int
}

// maxWork bounds the rows computed for a plan: some 20 s. Without a bound a
// file made to that end would take days.
const maxWork = 1 << 30

// row is what a step knows of the blocks watched: one cache line. The steps of
// a large plan fill more than a cache many times over, and a wider row would
// be fetched in pieces.
type row [16]int32

// reach is how far a clock looks: at what orders steps inside a rank, or at
// messages too.
type reach bool

const (
	inRank     reach = false
	everywhere reach = true
)

func newClock(f *proof) *clock {
	c := &clock{proof: f, at: make([]int32, len(f.blockOf)), lanes: make([]int32, len(f.blocks))}
	for i := range c.lanes {
		c.lanes[i] = -1
	}
	return c
}

// refuse returns the claims that the clock cannot confirm, looking at the given
// steps only. It watches as many blocks at a time as a row has room for.
func (c *clock) refuse(order []int32, claims []claim, r reach) []claim {
	if len(claims) == 0 {
		return nil
	}
	c.look(order, r)
	pending := slices.Clone(claims)
	slices.SortStableFunc(pending, func(x, y claim) int { return x.a.block - y.a.block })
	var refused []claim
	for len(pending) > 0 {
		n := c.watch(pending)
		if c.run(pending[:n]); c.work > maxWork {
			c.unseen += len(pending)
			break
		}
		for _, q := range pending[:n] {
			if !c.confirms(q) {
				refused = append(refused, q)
			}
		}
		for _, q := range pending[:n] {
			c.lanes[q.a.block] = -1
		}
		pending = pending[n:]
	}
	slices.SortStableFunc(refused, func(x, y claim) int { return int(c.at[x.b.id] - c.at[y.b.id]) })
	return refused
}

// look takes the steps to look at, and how far.
func (c *clock) look(order []int32, r reach) {
	c.order, c.reach = order, r
	for i, id := range order {
		c.at[id] = int32(i)
	}
	c.link()
}

// link lists what comes just before each step.
func (c *clock) link() {
	c.first, c.before = append(c.first[:0], 0), c.before[:0]
	for _, id := range c.order {
		b, i := c.proof.at(id)
		if i > 0 {
			c.before = append(c.before, 2*c.at[id-1]+1)
		}
		for _, d := range b.Steps[i].Deps {
			c.before = append(c.before, 2*c.at[c.sibling(b, d.Block).base+int32(d.Step)]+1)
		}
		if c.reach == everywhere {
			for _, s := range c.senders(id) {
				c.before = append(c.before, 2*c.at[s])
			}
		}
		c.first = append(c.first, int32(len(c.before)))
	}
}

// watch gives a lane to each of the first blocks in claims, and returns how many
// claims these are.
func (c *clock) watch(claims []claim) int {
	width := 0
	for n, q := range claims {
		if c.lanes[q.a.block] >= 0 {
			continue
		}
		if width == len(row{}) {
			return n
		}
		c.lanes[q.a.block] = int32(width)
		width++
	}
	return len(claims)
}

// run computes the rows from the first claimed access to the last.
func (c *clock) run(claims []claim) {
	from, to := len(c.order), 0
	for _, q := range claims {
		from, to = min(from, int(c.at[q.a.id])), max(to, int(c.at[q.b.id]))
	}
	c.from = from
	if len(c.rows) < to+1-from {
		c.rows = make([]row, len(c.order)) // once: what is left of the last pass is overwritten
	}
	if c.work += to + 1 - from; c.work > maxWork {
		return
	}
	for i := from; i <= to; i++ {
		c.step(i)
	}
}

// step computes the row of the i-th step in order.
func (c *clock) step(i int) {
	known := row{}
	for _, e := range c.before[c.first[i]:c.first[i+1]] {
		if at := int(e>>1) - c.from; at >= 0 {
			known.merge(&c.rows[at], e&1)
		}
	}
	id := c.order[i]
	if lane := c.lanes[c.blockOf[id]]; lane >= 0 {
		known[lane] = c.sliced(id)
	}
	c.rows[i-c.from] = known
}

// sliced is how a row says that a step comes before it, sliced.
func (c *clock) sliced(id int32) int32 {
	_, i := c.proof.at(id)
	return 2 * int32(i+1)
}

// merge makes a row know what an earlier step knows; whole is 1 where that one
// is finished before this one begins, else 0. What it knows nothing of becomes
// 1 then, which says no more than 0 does.
func (r *row) merge(earlier *row, whole int32) {
	for i, t := range earlier {
		r[i] = max(r[i], t|whole)
	}
}

// confirms reports whether a claimed order is certain.
func (c *clock) confirms(q claim) bool {
	known := c.rows[int(c.at[q.b.id])-c.from][c.lanes[q.a.block]]
	enough := c.sliced(q.a.id)
	alike := q.a.first == q.b.first && q.a.size == q.b.size
	if c.plan.ChunkSteps > c.plan.SliceSteps && !alike {
		enough |= 1
	}
	return known >= enough
}
