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

// choosePayload sets how many elements of a run are real.
func choosePayload(p Payload, budget int64, plan *collective.Plan, r *emu.Run) Payload {
	in, out := r.Op.Parts(len(r.Comm))
	// one is what an element a part takes on all ranks together.
	one := float64(r.DType.Size()) * float64(in+out) * float64(len(r.Comm))
	if p == PayloadAuto {
		p = PayloadFull
		if float64(r.Count)*one > float64(budget) {
			p = PayloadScaled
		}
	}
	switch p {
	case PayloadFull:
		r.Real = r.Count
	case PayloadScaled:
		g := plan.Size(r.Count, r.DType.Size())
		slices := int64(g.Loops) * int64(g.Chunks) * int64(g.Slices)
		r.Real = g.Scale(slices * sliceElements(r, plan, float64(budget)/one/float64(max(slices, 1)))).Count
	default:
		r.Real = 0
	}
	if p == PayloadScaled && r.Real == r.Count {
		return PayloadFull // nothing left to scale down
	}
	return p
}

// sliceElements returns how many elements a slice of a scale model has, when the
// budget pays for some number.
func sliceElements(r *emu.Run, plan *collective.Plan, paid float64) int64 {
	data := collective.Data{
		Op: r.Op, DType: r.DType, RedOp: r.RedOp, Seed: r.Seed, Ranks: len(r.Comm), Root: plan.Root,
	}
	return max(scaledElements, int64(min(float64(data.Spread()), paid)))
}

// Buffers returns the bytes that the inputs and outputs of all ranks take.
func (c *Case) Buffers() int64 {
	in, out := c.Run.Op.Parts(len(c.Run.Comm))
	return c.Run.Real * c.DType.Size() * int64(in+out) * int64(len(c.Run.Comm))
}
