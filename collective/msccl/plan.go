package msccl

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
)

// slots is the number of steps a connection's FIFO holds (NCCL_STEPS). Each
// message takes one: a message of a large buffer is looped over.
const slots = 8

// AnyRoot asks Plan for the root that the file means.
const AnyRoot = -1

// Plan translates the file. Blocks keep their numbers, steps theirs. The root
// of a rooted operation is the one given; with AnyRoot it is the rank that the
// file shows it to be. The file is not proved: Judge does that.
func (f *File) Plan(root int) (*collective.Plan, error) {
	if root < AnyRoot || root >= f.Ranks {
		return nil, bad(0, "root %d; the plan has ranks 0 to %d", root, f.Ranks-1)
	}
	ends, err := f.connect()
	if err != nil {
		return nil, err
	}
	ranks := make([][]collective.Block, f.Ranks)
	p := collective.Plan{Op: f.Op, Algorithm: f.title(), Protocol: f.Protocol, Ranks: f.Ranks, Channels: f.Channels,
		Chunks: f.part(), Slots: slots, ChunkSteps: 1, SliceSteps: 1, Widest: 1, Root: max(root, 0), Imported: true}
	for r := range f.GPUs {
		g := &f.GPUs[r]
		p.Scratch = max(p.Scratch, g.Scratch)
		ranks[r] = g.blocks()
		p.Widest = max(p.Widest, g.widest())
	}
	for _, e := range ends {
		if e.sender == nil {
			ranks[e.from] = append(ranks[e.from], collective.Block{Channel: e.channel, SendTo: []int{e.to}})
		} else if e.receiver == nil {
			ranks[e.to] = append(ranks[e.to], collective.Block{Channel: e.channel, RecvFrom: []int{e.from}})
		}
	}
	for r := range ranks {
		if len(ranks[r]) == 0 {
			ranks[r] = []collective.Block{{}} // a rank that has nothing to do still takes part
		}
		p.Blocks = max(p.Blocks, len(ranks[r]))
	}
	plan := collective.NewPlan(p, func(rank int) []collective.Block { return ranks[rank] })
	if root == AnyRoot {
		plan.Root = f.root(plan)
	}
	return plan, nil
}

// title is what tables call the plan.
func (f *File) title() string {
	if f.Name == "" {
		return "plan"
	}
	return f.Name
}

// root returns the rank that a rooted operation starts from or ends at.
func (f *File) root(p *collective.Plan) int {
	var known []int
	switch f.Op {
	case collective.Broadcast, collective.Scatter:
		if known = f.owners(func(g *GPU) int { return g.Input }); len(known) != 1 {
			known = f.owners(func(g *GPU) int { return g.onlySends() })
		}
	case collective.Reduce, collective.Gather:
		for _, inPlace := range f.Layouts() {
			if ranks, err := collective.Roots(p, inPlace); err == nil && len(ranks) > 0 {
				return ranks[0]
			}
		}
	}
	if len(known) == 1 {
		return known[0]
	}
	return 0
}

// onlySends returns how many messages a gpu sends if it receives none, else 0.
func (g *GPU) onlySends() (n int) {
	for i := range g.Blocks {
		for k := range g.Blocks[i].Steps {
			if g.Blocks[i].Steps[k].Kind.Receives() {
				return 0
			} else if g.Blocks[i].Steps[k].Kind.Sends() {
				n++
			}
		}
	}
	return n
}

// widest returns the most chunks of any message.
func (g *GPU) widest() (n int) {
	for i := range g.Blocks {
		for k := range g.Blocks[i].Steps {
			if s := &g.Blocks[i].Steps[k]; s.Kind.Sends() || s.Kind.Receives() {
				n = max(n, s.Count)
			}
		}
	}
	return n
}

// blocks translates the blocks of a gpu. Copies are a block of their own, the
// last, for whose end every other one waits.
func (g *GPU) blocks() []collective.Block {
	all := make([]collective.Block, len(g.Blocks), len(g.Blocks)+1)
	told := make([][]int, len(g.Blocks))
	for i := range g.Blocks {
		told[i] = g.Blocks[i].published()
	}
	for i := range g.Blocks {
		all[i] = g.Blocks[i].translate(told)
	}
	if len(g.Copies) == 0 {
		return all
	}
	copies := g.copies()
	first := collective.Dep{Block: len(all), Step: len(copies) - 1}
	for i := range all {
		if len(all[i].Steps) > 0 {
			s := &all[i].Steps[0]
			s.Deps = append([]collective.Dep{first}, s.Deps...)
		}
	}
	return append(all, collective.Block{Steps: copies})
}

// copies joins copies of neighbouring chunks into steps.
func (g *GPU) copies() (steps []collective.Step) {
	for _, c := range g.Copies {
		if n := len(steps); n > 0 {
			if s := &steps[n-1]; s.Src.Index+s.Count == c.From && s.Dst.Index+s.Count == c.To {
				s.Count++
				continue
			}
		}
		steps = append(steps, collective.Step{Kind: collective.Copy, Count: 1,
			Src: collective.Ref{Buffer: collective.Input, Index: c.From}, Dst: collective.Ref{Buffer: collective.Output, Index: c.To}})
	}
	return steps
}

// never is the step for which one waits in vain.
const never = -1

// published returns, for each step of a block, the step at which others learn
// that it is done: itself or the next one with hasdep, or never.
func (b *Block) published() []int {
	at := make([]int, len(b.Steps))
	next := never
	for k := len(b.Steps) - 1; k >= 0; k-- {
		if b.Steps[k].HasDep {
			next = k
		}
		at[k] = next
	}
	return at
}

func (b *Block) translate(told [][]int) collective.Block {
	t := collective.Block{Channel: b.Channel, Steps: make([]collective.Step, len(b.Steps))}
	if b.Send >= 0 {
		t.SendTo = []int{b.Send}
	}
	if b.Recv >= 0 {
		t.RecvFrom = []int{b.Recv}
	}
	for k := range b.Steps {
		from, to := &b.Steps[k], &t.Steps[k]
		*to = collective.Step{Kind: from.Kind, Src: from.Src, Dst: from.Dst, Count: from.Count}
		if from.Kind.Sends() {
			to.Send = 1
		}
		if from.Kind.Receives() {
			to.Recv = 1
		}
		if from.DepBlock >= 0 && from.DepStep >= 0 {
			to.Deps = []collective.Dep{b.dep(k, told)}
		}
	}
	// A nop that no step follows has no effect.
	for k := len(t.Steps) - 1; k >= 0 && t.Steps[k].Kind == collective.Nop; k-- {
		t.Steps[k].Deps = nil
	}
	return t
}

// dep returns what a step waits for. One that waits for news that never come
// waits for itself, which ends no sooner.
func (b *Block) dep(k int, told [][]int) collective.Dep {
	if at := b.waitsFor(k, told); at != never {
		return collective.Dep{Block: b.Steps[k].DepBlock, Step: at}
	}
	return collective.Dep{Block: b.ID, Step: k}
}

func (b *Block) waitsFor(k int, told [][]int) int {
	s := &b.Steps[k]
	if s.DepStep >= len(told[s.DepBlock]) {
		return never
	}
	return told[s.DepBlock][s.DepStep]
}

// inVain says for what a stuck step waits in vain; empty: for nothing.
func (f *File) inVain(at collective.Place) string {
	g := &f.GPUs[at.Rank]
	if at.Block >= len(g.Blocks) || at.Step < 0 || at.Step >= len(g.Blocks[at.Block].Steps) {
		return ""
	}
	b := &g.Blocks[at.Block]
	s := &b.Steps[at.Step]
	if s.DepBlock < 0 || s.DepStep < 0 {
		return ""
	}
	d := &g.Blocks[s.DepBlock]
	switch at := d.published(); {
	case s.DepStep >= len(d.Steps):
		return fmt.Sprintf("it waits for block %d step %d, and that block has %s", d.ID, s.DepStep, plural(len(d.Steps), "step"))
	case slices.Index(at[s.DepStep:s.DepStep+1], never) == 0:
		return fmt.Sprintf("it waits for block %d step %d, which nobody is told of: hasdep is 0 there and in all later steps", d.ID, s.DepStep)
	}
	return ""
}
