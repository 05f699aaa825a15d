package cli

import (
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// Paced is the clock that goes by wall time.
const Paced = "paced"

var (
	clocks   = []string{"virtual", Paced}
	payloads = []string{Auto, "full", "scaled", "none"}
)

// own returns the flags that nccl-tests does not have.
func (c *BenchConfig) own() []setting {
	return []setting{
		{name: "algo", arg: "NAMES", def: Auto, env: "NCCL_ALGO", values: algos(), usage: "algorithm: " + strings.Join(algos(), ", ") + `; a list, "^" and all but these, or "allreduce:tree;broadcast:ring" (also NCCL_ALGO)`, set: c.setAlgo},
		{name: "proto", arg: "NAMES", def: Auto, env: "NCCL_PROTO", values: protos(), usage: "protocol: " + strings.Join(protos(), ", ") + "; lists as for --algo (also NCCL_PROTO)", set: c.setProto},
		{name: "channels", arg: "N", usage: "lanes of the algorithm (default the system's)", set: whole(&c.Channels, 1, 64)}, // MAXCHANNELS of NCCL 2.25 and later
		{name: "slices", arg: "N", usage: "slices a chunk: 1, 2 or 4 (default the algorithm's own)", set: c.setSlices},
		{name: "nccl", arg: "VERSION", def: newestNCCL, usage: "NCCL version whose tuner auto follows: 2.18 to 2.30", set: c.setNCCL},
		{name: "profile", arg: "SYSTEM", values: append(profileNames(), catalog.Clouds()...), usage: "take the NCCL variables that this system's environment sets, below those of the process; aws, gcp: those of the cloud's instance with such GPUs; none (default the system's own; systems NAME shows them)", set: choice(&c.Profile, append(profileNames(), catalog.Clouds()...), nil)},
		{name: "clock", arg: "CLOCK", def: "virtual", values: clocks, usage: "who advances time: virtual computes it, paced goes by the wall clock", set: choice(&c.Clock, clocks, nil)},
		{name: "dilation", arg: "N", usage: "with --clock paced, how many times slower than the hardware (default auto: the least that keeps the times)", set: c.setDilation},
		{name: "compare", usage: "with --clock paced, print what predict says as well", set: toggle(&c.Compare)},
		{name: "strict", usage: "exit with 2 when the times can't be trusted", set: toggle(&c.Strict)},
		{name: "payload", arg: "HOW", def: Auto, values: payloads, usage: "real elements: full, scaled, none, or auto: full while it fits", set: choice(&c.Payload, payloads, nil)},
		{name: "payload-budget", arg: "SIZE", def: "1G", usage: "memory that the cluster's buffers may take with --payload auto", set: c.setBudget},
		{name: "launch", arg: "HOW", def: "per-gpu", values: launchNames(), usage: "who issues iterations: a process per-gpu, per-node, or torch", set: c.setLaunch},
		{name: "procs", arg: "N", usage: "processes to spread the nodes over (default one a node)", set: whole(&c.Procs, 1, maxCount)},
		{name: "timeline", arg: "FILE", usage: "write what happened: one JSON record a line", set: text(&c.Timeline)},
		{name: "trace", arg: "FILE", usage: "write what happened as a Chrome trace, which Perfetto opens", set: text(&c.Trace)},
		{name: "connect", arg: "ADDR", usage: "use the cluster of a coordinator that is up", set: address(&c.Connect)},
		{name: "nodesim", arg: "PATH", usage: "the nodesim binary (default beside this one, then on PATH)", set: text(&c.Nodesim)},
		{name: "plan", arg: "FILE", usage: "run this MSCCL plan in place of an algorithm", set: text(&c.PlanFile)},
		{name: "explain", usage: "after the table, say what was considered for each size, with NCCL's estimates, and what was chosen", set: toggle(&c.Explain)},
		{name: "print-effective", usage: "print what defaults, environment, file and flags add up to, and run nothing", set: toggle(&c.PrintEffective)},
	}
}

func launchNames() []string {
	var all []string
	for _, l := range launches {
		all = append(all, l.name)
	}
	return all
}

func (c *BenchConfig) setSlices(s string) error {
	if !slices.Contains([]string{"1", "2", "4"}, s) {
		return fmt.Errorf("%q must be 1, 2 or 4", suggest.Clip(s))
	}
	c.Slices = int(s[0] - '0')
	return nil
}

func (c *BenchConfig) setDilation(s string) error {
	if strings.EqualFold(s, Auto) {
		c.Dilation = 0
		return nil
	}
	if err := whole(&c.Dilation, 1, pace.MaxDilation)(s); err != nil {
		return fmt.Errorf("%w, or auto", err)
	}
	return nil
}

func (c *BenchConfig) setBudget(s string) error {
	b, err := shaping.ParseBytes(s)
	c.PayloadBudget = b
	return err
}

func (c *BenchConfig) setLaunch(s string) error {
	for _, l := range launches {
		if l.name == strings.ToLower(s) {
			c.issue(l)
			return nil
		}
	}
	return errors.New(suggest.Unknown(s, launchNames()))
}

func (c *BenchConfig) issue(l launch) { c.Launch, c.LaunchEvery = l.name, l.every }

// address reads host:port. Whether somebody listens there is seen later.
func address(to *string) func(string) error {
	return func(s string) error {
		_, port, err := net.SplitHostPort(s)
		switch {
		case err != nil && strings.Count(s, ":") > 1:
			return fmt.Errorf("%q must be HOST:PORT, an IPv6 address in brackets: [::1]:80", suggest.Clip(s))
		case err != nil:
			return fmt.Errorf("%q must be HOST:PORT", suggest.Clip(s))
		}
		if p, err := strconv.ParseUint(port, 10, 16); err != nil || fmt.Sprint(p) != port {
			return fmt.Errorf("%q must end in a port from 0 to %d", suggest.Clip(s), math.MaxUint16)
		}
		*to = s
		return nil
	}
}

// gigabytes reads a bandwidth in GB/s as nccl-tests takes it: a bare number.
func gigabytes(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("%q must be a number of GB/s", suggest.Clip(s))
	}
	return v, nil
}
