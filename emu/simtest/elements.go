package simtest

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/emu/wiring"
	"github.com/railyard/railyard/shaping"
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

func (e elements) refill(input func(run, rank int, input []byte)) {
	for i, m := range e {
		if m != nil && input != nil {
			m.Refill(func(rank int, b []byte) { input(i, rank, b) })
		}
	}
}

// move carries out on real elements what a kernel has decided.
func (e elements) move(moves []kernel.Move, s *fault.Schedule) {
	for _, m := range moves {
		switch {
		case e[m.Run] == nil:
		case m.Flip > 0:
			element, bit := s.Bit(int(m.Flip) - 1)
			e[m.Run].FlipWaiting(int(m.Block), int(m.Slice), element, bit)
		default:
			e[m.Run].Apply(payload.Move{Block: m.Block, Step: m.Step, Slice: m.Slice, Loop: m.Loop})
		}
	}
}

// flip turns over the bits of results that do so after one instant, up to another.
func (e elements) flip(b *emu.Batch, s *fault.Schedule, after, until shaping.Time) {
	for i, m := range e {
		if m == nil {
			continue
		}
		r := &b.Runs[i]
		_, out := r.Op.Parts(len(r.Comm))
		for rank, gpu := range r.Comm {
			for _, f := range s.FlipsOf(gpu, after, until) {
				m.FlipOutput(rank, uint64(f.Place(r.Count*int64(out), r.Real*int64(out))), uint64(f.Bit))
			}
		}
	}
}

// Verdict is what became of the elements of a run.
type Verdict struct {
	Wrong int64 // elements that are not what they must be, over all ranks
	// Places says where they are, in the order of ranks.
	Places []emu.WrongRank
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
				if r.Wrong > 0 {
					v.Places = append(v.Places, emu.WrongRank{Run: i, Rank: r.Rank, Elements: r.Wrong, First: r.First})
				}
				v.Ranks++
				if first == nil {
					first = &r
				}
				v.Agree = v.Agree && (!b.Runs[i].Op.Uniform() || r.Digest == first.Digest)
			}
		}
		slices.SortFunc(v.Places, func(a, b emu.WrongRank) int { return a.Rank - b.Rank })
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
