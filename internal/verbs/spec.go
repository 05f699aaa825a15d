package verbs

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/wire"
)

// modes are the payload modes by their names on the command line.
var modes = map[string]sweep.Payload{
	"auto": sweep.PayloadAuto, "full": sweep.PayloadFull, "scaled": sweep.PayloadScaled, "none": sweep.PayloadNone,
}

// spec returns the sweep that a command line asks for on a cluster.
func spec(c *cli.BenchConfig, f *fabric.Fabric) (sweep.Spec, error) {
	s := sweep.Spec{
		Op: c.Op, MinBytes: c.MinBytes, MaxBytes: c.MaxBytes, Factor: c.StepFactor, StepBytes: c.StepBytes,
		Iterations: c.Iterations, Warmup: c.Warmup, Check: c.Check > 0, RedOps: c.RedOps, DTypes: c.DTypes,
		Root: c.Root, AllRoots: c.AllRoots, Split: c.Split, Sync: c.Blocking, Algorithm: c.Algo, AutoProtocol: c.Proto == cli.Auto,
		Channels: c.Channels, Slices: c.Slices, Payload: modes[c.Payload], Budget: int64(c.PayloadBudget),
		Launch: c.LaunchEvery, Seed: c.Seed,
	}
	s.Paced, s.Dilation = c.Clock == cli.Paced, c.Dilation
	s.Tuning = c.Tuning
	s.AlgorithmBy, s.ProtocolBy = c.AlgoBy, c.ProtoBy
	var several error
	if s.Protocol, several = collective.ParseProtocol(c.Proto); several != nil { // the tuner chooses, among all or some
		s.AutoProtocol = true
		if c.Proto != cli.Auto {
			s.Tuning.Protocols = c.Proto
		}
	}
	var err error
	if s.Order, err = c.Placement.Order(f); err != nil {
		return s, wire.Failf(wire.Config, "%s: %v", c.PlacedBy, err)
	}
	if c.Plan != nil {
		s.UsePlan(c.Plan.Plan, c.Plan.Text, c.Plan.Layouts)
	}
	return s, nil
}
