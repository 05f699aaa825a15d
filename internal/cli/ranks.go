package cli

import (
	"errors"
	"fmt"

	"github.com/railyard/railyard/emu/sweep"
)

// ranks are the flags that say where ranks are and which communicators they
// form: those of mpirun, and the variables of nccl-tests.
type ranks struct {
	gpus   []int
	hosts  string // file
	byNode string
	split  sweep.Split
}

// The ways of --map-by, as mpirun calls them.
var mappings = []string{"slot", "node"}

func (r *ranks) settings() []setting {
	return []setting{
		{name: "split", arg: "HOW", env: "NCCL_TESTS_SPLIT", usage: "make communicators that run at once of processes with the same AND, OR, MOD or DIV, such as \"MOD 8\" or \"&0x7\" (also NCCL_TESTS_SPLIT, NCCL_TESTS_SPLIT_MASK)", set: r.setSplit},
		{name: "ranks", arg: "LIST", usage: "the GPU of each rank, such as 3,1,2,0 or 8-15,0-7 (default all in order)", set: r.setGPUs},
		{name: "hostfile", arg: "FILE", usage: "nodes in the order of ranks, as mpirun reads them: node1 slots=4", set: text(&r.hosts)},
		{name: "map-by", arg: "HOW", values: mappings, usage: "fill a node before the next (slot), or deal ranks to the nodes in turn (node)", set: choice(&r.byNode, mappings, nil)},
	}
}

func (r *ranks) setSplit(s string) (err error) {
	r.split, err = sweep.ParseSplit(s)
	return err
}

func (r *ranks) setGPUs(s string) (err error) {
	r.gpus, err = sweep.ParseGPUs(s)
	return err
}

// onePerServer says that GPUs of a server stay idle, as a process a server has
// fewer: whoever has mpirun start more of them may not expect it.
func (l *benchLine) onePerServer() {
	c := &l.config
	for _, g := range c.Cluster.Effective(known()).Groups {
		if n := c.Placement.Each; n > 0 && n < g.GPUs {
			l.notes = append(l.notes, fmt.Sprintf("-g %d -t %d: one process a server, so that %d of its %d GPUs take part; "+
				"--gpus-per-node %d takes all, by as many processes as it needs", c.GPUs, c.Threads, n, g.GPUs, g.GPUs))
			return
		}
	}
}

// place fills in the config. The mask is stronger than NCCL_TESTS_SPLIT, as in
// nccl-tests, and weaker than the flag.
func (r *ranks) place(a *App, l *benchLine) error {
	const mask = "NCCL_TESTS_SPLIT_MASK"
	c := &l.config
	c.Split = r.split
	var errs []error
	if v := a.Getenv(mask); v != "" && !l.given("split") {
		var err error
		if c.Split, err = sweep.ParseSplitMask(v); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", mask, err))
		}
		c.Env = append(c.Env, mask+"="+v)
		l.sources["split"] = source{c.Split.String(), mask}
	}
	process := min(max(c.GPUs, 1), maxRanks) * min(max(c.Threads, 1), maxRanks)
	process = min(process, maxRanks) // more are all there are, too
	if c.Split.Op != sweep.Whole {
		c.Split.Ranks = process
	}
	if r.gpus != nil && (r.hosts != "" || r.byNode != "") {
		errs = append(errs, errors.New("--ranks names every GPU; leave out --hostfile and --map-by"))
	}
	c.Placement = sweep.Placement{GPUs: r.gpus, ByNode: r.byNode == "node"}
	c.PlacedBy = "--ranks"
	if r.gpus == nil && r.hosts == "" && c.Split.Op == sweep.Whole && !l.given("gpus-per-node") && process > 1 {
		c.Placement.Each, c.PlacedBy = process, "-g and -t"
	}
	if r.hosts == "" {
		return errors.Join(errs...)
	}
	c.PlacedBy = "--hostfile"
	data, err := a.ReadFile(r.hosts)
	if err == nil {
		c.Placement.Hosts, err = sweep.ParseHosts(r.hosts, data)
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("--hostfile: %w", err))
	}
	return errors.Join(errs...)
}
