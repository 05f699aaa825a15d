package sweep

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
)

// Case is one line of the table before it is run. Its figures are those of rank
// 0's communicator, as in nccl-tests.
type Case struct {
	Size   int64 // bytes, as printed
	Count  int64 // elements, as printed
	DType  collective.DType
	RedOp  collective.RedOp
	Root   int            // as printed: -1 for operations without one
	Chosen tuner.Estimate // algorithm and protocol; Time is the model's, 0 where it has none
	// Candidates are all that were considered, Chosen among them, in the order in
	// which NCCL compares them.
	Candidates []tuner.Estimate
	chunk      int64 // bytes that cap the plan's chunk; 0: none
	// Work is about how many slices of steps kernels carry out for the line, both
	// halves: what its wall time is proportional to.
	Work int64
	// Channels in use; Payload as resolved.
	Channels int
	Payload  Payload
	// Warmup iterations come before the timed ones of Run.Iterations.
	Warmup int
	Run    emu.Run // out of place, offset not set
	// Others are the runs of the other communicators, at the same time.
	Others []emu.Run
}

// Runs returns the runs of all communicators, that of rank 0 first.
func (c *Case) Runs() []emu.Run { return append([]emu.Run{c.Run}, c.Others...) }

// How many iterations a steady state needs. Emulated time is exact, so an
// iteration that begins where a like one has left ranks and ports is like it.
// Inside a server, and for messages that fill the links, the second one does;
// small messages between servers may alternate between two periods, or settle
// only after some, and cost little. Exchanges, and operations with a root, settle
// later, since a rank waits for its neighbours alone. emu/predict's steady_test
// says how far off a cell is left.
const (
	smallMessage = 1 << 20 // bytes

	smallWarmup, smallTimed                 = 2, 4
	largeWarmup, largeTimed                 = 1, 1
	smallExchangeWarmup, smallExchangeTimed = 4, 8
	largeExchangeWarmup, largeExchangeTimed = 2, 4
)

// settle returns how many iterations warm up at a size, and how many are timed.
func settle(op collective.Op, bytes int64) (warmup, timed int) {
	small := bytes <= smallMessage
	exchange := !op.InPlace() || Rooted(op)
	switch {
	case exchange && small:
		return smallExchangeWarmup, smallExchangeTimed
	case exchange:
		return largeExchangeWarmup, largeExchangeTimed
	case small:
		return smallWarmup, smallTimed
	default:
		return largeWarmup, largeTimed
	}
}

// iterations returns how many iterations are really run at a size, and how many
// of those warm up: what a steady state needs, but none where none is asked for.
func (s *Spec) iterations(bytes int64) (warmup, total int) {
	warmup, timed := settle(s.Op, bytes)
	if s.Warmup == 0 {
		warmup = 0
	}
	return warmup, warmup + max(1, min(s.Iterations, timed))
}

// cases returns every line of the table, in nccl-tests' order: types, then
// reductions, then roots, then sizes.
func cases(f *fabric.Fabric, s *Spec, groups []group) ([]Case, error) {
	sizes, err := s.Sizes()
	if err != nil {
		return nil, err
	}
	roots, err := s.roots(groups)
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, d := range s.dtypes() {
		for _, op := range s.redOps() {
			for _, root := range roots {
				for _, size := range sizes {
					c, err := s.build(f, groups, Case{DType: d, RedOp: op, Root: root}, size)
					if err != nil {
						return nil, err
					}
					all = append(all, c)
				}
			}
		}
	}
	return all, nil
}

// dtypes returns the types to run: a barrier has one, since it moves nothing
// that anybody sees.
func (s *Spec) dtypes() []collective.DType {
	if s.Op == collective.Barrier {
		return s.DTypes[:1]
	}
	return s.DTypes
}

// redOps returns the reductions to run; an operation that reduces nothing runs
// once.
func (s *Spec) redOps() []collective.RedOp {
	if !s.Op.Reduces() || s.Op == collective.Barrier {
		return []collective.RedOp{collective.Sum}
	}
	return s.RedOps
}

// build fills in a line for one size: what every communicator runs.
func (s *Spec) build(f *fabric.Fabric, groups []group, like Case, size int64) (Case, error) {
	var c Case
	plans := make([]*collective.Plan, len(groups))
	for i := range groups {
		g, plan, err := s.single(f, &groups[i], like, size)
		if err != nil {
			if len(groups) > 1 {
				err = fmt.Errorf("group %d: %w", groups[i].colour, err)
			}
			return g, err
		}
		plans[i] = plan
		if i == 0 {
			c = g
			continue
		}
		c.Others = append(c.Others, g.Run)
	}
	c.choosePayload(s.Payload, s.Budget, plans)
	c.Work = work(plans[0], &c.Run)
	return c, nil
}

// single fills in a line as if its communicator were the only one.
func (s *Spec) single(f *fabric.Fabric, g *group, c Case, size int64) (Case, *collective.Plan, error) {
	c.Count, c.Size = Message(s.Op, size, c.DType.Size(), len(g.comm))
	if err := s.choose(f, g, c.Size, &c); err != nil {
		return c, nil, err
	}
	// By the size asked for, so that all communicators warm up together.
	warmup, total := s.iterations(size)
	c.Warmup = warmup
	if c.Count == 0 {
		total = 0 // NCCL returns before it launches anything
	}
	c.Run = emu.Run{Op: s.Op, Algorithm: c.Chosen.Algorithm, Plan: s.Plan, File: s.File, Comm: g.comm, Count: c.Count, DType: c.DType, RedOp: c.RedOp,
		Options:    s.options(&c, max(c.Root, 0)),
		Seed:       s.Seed + uint64(g.colour), // what leaks from one communicator into another shows
		Iterations: total, Launch: s.Launch, Sync: s.Sync}
	plan, err := c.Run.Build(g.shape)
	return c, plan, err
}

// work reckons with rank 0's blocks for every rank.
func work(p *collective.Plan, r *emu.Run) int64 {
	g := p.Size(r.Count, r.DType.Size())
	var steps int64
	for _, b := range p.Rank(0) {
		steps += int64(len(b.Steps))
	}
	const halves = 2
	return halves * steps * int64(p.Ranks) * int64(g.Loops) * int64(g.Slices) * int64(r.Iterations)
}
