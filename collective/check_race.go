package collective

import "slices"

// access is a use of chunks by a step of a rank.
type access struct {
	block       int   // position in proof.blocks
	id          int32 // of the step
	first, size int   // cells
	write       bool
}

// claim is a pair of accesses to one cell, done in this order: that nothing
// else could happen is to be shown.
type claim struct {
	a, b access
	cell int
}

// races looks for two blocks of a rank that use a chunk, one to write it, with
// nothing that orders them. What orders is program order, dependencies and
// messages; room in a FIFO does not count, for it depends on the size.
//
// Each use is compared with the last write before it, and each write with the
// last read by each block: orders compose, so the rest follows. Most pairs are
// ordered inside their rank, which is cheap to see; those that are not go
// through messages, and are looked at together at the end. What would take too
// long to look at is counted as unseen.
func (f *proof) races(order []int32) (n int, first *CheckError, unseen int) {
	var open []claim
	clock := newClock(f)
	for r, ids := range f.byRank(order) {
		open = append(open, clock.refuse(ids, f.claims(r, ids), inRank)...)
	}
	open = clock.walk(order, open)
	if open = clock.refuse(order, open, everywhere); len(open) > 0 {
		first = f.race(open[0])
	}
	return len(open), first, clock.unseen
}

// byRank splits an order of steps into one for each rank.
func (f *proof) byRank(order []int32) [][]int32 {
	ids := make([][]int32, f.plan.Ranks)
	for _, id := range order {
		r := f.blocks[f.blockOf[id]].rank
		ids[r] = append(ids[r], id)
	}
	return ids
}

func (f *proof) race(c claim) *CheckError {
	verb := map[bool]string{false: "reads", true: "writes"}
	buffer, k := f.buffer(f.blocks[c.b.block].rank, c.cell)
	other := f.place(c.a.id)
	return problem(f.place(c.b.id), Race, "%s %s %d, which block %d step %d %s; neither a dependency nor a message orders them",
		verb[c.b.write], buffer, k, other.Block, other.Step, verb[c.a.write])
}

// claims returns the pairs of accesses of a rank whose order must be shown.
func (f *proof) claims(rank int, ids []int32) []claim {
	shared := f.sharedCells(rank, ids)
	if len(shared) == 0 {
		return nil
	}
	var claims []claim
	for _, id := range ids {
		list, n := f.accesses(id)
		for _, a := range list[:n] {
			for cell := a.first; cell < a.first+a.size; cell++ {
				if u := shared[cell]; u != nil {
					claims = u.use(a, cell, claims)
				}
			}
		}
	}
	return claims
}

// accesses returns the n things that a step reads or writes. To copy chunks onto
// themselves, as a plan may in place, is to do neither.
func (f *proof) accesses(id int32) (list [2]access, n int) {
	b, i := f.at(id)
	s := &b.Steps[i]
	if f.inPlace && s.Kind == Copy && f.cell(b, s.Src) == f.cell(b, s.Dst) {
		return list, 0
	}
	a := access{block: int(f.blockOf[id]), id: id, size: s.Chunks()}
	if s.Kind.ReadsSrc() {
		a.first = f.cell(b, s.Src)
		list[n] = a
		n++
	}
	if s.Kind.WritesDst() {
		a.first, a.write = f.cell(b, s.Dst), true
		list[n] = a
		n++
	}
	return list, n
}

// sharedCells returns the cells of a rank that several blocks use, at least
// one to write.
func (f *proof) sharedCells(rank int, ids []int32) map[int]*usage {
	const several = -1
	user, written := make([]int, f.cells()), make([]bool, f.cells())
	for _, id := range ids {
		list, n := f.accesses(id)
		for _, a := range list[:n] {
			for cell := a.first; cell < a.first+a.size; cell++ {
				if u := user[cell]; u == 0 {
					user[cell] = a.block + 1
				} else if u != a.block+1 {
					user[cell] = several
				}
				written[cell] = written[cell] || a.write
			}
		}
	}
	shared := map[int]*usage{}
	for cell, u := range user {
		if u == several && written[cell] {
			shared[cell] = &usage{}
		}
	}
	return shared
}

// usage is what has happened to a cell so far: the last write, and each
// block's last read since.
type usage struct {
	wrote []access // none or one
	reads []access
}

// use notes an access, and appends what must be shown about it.
func (u *usage) use(a access, cell int, claims []claim) []claim {
	for _, w := range u.wrote {
		if w.block != a.block {
			claims = append(claims, claim{w, a, cell})
		}
	}
	if !a.write {
		u.reads = slices.DeleteFunc(u.reads, func(r access) bool { return r.block == a.block })
		u.reads = append(u.reads, a)
		return claims
	}
	for _, r := range u.reads {
		if r.block != a.block {
			claims = append(claims, claim{r, a, cell})
		}
	}
	u.wrote, u.reads = []access{a}, nil
	return claims
}
