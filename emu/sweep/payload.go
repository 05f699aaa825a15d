package sweep

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// scaledElements is how many real elements a slice of a scale model has, so
// that a dropped or swapped slice cannot go unseen by chance.
const scaledElements = 16

// choosePayload sets how many elements of a run are real.
func choosePayload(p Payload, budget int64, plan *collective.Plan, r *emu.Run) Payload {
	in, out := r.Op.Parts(len(r.Comm))
	if p == PayloadAuto {
		p = PayloadFull
		total := float64(r.Count) * float64(r.DType.Size()) * float64(in+out) * float64(len(r.Comm))
		if total > float64(budget) {
			p = PayloadScaled
		}
	}
	switch p {
	case PayloadFull:
		r.Real = r.Count
	case PayloadScaled:
		g := plan.Size(r.Count, r.DType.Size())
		r.Real = g.Scale(int64(g.Loops) * int64(g.Chunks) * int64(g.Slices) * scaledElements).Count
	default:
		r.Real = 0
	}
	if p == PayloadScaled && r.Real == r.Count {
		return PayloadFull // nothing left to scale down
	}
	return p
}

// Buffers returns the bytes that the inputs and outputs of all ranks take.
func (c *Case) Buffers() int64 {
	in, out := c.Run.Op.Parts(len(c.Run.Comm))
	return c.Run.Real * c.DType.Size() * int64(in+out) * int64(len(c.Run.Comm))
}
