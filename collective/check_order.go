package collective

import (
	"fmt"
	"slices"
	"strings"
)

// execution carries a plan out without time or data, slice by slice: a block
// goes on while the messages and the room it needs are there. No block can
// choose what to wait for, so the outcome does not depend on whose turn it is:
// either all get through, or the same ones are stuck.
type execution struct {
	*proof
	slices  int // a message
	room    int // slices a FIFO holds
	next    []int
	slice   []int
	done    []bool  // by step
	order   []int32 // steps as they were done
	posted  []int   // slices, by link
	taken   []int
	waiters dependents
	ready   []int
	queued  []bool
}

// schedule returns the steps of all blocks in an order in which they can be
// done, or an error that names a circle of waits.
func (f *proof) schedule() ([]int32, error) {
	p := f.plan
	e := &execution{
		proof: f, slices: p.ChunkSteps / p.SliceSteps, room: p.Slots / p.SliceSteps,
		next: make([]int, len(f.blocks)), slice: make([]int, len(f.blocks)),
		done: make([]bool, len(f.blockOf)), order: make([]int32, 0, len(f.blockOf)),
		posted: make([]int, len(f.links)), taken: make([]int, len(f.links)),
		waiters: f.dependents(), queued: make([]bool, len(f.blocks)),
	}
	for i := range f.blocks {
		e.wake(i)
	}
	for len(e.ready) > 0 {
		i := e.ready[len(e.ready)-1]
		e.ready = e.ready[:len(e.ready)-1]
		e.queued[i] = false
		for !e.finished(i) && e.wait(i).lacks == lacksNothing {
			e.move(i)
		}
	}
	if len(e.order) < len(f.blockOf) {
		return nil, e.deadlock()
	}
	return e.order, e.leftover()
}

// leftover reports a message that nobody takes, which only an imported plan has
// by now: it would be the first of the next loop.
func (e *execution) leftover() error {
	for i := range e.links {
		if l := &e.links[i]; len(l.sends) > len(l.recvs) {
			k := len(l.recvs)
			return problem(e.place(l.sends[k]), Unpaired, "sends message %d to rank %d on channel %d, %s", k, l.to, l.channel, e.takes(l.receiver, k))
		}
	}
	return nil
}

// takes says how many messages a block receives a loop.
func (e *execution) takes(block, n int) string {
	if b := &e.blocks[block]; len(b.Steps) > 0 {
		return fmt.Sprintf("whose block %d receives %d a loop", b.index, n)
	}
	return "where no block receives it"
}

// dependents lists the blocks with a dependency on each step: those of step s
// are blocks[first[s]:first[s+1]].
type dependents struct {
	first   []int32
	waiting []int32
}

func (d *dependents) on(step int32) []int32 { return d.waiting[d.first[step]:d.first[step+1]] }

func (f *proof) dependents() dependents {
	d := dependents{first: make([]int32, len(f.blockOf)+2)}
	f.eachDep(func(step int32, _ int) { d.first[step+2]++ })
	for i := range len(d.first) - 1 {
		d.first[i+1] += d.first[i]
	}
	d.waiting = make([]int32, d.first[len(d.first)-1])
	f.eachDep(func(step int32, block int) {
		d.waiting[d.first[step+1]] = int32(block)
		d.first[step+1]++
	})
	return d
}

// eachDep calls do for every dependency: the step that is waited for, and the
// position of the block that waits.
func (f *proof) eachDep(do func(step int32, block int)) {
	for i := range f.blocks {
		b := &f.blocks[i]
		for k := range b.Steps {
			for _, d := range b.Steps[k].Deps {
				do(f.sibling(b, d.Block).base+int32(d.Step), i)
			}
		}
	}
}

func (e *execution) wake(block int) {
	if !e.queued[block] {
		e.queued[block] = true
		e.ready = append(e.ready, block)
	}
}

func (e *execution) finished(block int) bool { return e.next[block] == len(e.blocks[block].Steps) }

// cause is why a block cannot go on: what it lacks, and which block must
// provide it.
type cause struct {
	lacks lack
	block int
	dep   Dep
}

type lack uint8

const (
	lacksNothing lack = iota
	lacksStep
	lacksMessage
	lacksRoom
)

// wait returns what a block lacks to go on.
func (e *execution) wait(block int) cause {
	b := &e.blocks[block]
	s := &b.Steps[e.next[block]]
	for _, d := range s.Deps {
		if !e.done[e.sibling(b, d.Block).base+int32(d.Step)] {
			return cause{lacksStep, e.first[b.rank] + d.Block, d}
		}
	}
	for i := s.Recv.Next(0); i < len(b.recvs); i = s.Recv.Next(i + 1) {
		k := b.recvs[i]
		if e.posted[k] == e.taken[k] {
			return cause{lacks: lacksMessage, block: e.links[k].sender}
		}
	}
	for i := s.Send.Next(0); i < len(b.sends); i = s.Send.Next(i + 1) {
		k := b.sends[i]
		if e.posted[k]-e.taken[k] == e.room {
			return cause{lacks: lacksRoom, block: e.links[k].receiver}
		}
	}
	return cause{}
}

// describe says what a cause is about.
func (e *execution) describe(c cause) string {
	switch c.lacks {
	case lacksStep:
		return fmt.Sprintf("block %d step %d", c.dep.Block, c.dep.Step)
	case lacksMessage:
		return fmt.Sprintf("a message from rank %d", e.blocks[c.block].rank)
	default:
		return fmt.Sprintf("a free slot to rank %d", e.blocks[c.block].rank)
	}
}

// move does the next slice of a block that lacks nothing.
func (e *execution) move(block int) {
	b := &e.blocks[block]
	s := &b.Steps[e.next[block]]
	for i := s.Recv.Next(0); i < len(b.recvs); i = s.Recv.Next(i + 1) {
		k := b.recvs[i]
		e.taken[k]++
		e.wake(e.links[k].sender)
	}
	for i := s.Send.Next(0); i < len(b.sends); i = s.Send.Next(i + 1) {
		k := b.sends[i]
		e.posted[k]++
		e.wake(e.links[k].receiver)
	}
	e.slice[block]++
	if e.slice[block] < e.slices && s.Recv|s.Send != 0 {
		return
	}
	id := b.base + int32(e.next[block])
	e.done[id] = true
	e.order = append(e.order, id)
	e.next[block]++
	e.slice[block] = 0
	for _, i := range e.waiters.on(id) {
		e.wake(int(i))
	}
}

// deadlock follows the waits from the first block that is stuck until they come
// round. They must if every message has a sender, for then whoever is waited
// for is stuck too; in an imported plan they may end at one that sends no more.
func (e *execution) deadlock() error {
	at := 0
	for e.finished(at) {
		at++
	}
	met := map[int]int{}
	var path []int
	for {
		if i, again := met[at]; again {
			return e.circle(path[i:])
		}
		if e.finished(at) {
			return e.dead(path)
		}
		met[at] = len(path)
		path = append(path, at)
		at = e.wait(at).block
	}
}

// dead reports blocks of which each waits for the next, and the last for one
// that is through.
func (e *execution) dead(path []int) error {
	first := e.blocks[path[0]].place(e.next[path[0]])
	err := e.waits(path[max(0, len(path)-shown):])
	through := &e.blocks[e.wait(path[len(path)-1]).block]
	if len(through.Steps) == 0 {
		err.Detail += ", where no block does its part"
	} else {
		err.Detail += fmt.Sprintf(", whose block %d is through", through.index)
	}
	err.Place, err.Cycle = first, nil
	return err
}

// stuck lists the blocks that never end.
func (e *execution) stuck() (all []Place) {
	for i := range e.blocks {
		if !e.finished(i) {
			all = append(all, e.blocks[i].place(e.next[i]))
		}
	}
	return all
}

// shown is how many waits of a circle an error spells out.
const shown = 8

// circle reports blocks that wait for each other.
func (e *execution) circle(blocks []int) error {
	low := slices.Index(blocks, slices.Min(blocks))
	return e.waits(slices.Concat(blocks[low:], blocks[:low]))
}

// waits spells out what each of the blocks waits for.
func (e *execution) waits(blocks []int) *CheckError {
	err := &CheckError{Problem: Deadlock, Stuck: e.stuck()}
	var waits []string
	for n, i := range blocks {
		at := e.blocks[i].place(e.next[i])
		err.Cycle = append(err.Cycle, at)
		if n < shown {
			waits = append(waits, fmt.Sprintf("%s (%s) waits for %s", at, e.blocks[i].Steps[at.Step].Kind, e.describe(e.wait(i))))
		}
	}
	if more := len(blocks) - shown; more > 0 {
		waits = append(waits, fmt.Sprintf("and %d more, back to the first", more))
	}
	err.Place, err.Detail = err.Cycle[0], strings.Join(waits, "; ")
	return err
}
