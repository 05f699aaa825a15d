package simtest

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/wiring"
)

// elements are the machines of one participant, one a run of the batch; nil
// where a run moves headers alone.
type elements []*payload.Machine

func newElements(b emu.Batch, w []*wiring.Wiring) elements {
	all := make(elements, len(b.Runs))
	for i := range b.Runs {
		r := &b.Runs[i]
		if r.Real > 0 {
			all[i] = payload.New(*r, w[i], w[i].Plan.Size(r.Count, r.DType.Size()).Scale(r.Real), nil)
		}
	}
	return all
}

// move carries out on real elements what a kernel has decided.
func (e elements) move(moves []kernel.Move) {
	for _, m := range moves {
		if e[m.Run] != nil {
			e[m.Run].Apply(payload.Move{Block: m.Block, Step: m.Step, Slice: m.Slice, Loop: m.Loop})
		}
	}
}

// Verdict is what became of the elements of a run.
type Verdict struct {
	Wrong int64 // elements that are not what they must be, over all ranks
	// Agree: all ranks end with the same bits, or need not.
	Agree bool
	// Ranks that were looked at.
	Ranks int
}

// judge compares the results of a batch, hosted by several participants, with
// what they must be.
func judge(b emu.Batch, hosts []elements) []Verdict {
	verdicts := make([]Verdict, len(b.Runs))
	for i := range b.Runs {
		v := &verdicts[i]
		v.Agree = true
		var first *payload.Verdict
		for _, h := range hosts {
			if h[i] == nil {
				continue
			}
			for _, r := range h[i].VerifyAll() {
				v.Wrong += r.Wrong
				v.Ranks++
				if first == nil {
					first = &r
				}
				v.Agree = v.Agree && (!b.Runs[i].Op.Uniform() || r.Digest == first.Digest)
			}
		}
	}
	return verdicts
}

// Right reports elements that are wrong, ranks that differ, and ranks that
// nobody looked at.
func Right(b emu.Batch, verdicts []Verdict) error {
	for i, v := range verdicts {
		r := &b.Runs[i]
		switch {
		case r.Real == 0:
		case v.Wrong > 0:
			return fmt.Errorf("run %d: %d elements wrong", i, v.Wrong)
		case !v.Agree:
			return fmt.Errorf("run %d: ranks that must agree differ in bits", i)
		case v.Ranks != len(r.Comm):
			return fmt.Errorf("run %d: %d of %d ranks have a result", i, v.Ranks, len(r.Comm))
		}
	}
	return nil
}
