package emutest

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Builder makes a plan for an operation on the ranks of a shape.
type Builder func(op collective.Op, s collective.Shape, o collective.Options) (*collective.Plan, error)

// Case is a collective to try. The zero value of every field but Count is a
// sensible default.
type Case struct {
	// Build makes the plan. nil: Algorithm names one of the registry.
	Build     Builder
	Algorithm string

	Op      collective.Op
	Options collective.Options // Channels 0 means 1
	DType   collective.DType
	RedOp   collective.RedOp
	// Count is the number of elements of one part of the buffers, as nccl-tests
	// counts: of the whole for an all-reduce, of a rank's share for an
	// all-gather.
	Count int64
	// Headers moves no elements, only their time: for sizes that would not fit.
	Headers bool

	// Cluster is the hardware. Without groups it is Nodes (1) × GPUs (all) of a
	// dgx-h100 with one NIC for each GPU.
	Cluster     emu.Cluster
	Nodes, GPUs int
	// Comm lists, for each rank, the index of its GPU; nil: all, in order.
	Comm []int
	Seed uint64

	// Input writes a rank's input, elements of DType in little-endian order, in
	// place of test data. What it must come to is then for the test to say, by
	// Result.Outputs; that ranks which must agree do, to the bit, is still held.
	Input func(rank int, input []byte)

	// Faults strike the run, at instants from its start; see emu/fault for types,
	// targets and parameters. A fault that waits for an operation or a step has no
	// place here. Bear says how they are borne; its zero value is
	// emu.DefaultResilience.
	Faults []emu.Fault
	Bear   emu.Resilience
}

// fabric returns the hardware of the case.
func (c *Case) fabric() (*fabric.Fabric, error) {
	k := c.Cluster
	if len(k.Groups) == 0 {
		k.Groups = []emu.Group{{Count: cmp.Or(c.Nodes, 1), System: "dgx-h100", GPUs: c.GPUs}}
	}
	return fault.Fabric(k, c.Faults)
}

// schedule returns what the faults of the case do; nil when it has none.
func (c *Case) schedule(f *fabric.Fabric) (*fault.Schedule, emu.Resilience, error) {
	if len(c.Faults) == 0 {
		return nil, emu.Resilience{}, nil
	}
	bear := c.Bear
	if bear == (emu.Resilience{}) {
		bear = emu.DefaultResilience()
	}
	const horizon = shaping.Second // until when faults repeat that do so without end; assumed: longer than a case lasts
	s, err := fault.Compile(f, c.Faults, c.Seed, horizon)
	if err != nil {
		return nil, bear, err
	}
	if len(s.Waiting()) > 0 || len(s.Calls()) > 0 || len(s.Walls()) > 0 {
		return nil, bear, errors.New("faults: a case has one operation, whose calls are all alike; faults that wait for operations, steps or calls need a scenario")
	}
	return s, bear, nil
}

// run returns the run of the case, and its plan.
func (c *Case) run(f *fabric.Fabric, inPlace bool) (emu.Run, *collective.Plan, error) {
	r := emu.Run{Op: c.Op, Algorithm: c.Algorithm, Options: c.Options, Comm: c.Comm, Count: c.Count, DType: c.DType,
		RedOp: c.RedOp, InPlace: inPlace, Seed: c.Seed, Iterations: 2}
	r.Options.Channels = cmp.Or(r.Options.Channels, 1)
	if r.Comm == nil {
		r.Comm = f.All()
	}
	if !c.Headers {
		r.Real = c.Count
	}
	if c.Build != nil {
		p, err := c.Build(c.Op, f.Shape(r.Comm), r.Options)
		if err != nil {
			return r, nil, err
		}
		p.Root = r.Options.Root
		r.Plan, r.Algorithm = p, cmp.Or(p.Algorithm, "built")
	}
	p, err := r.Build(f.Shape(r.Comm))
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w", r.Algorithm, err)
	}
	return r, p, nil
}
