package cli

import (
	"errors"
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/topoxml"
	"github.com/railyard/railyard/emu/suggest"
)

// Variables of NCCL that name topology files.
const (
	topoFileEnv = "NCCL_TOPO_FILE"
	topoDumpEnv = "NCCL_TOPO_DUMP_FILE"
)

// topoSettings are the flags about topology files.
func (h *hardware) topoSettings() []setting {
	return []setting{
		{name: "topo-file", arg: "FILE", env: topoFileEnv, usage: "topology file of NCCL or RCCL, or a table of nvidia-smi: what every server is, in place of --system", set: text(&h.topo)},
		{name: "topo-dump-file", arg: "FILE", env: topoDumpEnv, usage: "write the first server as a topology file of NCCL", set: text(&h.dump)},
	}
}

// topology makes the machine of a topology file the system of all nodes. Without
// nodes counted, a file of several machines is a node of each. The variable is
// weaker than a cluster file and than --system.
func (h *hardware) topology(a *App, c *emu.Cluster, given func(string) bool) error {
	flag := given("topo-file")
	switch {
	case h.topo == "":
		return nil
	case !flag && (h.file != "" || given("system")):
		h.notes = append(h.notes, fmt.Sprintf("%s=%s has no effect: --system or --cluster says what servers are; --topo-file is as strong", topoFileEnv, suggest.Clip(h.topo)))
		return nil
	case flag && given("system"):
		return errors.New("--topo-file: the file says what servers are, and so does --system; give one or the other")
	}
	label := topoFileEnv
	if flag {
		label = "--topo-file"
	}
	in, err := a.readMachines(h.topo)
	if err != nil {
		return fmt.Errorf("%s: %w", label, err)
	}
	if len(in.Machines) > 1 {
		if h.file != "" || given("nodes") {
			return fmt.Errorf("%s: %s has %d machines, each of them a node; leave out --nodes and --cluster, or import it and edit the cluster file", label, h.topo, len(in.Machines))
		}
		c.Groups, c.Machines = machineCluster("", in).Groups, in.Machines
		return nil
	}
	m := &in.Machines[0]
	for i := range c.Groups {
		c.Groups[i].System, c.Groups[i].Machine = "", m.Name
	}
	c.Machines = in.Machines
	return nil
}

// dumpTopology writes the first node's machine as NCCL would, if asked to. A
// variable that cannot be followed is noted, a flag refused.
func (h *hardware) dumpTopology(a *App, c *emu.Cluster, given func(string) bool) error {
	if h.dump == "" {
		return nil
	}
	m, err := firstMachine(c)
	if err == nil {
		err = a.WriteFile(h.dump, topoxml.Write(m))
	}
	if err != nil && !given("topo-dump-file") {
		a.complain("coordinator", fmt.Sprintf("note: %s=%s has no effect: %v", topoDumpEnv, suggest.Clip(h.dump), err))
		return nil
	}
	if err != nil {
		return fmt.Errorf("--topo-dump-file: %w", err)
	}
	return nil
}

// firstMachine returns the inside of the first node.
func firstMachine(c *emu.Cluster) (*machine.Machine, error) {
	if len(c.Groups) == 0 {
		return nil, errors.New("the cluster is up already, and its servers are not known here; export the topology where it was started")
	}
	if m, ok := c.Machine(c.Groups[0].Machine); ok {
		return m, nil
	}
	s, err := lookupSystem(c.Groups[0].System)
	m := s.Machine()
	return &m, err
}

// topoArgs are the files of a topo command: what NCCL_TOPO_FILE names when there
// is none.
func (a *App) topoArgs(args []string) []string {
	if file := a.Getenv(topoFileEnv); len(args) == 0 && file != "" {
		return []string{file}
	}
	return args
}
