package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// Setup is a scenario made concrete: what an executor needs.
type Setup struct {
	Scenario emu.Scenario
	Fabric   *fabric.Fabric
	// Schedule is nil where there are no faults.
	Schedule *fault.Schedule
	Bear     emu.Resilience
}

// Horizon is until when faults repeat that say no end (assumed: longer than any run
// of interest, and short enough for calendars).
const Horizon = 10 * shaping.Second

// Faults is what a loader needs to know of faults.
func Faults() emu.KnownFaults {
	return emu.KnownFaults{Type: typeOf, Set: fault.Set, Words: fault.Words, Check: Check}
}

func typeOf(word string) (string, error) {
	k, err := fault.Lookup(word)
	if err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "type: "))
	}
	return k.Word, nil
}

// Check returns what is wrong with a scenario that was read, all at once: values of
// type *emu.Problem.
func Check(s *emu.Scenario) error {
	_, err := Prepare(*s)
	return err
}

// Prepare makes a scenario concrete, without the instants for which some faults
// wait (Schedule.Waiting): emu/rehearse finds those. The error joins values of type
// *emu.Problem.
func Prepare(s emu.Scenario) (*Setup, error) {
	u := &Setup{Scenario: s, Bear: s.Resilience}
	u.Bear.Failover = u.Bear.Failover || s.Failovers()
	f, err := fault.Fabric(s.Cluster, s.Faults)
	if err != nil {
		return nil, errors.Join(problem("spec.cluster", "%v", err))
	}
	u.Fabric = f
	var errs []error
	if len(s.Faults) > 0 {
		if u.Schedule, err = fault.Compile(f, s.Faults, s.Cluster.Seed, Horizon); err != nil {
			errs = append(errs, faultProblems(err)...)
		}
	}
	errs = append(errs, u.checkPhases()...)
	errs = append(errs, u.checkFaults()...)
	errs = append(errs, u.checkExpect()...)
	return u, errors.Join(errs...)
}

// YAML returns the scenario as a file, with every default of the cluster filled in and
// the instants that rehearsals found: run again it gives the same.
func (u *Setup) YAML() []byte {
	s := u.Scenario
	s.Cluster = u.Fabric.Cluster
	return s.YAML(fault.Words)
}

func problem(field, format string, args ...any) error {
	return &emu.Problem{Field: field, Reason: fmt.Sprintf(format, args...)}
}

// faultProblems makes problems of what the compiler of faults says, which begins
// with the fault and its field: "faults[1] (name).target: …".
func faultProblems(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{problem("spec.faults", "%v", err)}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		where, why, _ := strings.Cut(e.Error(), ": ")
		head, _, _ := strings.Cut(where, " (")
		field := where[strings.LastIndex(where, ".")+1:]
		all = append(all, problem("spec."+strings.TrimSuffix(head, "."+field)+"."+field, "%s", why))
	}
	return all
}

// field names a call as in the file.
func (u *Setup) field(phase, call int) string {
	f := fmt.Sprintf("spec.run[%d]", phase)
	if len(u.Scenario.Phases[phase].Calls) > 1 {
		f += fmt.Sprintf(".together[%d]", call)
	}
	return f
}

func (u *Setup) checkPhases() []error {
	var errs []error
	for pi := range u.Scenario.Phases {
		p := &u.Scenario.Phases[pi]
		for ci := range p.Calls {
			c := &p.Calls[ci]
			field := u.field(pi, ci)
			if i := slices.IndexFunc(c.Ranks, func(g int) bool { return g >= u.Fabric.GPUs() }); i >= 0 {
				errs = append(errs, problem(field+".ranks", "GPU %d: the cluster has GPUs 0 to %d", c.Ranks[i], u.Fabric.GPUs()-1))
			} else if _, err := u.build(c, u.comm(c, nil)); err != nil {
				errs = append(errs, problem(field, "%s", plain(err)))
			}
			if p.OnFailure == emu.Shrink && sweep.Rooted(c.Op) {
				errs = append(errs, problem(field+".onFailure", "shrink: %s has a root, which may be the rank that is lost; use retry or abort", c.Op))
			}
		}
	}
	return errs
}

// plain says in words of a scenario what is said of flags.
func plain(err error) string {
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), "--"), " --", " ")
}

// checkFaults reports faults that mean operations which there are not.
func (u *Setup) checkFaults() []error {
	total := 0
	for i := range u.Scenario.Phases {
		total += u.Scenario.Phases[i].Operations()
	}
	var errs []error
	for i := range u.Scenario.Faults {
		f := &u.Scenario.Faults[i]
		field := fmt.Sprintf("spec.faults[%d]", i)
		if f.When.AfterOps > total || f.When.AfterOps == total && callsWrong(f.Type) {
			errs = append(errs, problem(field+".after", "%d: there are %d operations in all, every iteration counted", f.When.AfterOps, total))
		}
		if s := f.When.Step; s != nil && s.Op >= total {
			errs = append(errs, problem(field+".step.op", "%d: there are operations 0 to %d, every iteration counted", s.Op, total-1))
		}
		errs = append(errs, u.checkFlip(field, f)...)
		if f.Type == "coordinator-crash" {
			errs = append(errs, problem(field+".type", "%s: it would end this very run; try it by hand", f.Type))
		}
	}
	return errs
}

// checkFlip reports a bit that no result of any call has. What a NIC sends is counted
// round the message that is struck.
func (u *Setup) checkFlip(field string, f *emu.Fault) (errs []error) {
	if f.Type != "bitflip" || strings.Contains(f.Target, "nic") || strings.Contains(f.Target, "rail") {
		return nil
	}
	var elements int64
	bits := 0
	for pi := range u.Scenario.Phases {
		for ci := range u.Scenario.Phases[pi].Calls {
			c := &u.Scenario.Phases[pi].Calls[ci]
			made, err := u.build(c, u.comm(c, nil))
			if err != nil {
				return nil // checkPhases says so
			}
			_, out := c.Op.Parts(len(made.Run.Comm))
			elements = max(elements, made.Run.Count*int64(out))
			bits = max(bits, 8*int(c.DType.Size()))
		}
	}
	if f.Element >= elements && elements > 0 {
		errs = append(errs, problem(field+".element", "%d: the longest result has elements 0 to %d", f.Element, elements-1))
	}
	if f.Bit >= bits {
		errs = append(errs, problem(field+".bit", "%d: the widest element has bits 0 to %d", f.Bit, bits-1))
	}
	return errs
}

// callsWrong reports whether a type strikes calls, not parts.
func callsWrong(word string) bool {
	switch word {
	case "skip", "reorder", "mismatch", "slow-start":
		return true
	}
	return false
}

func (u *Setup) checkExpect() []error {
	var errs []error
	for i, e := range u.Scenario.Expect {
		if e.Detect == "" {
			continue
		}
		n := -1
		if _, err := fmt.Sscanf(e.Detect, "node%d", &n); err != nil || n < 0 || n >= u.Fabric.Nodes() || fmt.Sprintf("node%d", n) != e.Detect {
			errs = append(errs, problem(fmt.Sprintf("spec.expect[%d].detect", i), "%q must be a node, node0 to node%d", e.Detect, u.Fabric.Nodes()-1))
		}
	}
	return errs
}

// comm returns the GPUs of a call's communicator, without those that are lost.
func (u *Setup) comm(c *emu.Call, lost map[int]bool) []int {
	all := c.Ranks
	if len(all) == 0 {
		all = u.Fabric.All()
	}
	var comm []int
	for _, g := range all {
		if !lost[g] {
			comm = append(comm, g)
		}
	}
	return comm
}

// Budget is the memory that the buffers of a call may take together; beyond it a
// scale model is moved.
const Budget = 256 << 20

// build returns what a call is on a communicator, as bench would run it.
func (u *Setup) build(c *emu.Call, comm []int) (*sweep.Case, error) {
	spec := sweep.Spec{Op: c.Op, MinBytes: int64(c.Bytes), MaxBytes: int64(c.Bytes), Iterations: c.Iterations, Check: true,
		RedOps: []collective.RedOp{c.RedOp}, DTypes: []collective.DType{c.DType}, Root: c.Root, Order: comm,
		Algorithm: sweep.Auto, AutoProtocol: true, Channels: c.Channels, Budget: Budget, Launch: sweep.LaunchPerGPU, Seed: u.Scenario.Cluster.Seed}
	if c.Algorithm != "" {
		spec.Algorithm = c.Algorithm
	}
	if c.Protocol != "" {
		p, err := collective.ParseProtocol(c.Protocol)
		if err != nil {
			return nil, err
		}
		spec.Protocol, spec.AutoProtocol = p, false
	}
	sw, err := sweep.New(u.Fabric, spec)
	if err != nil {
		return nil, err
	}
	if len(sw.Cases) != 1 {
		return nil, fmt.Errorf("%s makes %d cases of one size", c.Op, len(sw.Cases))
	}
	return &sw.Cases[0], nil
}
