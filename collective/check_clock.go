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
	order []int32
	reach reach
	at    []int32 // position in order of each step
	lanes []int32 // lane of each block that is watched, or −1
	width int
	from  int // position of row 0
	rows  []int32
}

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

// clockCells bounds the memory of a clock: 64 MiB of it.
const clockCells = 16 << 20

// refuse returns the claims that the clock cannot confirm, looking at the given
// steps only. It watches as many blocks at a time as memory allows.
func (c *clock) refuse(order []int32, claims []claim, r reach) []claim {
	if len(claims) == 0 {
		return nil
	}
	c.order, c.reach = order, r
	for i, id := range order {
		c.at[id] = int32(i)
	}
	pending := slices.Clone(claims)
	slices.SortStableFunc(pending, func(x, y claim) int { return x.a.block - y.a.block })
	width := min(64, max(1, clockCells/len(order)))
	var refused []claim
	for len(pending) > 0 {
		n := c.watch(pending, width)
		c.run(pending[:n])
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

// watch gives a lane to each of the first width blocks in claims, and returns
// how many claims these are.
func (c *clock) watch(claims []claim, width int) int {
	c.width = 0
	for n, q := range claims {
		if c.lanes[q.a.block] >= 0 {
			continue
		}
		if c.width == width {
			return n
		}
		c.lanes[q.a.block] = int32(c.width)
		c.width++
	}
	return len(claims)
}

// run computes the rows from the first claimed access to the last.
func (c *clock) run(claims []claim) {
	from, to := len(c.order), 0
	for _, q := range claims {
		from, to = min(from, int(c.at[q.a.id])), max(to, int(c.at[q.b.id]))
	}
	c.from, c.rows = from, make([]int32, (to+1-from)*c.width)
	for _, id := range c.order[from : to+1] {
		c.step(id)
	}
}

// row returns the row of a step, nil if it is before the first.
func (c *clock) row(id int32) []int32 {
	i := int(c.at[id]) - c.from
	if i < 0 {
		return nil
	}
	return c.rows[i*c.width:][:c.width]
}

func (c *clock) step(id int32) {
	row := c.row(id)
	b, i := c.proof.at(id)
	if i > 0 {
		mergeWhole(row, c.row(id-1))
	}
	for _, d := range b.Steps[i].Deps {
		mergeWhole(row, c.row(c.sibling(b, d.Block).base+int32(d.Step)))
	}
	if c.reach == everywhere {
		for _, s := range c.senders(id) {
			merge(row, c.row(s))
		}
	}
	if lane := c.lanes[c.blockOf[id]]; lane >= 0 {
		row[lane] = c.sliced(id)
	}
}

// sliced is how a row says that a step comes before it, sliced.
func (c *clock) sliced(id int32) int32 {
	_, i := c.proof.at(id)
	return 2 * int32(i+1)
}

// merge makes row know what an earlier step knows.
func merge(row, earlier []int32) {
	for i, t := range earlier {
		row[i] = max(row[i], t)
	}
}

// mergeWhole is merge where the earlier step is finished before this one begins.
func mergeWhole(row, earlier []int32) {
	for i, t := range earlier {
		row[i] = max(row[i], t|1)
	}
}

// confirms reports whether a claimed order is certain.
func (c *clock) confirms(q claim) bool {
	known := c.row(q.b.id)[c.lanes[q.a.block]]
	enough := c.sliced(q.a.id)
	alike := q.a.first == q.b.first && q.a.size == q.b.size
	if c.plan.ChunkSteps > c.plan.SliceSteps && !alike {
		enough |= 1
	}
	return known >= enough
}
