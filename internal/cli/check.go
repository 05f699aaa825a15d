package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// maxRanks is how many ranks test data stay exact for.
const maxRanks = 1 << 17

// parseOp reads the name of an operation: that of nccl-tests' program, with or
// without "_perf".
func parseOp(s string) (collective.Op, error) {
	name := strings.TrimSuffix(s, "_perf")
	ops := names(collective.Ops())
	i := slices.Index(ops, name)
	if i < 0 {
		return 0, fmt.Errorf("operation %s", suggest.Unknown(s, ops))
	}
	return collective.Op(i), nil
}

// The functions below say what is wrong with flags that are fine one by one.

func (c *BenchConfig) checkSizes() error {
	if c.Op == collective.Barrier {
		return nil // it has one size of its own
	}
	if c.MinBytes > c.MaxBytes {
		return fmt.Errorf("-b %v is above -e %v; a sweep goes from -b up to -e, which is 32M unless given",
			shaping.Bytes(c.MinBytes), shaping.Bytes(c.MaxBytes))
	}
	adds := c.StepFactor < 2 && c.MinBytes < c.MaxBytes
	if adds && c.StepBytes == 0 {
		return errors.New("-i 0 never reaches -e; give a step, or a factor with -f")
	}
	if c.StepFactor > 1 && c.MinBytes == 0 && c.MaxBytes > 0 {
		return fmt.Errorf("-b 0 stays 0 however often it is multiplied by -f %d; start above 0, or add with -i", c.StepFactor)
	}
	if _, err := c.Sizes(); err != nil {
		return fmt.Errorf("-b, -e, -f, -i: %w", err)
	}
	return nil
}

// checkRanks needs the cluster: one that is up says for itself what it is.
func (c *BenchConfig) checkRanks() error {
	if c.Connect != "" {
		return nil
	}
	ranks := 0
	e := c.Cluster.Effective(known())
	for _, g := range e.Groups {
		ranks += g.Count * g.GPUs
	}
	if ranks > maxRanks {
		return fmt.Errorf("--nodes: the cluster has %d GPUs; at most %d are allowed", ranks, maxRanks)
	}
	return nil
}

func (c *BenchConfig) checkProcs() error {
	if n := c.Cluster.Nodes(); c.Connect == "" && c.Procs > n {
		return fmt.Errorf("--procs %d must be from 1 to %d, the number of nodes", c.Procs, n)
	}
	return nil
}

// checkConnect refuses flags that would change a cluster that is up already.
func (c *BenchConfig) checkConnect(given func(string) bool) error {
	var errs []error
	for _, f := range append([]string{"procs", "nodesim"}, hardwareFlags...) {
		if given(f) {
			errs = append(errs, fmt.Errorf("--%s: the cluster at %s is up already; leave this out, or leave out --connect", f, c.Connect))
		}
	}
	return errors.Join(errs...)
}

// checkClock refuses what only the paced clock has.
func (c *BenchConfig) checkClock(given func(string) bool) error {
	var errs []error
	for _, f := range []string{"dilation", "compare"} {
		if given(f) && c.Clock != Paced {
			errs = append(errs, fmt.Errorf("--%s: only the paced clock has it; leave it out, or add --clock paced", f))
		}
	}
	return errors.Join(errs...)
}

// checkPredict refuses what only real processes have.
func (c *BenchConfig) checkPredict(given func(string) bool) error {
	var errs []error
	for _, f := range []string{"connect", "procs", "nodesim", "payload-budget"} {
		if given(f) {
			errs = append(errs, fmt.Errorf("--%s: predict runs in one process and moves no payload; leave it out, or use bench", f))
		}
	}
	if given("clock") && c.Clock == Paced {
		errs = append(errs, errors.New("--clock paced: predict computes; leave it out, or use bench"))
	}
	if given("payload") && c.Payload != "none" {
		errs = append(errs, fmt.Errorf("--payload %s: predict moves no payload; leave it out, or use bench", c.Payload))
	}
	return errors.Join(errs...)
}
