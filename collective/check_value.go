package collective

import "fmt"

// content is what a chunk holds: the sum, over a set of ranks, of one chunk of
// each one's input. The zero content is garbage.
type content struct {
	chunk int32 // index in the input
	ranks int32 // a number of rankSets
}

// ledger follows the contents of every chunk of every rank.
type ledger struct {
	*proof
	sets    *rankSets
	cells   []content // rank by rank
	writers []int32   // step that wrote each cell last, or −1
	sent    []content // the messages of all steps, chunk by chunk
	sentAt  []int32   // where in sent a step's message begins
	all     int32     // the set of all ranks
	// spoils are the problems by which contents were spoiled, in an imported
	// plan: they matter only where such a content ends up as a result.
	spoils []error
}

// maxSpoils bounds the problems that are kept.
const maxSpoils = 1 << 12

// spoil returns a problem, or in an imported plan the content that bears it.
func (l *ledger) spoil(err error) (content, error) {
	if !l.plan.Imported {
		return content{}, err
	}
	if len(l.spoils) < maxSpoils {
		l.spoils = append(l.spoils, err)
	}
	return content{ranks: -int32(len(l.spoils))}, nil
}

// spoiled returns the problem that a content bears, or nil.
func (l *ledger) spoiled(v content) error {
	if v.ranks >= 0 {
		return nil
	}
	return l.spoils[-v.ranks-1]
}

// contributions carries the plan out on sets of ranks, in an order in which
// the steps can be done, and compares the outputs with what the operation
// promises. Any such order will do, for there are no races.
func (f *proof) contributions(order []int32) (wrong int, err error) {
	l, err := f.carryOut(order)
	if err != nil {
		return 1, err
	}
	return l.results(order)
}

// carryOut returns what every chunk holds when all steps are done.
func (f *proof) carryOut(order []int32) (*ledger, error) {
	l := f.newLedger()
	for _, id := range order {
		if err := l.do(id); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// results compares all outputs with what the operation promises. Of several
// that differ it reports the one that was written first: the rest may be
// copies of it.
func (l *ledger) results(order []int32) (wrong int, first error) {
	at := make([]int, len(order))
	for i, id := range order {
		at[id] = i
	}
	earliest := len(order) + 1
	for r := range l.plan.Ranks {
		for k := range l.output {
			err := l.compare(r, k)
			if err == nil {
				continue
			}
			wrong++
			when := len(order)
			if w := l.writer(r, k); w >= 0 {
				when = at[w]
			}
			if when < earliest {
				first, earliest = err, when
			}
		}
	}
	return wrong, first
}

// writer returns the step that wrote an output chunk last, −1 if none did.
func (l *ledger) writer(rank, k int) int32 {
	return l.writers[rank*l.proof.cells()+l.base(rank, Output)+k]
}

func (f *proof) newLedger() *ledger {
	l := &ledger{
		proof: f, sets: newRankSets(f.plan.Ranks),
		cells:   make([]content, f.plan.Ranks*f.cells()),
		writers: make([]int32, f.plan.Ranks*f.cells()),
		sentAt:  make([]int32, len(f.blockOf)),
	}
	for i := range l.writers {
		l.writers[i] = -1
	}
	for r := range f.plan.Ranks {
		l.all = l.sets.join(l.all, alone(r))
		if rooted := f.plan.Op == Broadcast || f.plan.Op == Scatter; rooted && r != f.root {
			continue
		}
		in := l.row(r)[f.base(r, Input):]
		for k := range f.input {
			in[k] = content{int32(k), alone(r)}
		}
	}
	total := 0
	for i := range f.blocks {
		b := &f.blocks[i]
		for k := range b.Steps {
			l.sentAt[b.base+int32(k)] = int32(total)
			if b.Steps[k].Kind.Sends() {
				total += b.Steps[k].Chunks()
			}
		}
	}
	l.sent = make([]content, total)
	return l
}

// row returns the cells of a rank.
func (l *ledger) row(rank int) []content {
	n := l.proof.cells()
	return l.cells[rank*n:][:n]
}

// do carries out a step.
func (l *ledger) do(id int32) error {
	b, i := l.at(id)
	s := &b.Steps[i]
	for k := range s.Chunks() {
		v, err := l.gather(id, k)
		if err != nil {
			return err
		}
		if s.Kind.WritesDst() {
			if err := l.write(id, s.Dst, k, v); err != nil {
				return err
			}
		}
		if s.Kind.Sends() {
			l.sent[int(l.sentAt[id])+k] = v
		}
	}
	return nil
}

// gather reduces all that a step takes in for its k-th chunk.
func (l *ledger) gather(id int32, k int) (v content, err error) {
	b, i := l.at(id)
	s := &b.Steps[i]
	for _, from := range l.senders(id) {
		if v, err = l.reduce(id, v, l.sent[int(l.sentAt[from])+k]); err != nil {
			return v, err
		}
	}
	if s.Kind.ReadsSrc() {
		if v, err = l.read(id, v, s.Src, k); err != nil {
			return v, err
		}
	}
	if s.Kind == ReduceLocal {
		return l.read(id, v, s.Dst, k)
	}
	return v, nil
}

// read reduces v with the k-th chunk from a reference on.
func (l *ledger) read(id int32, v content, r Ref, k int) (content, error) {
	b, _ := l.at(id)
	cell := l.cell(b, r) + k
	got := l.row(b.rank)[cell]
	if got.ranks == none {
		return l.spoil(problem(l.place(id), Unwritten, "reads %s %d, which nothing has written", r.Buffer, b.chunk(r)+k))
	}
	return l.reduce(id, v, got)
}

func (l *ledger) reduce(id int32, v, w content) (content, error) {
	switch {
	case v.ranks == none || w.ranks < 0:
		return w, nil
	case v.ranks < 0:
		return v, nil
	case v.chunk != w.chunk:
		return l.spoil(problem(l.place(id), Mixed, "reduces %s with %s", l.text(v), l.text(w)))
	}
	joined := l.sets.join(v.ranks, w.ranks)
	if joined < 0 {
		return l.spoil(problem(l.place(id), Duplicate, "reduces %s with %s: %s would count twice", l.text(v), l.text(w), l.sets.common(v.ranks, w.ranks)))
	}
	return content{v.chunk, joined}, nil
}

// write stores v as the k-th chunk from a reference on. Chunks of different
// parts are of the same length if they have the same place in their part.
func (l *ledger) write(id int32, r Ref, k int, v content) error {
	b, _ := l.at(id)
	to, n := b.chunk(r)+k, l.plan.Chunks
	if v.ranks != none && int(v.chunk)%n != to%n && !l.plan.Imported {
		return problem(l.place(id), Misfit, "writes %s to %s %d: as long as chunk %d of a part, where chunk %d belongs", l.text(v), r.Buffer, to, int(v.chunk)%n, to%n)
	}
	if l.plan.Op == AllToAllV && !l.fits(b.rank, to/n, v) {
		return problem(l.place(id), Misfit, "writes %s to %s %d: part %d of a rank is as long as what the two send each other, and this is of another pair", l.text(v), r.Buffer, to, to/n)
	}
	cell := l.base(b.rank, r.Buffer) + to
	l.row(b.rank)[cell] = v
	l.writers[b.rank*l.proof.cells()+cell] = id
	return nil
}

// fits reports whether a part of a rank, of parts of unlike length, is as long as
// the input part that v is from: lengths depend on the sum of both ranks.
func (l *ledger) fits(rank, part int, v content) bool {
	if v.ranks == none {
		return true
	}
	from, input := int(v.ranks-1), int(v.chunk)/l.plan.Chunks // one rank's: such plans reduce nothing
	return (from+input-rank-part)%l.plan.Ranks == 0
}

func (l *ledger) text(v content) string {
	return fmt.Sprintf("input %d of %s", v.chunk, l.sets.name(v.ranks))
}

// compare checks one chunk of a rank's output.
func (l *ledger) compare(rank, k int) error {
	want, matters := l.promise(rank, k)
	got := l.row(rank)[l.base(rank, Output)+k]
	if !matters || got == want {
		return nil
	}
	if err := l.spoiled(got); err != nil {
		return err
	}
	at := Place{rank, -1, -1}
	if w := l.writer(rank, k); w >= 0 {
		at = l.place(w)
	}
	if got.ranks == none {
		return problem(at, Unwritten, "output %d is never written", k)
	}
	return problem(at, WrongResult, "output %d ends as %s; it must be %s", k, l.text(got), l.text(want))
}

// promise returns what the operation promises for a chunk of a rank's output,
// and whether it promises anything.
func (l *ledger) promise(rank, k int) (want content, matters bool) {
	n := l.plan.Chunks
	part, within := k/n, k%n
	own := rank*n + within
	from := func(chunk, rank int) content { return content{int32(chunk), alone(rank)} }
	switch l.plan.Op {
	case AllReduce, Barrier:
		return content{int32(k), l.all}, true
	case Reduce:
		return content{int32(k), l.all}, rank == l.root
	case ReduceScatter:
		return content{int32(own), l.all}, true
	case AllGather:
		return from(within, part), true
	case Gather:
		return from(within, part), rank == l.root
	case Broadcast:
		return from(k, l.root), true
	case Scatter:
		return from(own, l.root), true
	case AllToAll, AllToAllV:
		return from(own, part), true
	case Custom:
		return content{}, false
	default: // SendRecv: from the rank before, as in nccl-tests
		return from(k, (rank+l.plan.Ranks-1)%l.plan.Ranks), true
	}
}
