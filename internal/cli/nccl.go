package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/suggest"
)

const (
	maxCount  = 1 << 30 // of anything that is counted
	maxFactor = 1 << 20
)

// nccl returns the flags of nccl-tests that mean here what they mean there.
func (c *BenchConfig) nccl() []setting {
	return []setting{
		{name: "minbytes", short: "b", arg: "SIZE", def: "32M", usage: "first size of the sweep", set: size(&c.MinBytes)},
		{name: "maxbytes", short: "e", arg: "SIZE", def: "32M", usage: "last size of the sweep", set: size(&c.MaxBytes)},
		{name: "stepfactor", short: "f", arg: "N", def: "1", usage: "each size is N times the one before; 1 adds -i instead", set: whole(&c.StepFactor, 0, maxFactor)},
		{name: "stepbytes", short: "i", arg: "SIZE", def: "1M", usage: "what is added from size to size", set: size(&c.StepBytes)},
		{name: "iters", short: "n", arg: "N", def: "20", usage: "iterations; as emulated time is exact, no more are run than its steady state needs", set: whole(&c.Iterations, 1, maxCount)},
		{name: "warmup_iters", short: "w", arg: "N", def: "1", usage: "iterations that are not timed", set: whole(&c.Warmup, 0, maxCount)},
		{name: "check", short: "c", arg: "N", def: "1", usage: "0 does not check results", set: whole(&c.Check, 0, maxCount)},
		{name: "op", short: "o", arg: "OP", def: "sum", values: append(names(collective.RedOps()), "all"), usage: "reduction: " + offered(ncclRedOps), set: c.setRedOps},
		{name: "datatype", short: "d", arg: "TYPE", def: "float", values: append(names(collective.DTypes()), "all"), usage: "element type: " + offered(ncclDTypes), set: c.setDTypes},
		{name: "root", short: "r", arg: "RANK", def: "0", usage: "root rank, counted in its communicator; -1 or all runs every one", set: c.setRoot},
		{name: "blocking", short: "z", arg: "0|1", def: "0", usage: "1 waits for each iteration before the next", set: c.setBlocking},
		{name: "output_file", short: "J", arg: "FILE", usage: "write JSON there too", set: text(&c.JSON)},
		{name: "timeout", short: "T", arg: "TIME", def: "0", usage: "give up after this much wall time: seconds, or 90s, 5m; 0 never", set: c.setTimeout},
		{name: "ngpus", short: "g", arg: "N", def: "1", usage: "GPUs a process: the first N of each server, unless --gpus-per-node, --ranks, --hostfile or --split says which; above 1 implies --launch per-node", set: whole(&c.GPUs, 1, maxCount)},
		{name: "nthreads", short: "t", arg: "N", def: "1", usage: "threads a process, each with the GPUs of -g", set: whole(&c.Threads, 1, maxCount)},
	}
}

// ignorable is a flag of nccl-tests that asks for nothing an emulator has.
// Command lines that carry it must work; a value other than the default is
// answered once.
type ignorable struct {
	name, short, def, why string
}

var ignorables = []ignorable{
	{"agg_iters", "m", "1", "iterations are not aggregated"},
	{"run_cycles", "N", "1", "every cycle would print the same rows"},
	{"parallel_init", "p", "0", "there are no communicators to initialise"},
	{"stream_null", "y", "0", "there are no CUDA streams"},
	{"cudagraph", "G", "0", "there are no CUDA graphs"},
	{"report_cputime", "C", "0", "emulated time is all there is"},
	{"local_register", "R", "0", "buffers are not registered"},
	{"average", "a", "1", "times are averaged over ranks"},
	{"per_iter_timing", "I", "0", "iterations in the steady state are all alike"},
	{"per_iter_skip", "K", "0", "iterations in the steady state are all alike"},
	{"memory", "M", "0", "no GPU memory is used"},
	{"memory_report", "", "0", "no GPU memory is used"}, // as nccl-tests' help calls -M
	{"unalign", "u", "0", "alignment costs nothing here"},
	{"report_timestamps", "S", "0", "rows carry no wall time"},
	{"cta_policy", "x", "-1", "NCCL's default policy is modelled"},
	{"device_implementation", "D", "0", "NCCL's own kernels are modelled"},
	{"device_cta_count", "V", "16", "NCCL's own kernels are modelled"},
}

// ignored returns those flags. What they say goes to notes, and into the
// header where it shows them.
func (c *BenchConfig) ignored(notes *[]string) []setting {
	shown := map[string]*int{"m": &c.Aggregated, "G": &c.Graph}
	var all []setting
	for _, i := range ignorables {
		s := setting{name: i.name, short: i.short, arg: "N", def: i.def, usage: "accepted: " + i.why, idle: true}
		s.set = func(value string) error {
			v, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("%q must be a whole number", suggest.Clip(value))
			}
			if to := shown[i.short]; to != nil {
				*to = v
			}
			if value != i.def {
				*notes = append(*notes, fmt.Sprintf("%s %d has no effect: %s", s.label(), v, i.why))
			}
			return nil
		}
		all = append(all, s)
	}
	return all
}

// Types and reductions in the order in which nccl-tests runs all of them, which
// is that of nccl.h.
var (
	ncclDTypes = []collective.DType{collective.Int8, collective.Uint8, collective.Int32, collective.Uint32, collective.Int64,
		collective.Uint64, collective.Float16, collective.Float32, collective.Float64, collective.BFloat16,
		collective.Float8E4M3, collective.Float8E5M2}
	ncclRedOps = []collective.RedOp{collective.Sum, collective.Prod, collective.Max, collective.Min, collective.Avg, collective.MulSum}
)

func (c *BenchConfig) setRedOps(s string) (err error) {
	c.RedOps, err = pick(s, ncclRedOps, collective.ParseRedOp)
	return err
}

func (c *BenchConfig) setDTypes(s string) (err error) {
	c.DTypes, err = pick(s, ncclDTypes, collective.ParseDType)
	return err
}

// offered names the types or reductions for help.
func offered[K fmt.Stringer](all []K) string {
	return strings.Join(names(all), ", ") + " or all"
}

// pick reads the name of one type or reduction, or "all" for every one.
func pick[K fmt.Stringer](s string, all []K, parse func(string) (K, error)) ([]K, error) {
	if s == "all" {
		return slices.Clone(all), nil
	}
	k, err := parse(s)
	if err != nil {
		return nil, errors.New(suggest.Unknown(s, append(names(all), "all")))
	}
	return []K{k}, nil
}

func names[K fmt.Stringer](all []K) []string {
	out := make([]string, len(all))
	for i, k := range all {
		out[i] = k.String()
	}
	return out
}

func (c *BenchConfig) setRoot(s string) error {
	if s == "all" {
		s = "-1"
	}
	if err := whole(&c.Root, -1, maxCount)(s); err != nil {
		return fmt.Errorf("%w; -1 or all runs every rank", err)
	}
	if c.AllRoots = c.Root < 0; c.AllRoots {
		c.Root = 0
	}
	return nil
}

func (c *BenchConfig) setBlocking(s string) error {
	switch s {
	case "0", "1":
		c.Blocking = s == "1"
		return nil
	case "2", "3":
		return notYet(s)
	default:
		return fmt.Errorf("%q must be 0 or 1", suggest.Clip(s))
	}
}

// setTimeout reads seconds, as nccl-tests does, or a duration with its unit.
func (c *BenchConfig) setTimeout(s string) error {
	if _, err := strconv.Atoi(s); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q must be seconds, or a time such as 90s or 5m", suggest.Clip(s))
	}
	c.Timeout = d
	return nil
}
