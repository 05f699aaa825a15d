package coordinator

import (
	"cmp"
	"context"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// verify asks every member to compare its ranks' results with what they must
// be, and compares across members where all ranks must agree bit for bit.
func (s *session) verify(ctx context.Context, b emu.Batch) ([]int64, error) {
	for _, m := range s.members {
		m.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Verify{Verify: &railyardv1.Verify{}}})
	}
	var all []*railyardv1.RankVerdict
	err := s.each(ctx, func(_ int, r *railyardv1.SessionResponse) (bool, error) {
		if r.GetVerified() == nil {
			return false, nil
		}
		all = append(all, r.GetVerified().GetVerdicts()...)
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return tally(b, all)
}

// tally counts the wrong elements of each run. A rank that nobody looked at, or
// ranks that differ where they must not, are failures of the emulation.
func tally(b emu.Batch, all []*railyardv1.RankVerdict) ([]int64, error) {
	wrong := make([]int64, len(b.Runs))
	seen := make([]map[uint32]bool, len(b.Runs))
	digests := make([]map[uint64]bool, len(b.Runs))
	for i := range seen {
		seen[i], digests[i] = map[uint32]bool{}, map[uint64]bool{}
	}
	for _, v := range all {
		if int(v.GetRun()) >= len(b.Runs) {
			return nil, wire.Failf(wire.Mismatch, "a verdict on run %d of %d", v.GetRun(), len(b.Runs))
		}
		wrong[v.GetRun()] += v.GetWrong()
		seen[v.GetRun()][v.GetRank()] = true
		digests[v.GetRun()][v.GetDigest()] = true
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		if r.Real > 0 && len(seen[i]) != len(r.Comm) {
			return nil, wire.Failf(wire.Mismatch, "run %d: %d of %d ranks were verified", i, len(seen[i]), len(r.Comm))
		}
		if r.Op.Uniform() && wrong[i] == 0 && len(digests[i]) > 1 {
			return nil, wire.Failf(wire.Mismatch, "run %d: ranks of one all-reduce differ in bits", i)
		}
	}
	return wrong, nil
}

// finish learns where the time went, and whether everything ended.
func (s *session) finish(ctx context.Context, b emu.Batch) error {
	for _, m := range s.members {
		m.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_Finish{Finish: &railyardv1.Finish{}}})
	}
	s.use = sweep.Use{Span: s.outcome.Now.Sub(b.Runs[0].Offset)}
	s.gatherShared()
	s.carried = 0
	var stuck []*railyardv1.StuckBlock
	err := s.each(ctx, func(i int, r *railyardv1.SessionResponse) (bool, error) {
		f := r.GetFinished()
		if f == nil {
			return false, nil
		}
		if s.drive != nil {
			if err := s.drive.kept(i, f.GetLateness()); err != nil {
				return false, err
			}
		}
		stuck = append(stuck, f.GetStuck()...)
		return true, s.gather(f)
	})
	if err != nil {
		return err
	}
	if len(stuck) > 0 {
		return deadlock(stuck)
	}
	for i := range b.Runs {
		if !s.outcome.Done(i, &b.Runs[i]) {
			return wire.Failf(wire.Bug, "run %d: nothing is pending, but not every rank has ended", i)
		}
	}
	return nil
}

// waited puts what a block waits for into words.
func waited(what string) string {
	if what == "data" {
		return what
	}
	return "a " + what
}

func deadlock(stuck []*railyardv1.StuckBlock) error {
	// Members tell in any order.
	b := slices.MinFunc(stuck, func(a, b *railyardv1.StuckBlock) int {
		return cmp.Or(cmp.Compare(a.GetRun(), b.GetRun()), cmp.Compare(a.GetRank(), b.GetRank()), cmp.Compare(a.GetBlock(), b.GetBlock()))
	})
	f := wire.Failf(wire.Deadlock, "%s block %d step %d waits for %s of %s, and %d more blocks wait",
		b.GetWho(), b.GetBlock(), b.GetStep(), waited(b.GetWaits()), b.GetWhom(), len(stuck)-1)
	f.Place = wire.Place{Run: int(b.GetRun()), Rank: int(b.GetRank()), Channel: int(b.GetChannel()), Step: int(b.GetStep()), Peer: int(b.GetPeer())}
	return f
}
