package sweep

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
)

// Case is one line of the table before it is run.
type Case struct {
	Size   int64 // bytes, as printed
	Count  int64 // elements, as printed
	DType  collective.DType
	RedOp  collective.RedOp
	Chosen tuner.Estimate // algorithm and protocol; Time is the model's, 0 where it has none
	// Candidates are all that were considered, Chosen among them, in the order in
	// which NCCL compares them.
	Candidates []tuner.Estimate
	chunk      int64 // bytes that cap the plan's chunk; 0: none
	// Channels in use; Payload as resolved.
	Channels int
	Payload  Payload
	// Warmup iterations come before the timed ones of Run.Iterations.
	Warmup int
	Run    emu.Run // out of place, offset not set
}

// How many iterations a steady state needs. Emulated time is exact, so an
// iteration that begins where a like one has left ranks and ports is like it.
// Inside a server, and for messages that fill the links, the second one does;
// small messages between servers may alternate between two periods, or settle
// only after some, and cost little: emu/predict's steady_test says how far off
// a cell is left.
const (
	smallMessage = 1 << 20 // bytes

	smallWarmup, smallTimed = 2, 4
	largeWarmup, largeTimed = 1, 1
)

// iterations returns how many iterations are really run at a size, and how many
// of those warm up: what a steady state needs, but none where none is asked for.
func (s *Spec) iterations(bytes int64) (warmup, total int) {
	warmup, timed := largeWarmup, largeTimed
	if bytes <= smallMessage {
		warmup, timed = smallWarmup, smallTimed
	}
	if s.Warmup == 0 {
		warmup = 0
	}
	return warmup, warmup + max(1, min(s.Iterations, timed))
}

// cases returns every line of the table, in order: types, then reductions,
// then sizes.
func cases(f *fabric.Fabric, s *Spec) ([]Case, error) {
	comm := f.All()
	sizes, err := s.Sizes()
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, d := range s.DTypes {
		for _, op := range s.redOps() {
			for _, size := range sizes {
				c, err := s.build(f, comm, size, d, op)
				if err != nil {
					return nil, err
				}
				all = append(all, c)
			}
		}
	}
	return all, nil
}

// redOps returns the reductions to run; an operation that reduces nothing runs
// once.
func (s *Spec) redOps() []collective.RedOp {
	if !s.Op.Reduces() {
		return []collective.RedOp{collective.Sum}
	}
	return s.RedOps
}

func (s *Spec) build(f *fabric.Fabric, comm []int, size int64, d collective.DType, op collective.RedOp) (Case, error) {
	count, bytes := Message(s.Op, size, d.Size(), len(comm))
	c := Case{Size: bytes, Count: count, DType: d, RedOp: op}
	if err := s.choose(f, f.Shape(comm), bytes, &c); err != nil {
		return c, err
	}
	warmup, total := s.iterations(bytes)
	c.Warmup = warmup
	c.Run = emu.Run{Op: s.Op, Algorithm: c.Chosen.Algorithm, Comm: comm, Count: count, DType: d, RedOp: op,
		Options: s.options(&c, s.Root),
		Seed:    s.Seed, Iterations: total, Launch: s.Launch, Sync: s.Sync}
	plan, err := c.Run.Build(f.Shape(comm))
	if err != nil {
		return c, err
	}
	c.Payload = choosePayload(s.Payload, s.Budget, plan, &c.Run)
	return c, nil
}
