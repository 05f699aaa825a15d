package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// account is what became of the last bench, or of the one that runs.
type account struct {
	what     string
	verdict  string // "running", "done", "wrong" or "failed"
	rows     int    // of the whole bench
	done     []string
	accounts []string // where the time of each row went
	faults   []emu.Fault
	failure  *wire.Failure
	failed   *Failed // where the failure is one of the emulated cluster
	toll     Toll
	changes  []Change // of faults, while it ran
	wrong    bool
	fabric   *fabric.Fabric
}

// Explain says what the last bench did.
func (s *Server) Explain(context.Context, *railyardv1.ExplainRequest) (*railyardv1.ExplainResponse, error) {
	s.state.Lock()
	defer s.state.Unlock()
	return s.explained(), nil
}

// explained needs the state's lock.
func (s *Server) explained() *railyardv1.ExplainResponse {
	a := s.last
	if a == nil {
		return &railyardv1.ExplainResponse{}
	}
	m := &railyardv1.ExplainResponse{What: a.what, Verdict: a.verdict, Rows: uint32(a.rows), RowsDone: uint32(len(a.done)),
		RedoneBytes: int64(a.toll.Redone)}
	for i := range a.done {
		m.Accounts = append(m.Accounts, &railyardv1.RowAccount{Row: a.done[i], Text: a.accounts[i]})
	}
	for _, f := range a.faults {
		m.Faults = append(m.Faults, f.Name)
	}
	for _, d := range a.toll.Deaths {
		m.Deaths = append(m.Deaths, d.words())
	}
	if at := a.perturbed(); at > 0 {
		m.PerturbedPs = (*int64)(&at)
	}
	m.Changes = saying(a.changes)
	if a.failure != nil {
		m.Failure = wire.EncodeFailure(a.failure)
	}
	if a.failed != nil {
		a.blame(m)
	}
	return m
}

func (d *Death) words() string {
	if d.Unforeseen {
		return fmt.Sprintf("%s died although no fault was to kill it: %s", d.Member, d.How)
	}
	return fmt.Sprintf("%s was killed by a fault", d.Member)
}

// mostWaiting is how many of a rank's blocks are listed: a rank has one a channel,
// and they wait for the same.
const mostWaiting = 2

// blame says who waited for whom when a batch failed.
func (a *account) blame(m *railyardv1.ExplainResponse) {
	f := a.failed
	e := f.Outcome.Failure
	m.Hang, m.Seq, m.Fault, m.AbortPs, m.Row = string(e.Hang), e.Seq, f.Fault, int64(e.Abort), f.Row
	heard := map[[2]int]emu.Progress{}
	for _, p := range f.Outcome.Progress {
		heard[[2]int{p.Run, p.Rank}] = p
	}
	for run := range f.Batch.Runs {
		for rank, gpu := range f.Batch.Runs[run].Comm {
			p, ok := heard[[2]int{run, rank}]
			m.Ranks = append(m.Ranks, &railyardv1.RankState{Run: uint32(run), Rank: uint32(rank),
				Node: uint32(a.fabric.NodeOf(gpu)), Gpu: uint32(a.fabric.Local(gpu)),
				Entered: int64(p.Entered) - 1, Finished: int64(p.Finished) - 1, Silent: !ok,
				Lost: run == e.Run && slices.Contains(e.Lost, rank)})
		}
	}
	listed := map[[2]int]int{}
	for _, w := range f.Waiting {
		at := [2]int{w.Run, w.Rank}
		if _, ok := heard[at]; !ok {
			continue // what a process that is gone said last
		}
		if listed[at]++; listed[at] > mostWaiting {
			continue
		}
		m.Waiting = append(m.Waiting, &railyardv1.StuckBlock{Run: uint32(w.Run), Rank: uint32(w.Rank), Channel: uint32(w.Channel),
			Block: uint32(w.Block), Step: uint32(w.Step), Waits: w.Waits, Peer: uint32(w.Peer), Who: w.Who, Whom: w.Whom})
	}
}

// perturbed returns from when on the bench was not a matter of what was declared
// before it; 0: it was, so far.
func (a *account) perturbed() shaping.Time {
	if at := a.toll.Perturbed; at > 0 || len(a.changes) == 0 {
		return at
	}
	return a.changes[0].At
}

// saying puts changes into words.
func saying(all []Change) (words []string) {
	for _, c := range all {
		words = append(words, fmt.Sprintf("at %v %s", c.At, c.Says))
	}
	return words
}

// open begins the account of a bench, and returns the faults in force, and the way by
// which they may change while it runs.
func (s *Server) open(f *fabric.Fabric, what string, mayChange bool) ([]emu.Fault, *live) {
	s.edits.Lock() // what is being added strikes it from the start, or while it runs
	defer s.edits.Unlock()
	s.state.Lock()
	defer s.state.Unlock()
	a := &account{what: what, verdict: "running", faults: slices.Clone(s.faults), fabric: f}
	s.running, s.last = what, a
	if mayChange {
		s.live = newLive(func(c Change) {
			s.state.Lock()
			defer s.state.Unlock()
			a.changes = append(a.changes, c)
		})
	}
	return a.faults, s.live
}

// book adds a row to the account.
func (s *Server) book(r *Row) {
	s.state.Lock()
	defer s.state.Unlock()
	a := s.last
	a.done = append(a.done, fmt.Sprintf("%d bytes of %s, %s %s", r.Size, r.DType, r.Chosen.Algorithm, r.Chosen.Protocol))
	a.accounts = append(a.accounts, r.Explain)
	a.wrong = a.wrong || r.OutOfPlace.Wrong > 0 || r.InPlace.Wrong > 0
}

// settle ends the account of a bench.
func (s *Server) settle(toll Toll, err error) {
	s.state.Lock()
	defer s.state.Unlock()
	a := s.last
	s.running, a.toll, a.verdict = "", toll, "done"
	if s.live != nil {
		close(s.live.over)
		s.live = nil
	}
	switch {
	case err != nil:
		a.verdict, a.failure = "failed", verdict(err)
		_ = errors.As(err, &a.failed)
	case a.wrong:
		a.verdict = "wrong"
	}
	s.rest()
}
