package sweep

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// scaledElements is how many real elements a slice of a scale model has at
// least, so that a dropped or swapped slice cannot go unseen by chance. It has
// more where the test data of its type and reduction take more until an error of
// every rank is seen (collective.Data.Spread), as far as the budget for payload
// allows: beyond it an error of few ranks' contributions may pass.
const scaledElements = 16

// choosePayload sets how many elements of each run are real. plans are those of
// the runs.
func (c *Case) choosePayload(p Payload, budget int64, plans []*collective.Plan) {
	if p == PayloadAuto {
		p = c.affordable(budget)
	}
	runs := append([]*emu.Run{&c.Run}, pointers(c.Others)...)
	all := true // of the elements are real
	for i, r := range runs {
		r.Real = realElements(p, budget/int64(len(runs)), plans[i], r)
		all = all && r.Real == r.Count
	}
	if p == PayloadScaled && all {
		p = PayloadFull // nothing left to scale down
	}
	c.Payload = p
}

// affordable returns full when the buffers of all ranks fit a budget, else
// scaled.
func (c *Case) affordable(budget int64) Payload {
	total := 0.0
	for _, r := range c.Runs() {
		in, out := r.Op.Parts(len(r.Comm))
		total += float64(r.Count) * float64(r.DType.Size()) * float64(in+out) * float64(len(r.Comm))
	}
	if total > float64(budget) {
		return PayloadScaled
	}
	return PayloadFull
}

// realElements returns how many elements of a part of a run are real, when its
// communicator may take that much of the budget.
func realElements(p Payload, budget int64, plan *collective.Plan, r *emu.Run) int64 {
	switch p {
	case PayloadFull:
		return r.Count
	case PayloadScaled:
		in, out := r.Op.Parts(len(r.Comm))
		// one is what an element a part takes on all ranks together.
		one := float64(r.DType.Size()) * float64(in+out) * float64(len(r.Comm))
		g := plan.Size(r.Count, r.DType.Size())
		slices := int64(g.Loops) * int64(g.Chunks) * int64(g.Slices)
		return g.Scale(slices * sliceElements(r, plan, float64(budget)/one/float64(max(slices, 1)))).Count
	default:
		return 0
	}
}

// sliceElements returns how many elements a slice of a scale model has, when the
// budget pays for some number.
func sliceElements(r *emu.Run, plan *collective.Plan, paid float64) int64 {
	data := collective.Data{
		Op: r.Op, DType: r.DType, RedOp: r.RedOp, Seed: r.Seed, Ranks: len(r.Comm), Root: plan.Root,
	}
	return max(scaledElements, int64(min(float64(data.Spread()), paid)))
}

func pointers(runs []emu.Run) []*emu.Run {
	var all []*emu.Run
	for i := range runs {
		all = append(all, &runs[i])
	}
	return all
}

// Buffers returns the bytes that the inputs and outputs of all ranks take.
func (c *Case) Buffers() (total int64) {
	for _, r := range c.Runs() {
		in, out := r.Op.Parts(len(r.Comm))
		total += r.Real * r.DType.Size() * int64(in+out) * int64(len(r.Comm))
	}
	return total
}
