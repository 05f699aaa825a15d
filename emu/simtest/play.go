package simtest

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/rehearse"
	"github.com/railyard/railyard/shaping"
)

// Played is what came of a scenario, batch by batch.
type Played struct {
	Setup   *experiment.Setup
	Report  *experiment.Report
	Batches []PlayedBatch
	// Frames crossed between participants of the virtual clock.
	Frames uint64
	// Failovers is how often a connection went on by other NICs.
	Failovers int
}

// PlayedBatch is a batch, and what predict said of it.
type PlayedBatch struct {
	emu.Batch
	experiment.Executed
	Records  []emu.Record
	Verdicts []Verdict // where it was not given up
}

// player executes each batch in one kernel and on several, and compares.
type player struct {
	*Played
	one    *predict.Session
	many   *Virtual
	hosted elements // of the one kernel
	seen   []emu.Record
	// flipped is up to when bits of results have turned over; told how many records
	// of the many are compared.
	flipped shaping.Time
	told    int
}

// Play carries a scenario out, each batch in one kernel and on n participants. The
// error says in what they differ, or how the emulator fell over.
func Play(s emu.Scenario, n int) (p *Played, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	u, err := rehearse.Prepare(s, nil)
	if err != nil {
		return nil, err
	}
	nodes := u.Fabric.Nodes()
	host := spread(rand.New(rand.NewPCG(s.Cluster.Seed, uint64(n))), nodes, min(n, nodes))
	x := &player{Played: &Played{Setup: u}, flipped: -1,
		one:  predict.NewFaulty(u.Fabric, true, u.Schedule, u.Bear),
		many: NewFaulty(u.Fabric, host, s.Cluster.Seed, true, u.Schedule, u.Bear)}
	x.one.Visit = func(e *kernel.Effects) error {
		x.seen = append(x.seen, e.Records...)
		x.hosted.move(e.Moves, u.Schedule)
		return nil
	}
	x.Report, err = u.Run(x.execute, experiment.Watcher{})
	x.Frames = x.many.Conductor().Frames()
	return x.Played, err
}

func (x *player) execute(b emu.Batch) (experiment.Executed, error) {
	p := PlayedBatch{Batch: b}
	if err := x.alone(&p); err != nil {
		return p.Executed, fmt.Errorf("batch %d: %w", len(x.Batches), err)
	}
	told := p
	if p.Failure != nil { // whoever asked makes it his own
		own := *p.Failure
		told.Failure = &own
	}
	x.Batches = append(x.Batches, told)
	if err := x.together(&p); err != nil {
		return p.Executed, fmt.Errorf("batch %d: %w", len(x.Batches)-1, err)
	}
	return p.Executed, nil
}

// alone executes a batch in one kernel.
func (x *player) alone(p *PlayedBatch) error {
	w, err := kernel.Lay(x.Setup.Fabric, p.Batch, func(int) bool { return true })
	if err != nil {
		return err
	}
	x.hosted, x.seen = newElements(p.Batch, w), nil
	p.Outcome, err = x.one.Execute(p.Batch)
	p.Records = x.seen
	after, until := x.flipped, p.Outcome.Next()-1
	x.flipped = until
	x.Failovers += x.one.Kernel().Failovers()
	if err != nil || p.Failure != nil {
		return err
	}
	x.hosted.flip(&p.Batch, x.Setup.Schedule, after, until)
	p.Verdicts = judge(p.Batch, []elements{x.hosted})
	p.Wrong = make([]int64, len(p.Runs))
	for i := range p.Runs {
		p.Wrong[i] = p.Verdicts[i].Wrong
		p.WrongRanks = append(p.WrongRanks, p.Verdicts[i].Places...)
	}
	if slices.ContainsFunc(p.Runs, func(r emu.Run) bool { return r.Real == 0 }) {
		p.Wrong, p.WrongRanks = nil, nil
	}
	return nil
}

// together executes the same batch on several participants, and compares.
func (x *player) together(p *PlayedBatch) error {
	out, err := x.many.Execute(p.Batch)
	if err != nil {
		return fmt.Errorf("on several participants: %w", err)
	}
	all := x.many.records
	records := all[x.told:]
	x.told = len(all)
	slices.SortStableFunc(records, emu.CompareRecords)
	if err := Compare(Run{Records: p.Records}, Run{Records: records}); err != nil {
		return err
	}
	deadly := x.Setup.Schedule.Deadly()
	if err := alike(&p.Outcome, &out, deadly); err != nil {
		return err
	}
	if p.Failure == nil && !deadly && !reflect.DeepEqual(p.Verdicts, x.many.Verdicts()) {
		return fmt.Errorf("elements differ:\n%+v\n%+v", p.Verdicts, x.many.Verdicts())
	}
	return nil
}

// alike reports in what two outcomes differ. What a dead process did last, nobody can
// say.
func alike(a, b *emu.Outcome, deadly bool) error {
	switch {
	case !slices.Equal(a.Ends, b.Ends):
		return fmt.Errorf("ends differ:\n%v\n%v", a.Ends, b.Ends)
	case !reflect.DeepEqual(a.Failure, b.Failure):
		return fmt.Errorf("failures differ:\n%+v\n%+v", a.Failure, b.Failure)
	case !slices.Equal(a.Progress, b.Progress):
		return fmt.Errorf("progress differs:\n%v\n%v", a.Progress, b.Progress)
	case !deadly && (a.Events != b.Events || a.Redone != b.Redone || a.Now != b.Now):
		return fmt.Errorf("events %d and %d, bytes sent again %d and %d, last instant %d and %d", a.Events, b.Events, a.Redone, b.Redone, a.Now, b.Now)
	}
	return nil
}
