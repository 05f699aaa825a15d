package smi

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu/machine"
)

// remarks notes what the table does not tell.
func (t *table) remarks(m *machine.Machine) {
	t.remarkNumbers()
	t.remarkRows()
	t.remarkLinks(m)
	t.remarkAffinity(m)
	t.say(machine.Assumed, "bridges", "bus ids, bridges and host bridges are made up, so that distances are those of the table")
	t.say(machine.Missing, "rates", "PCIe generation and lanes, GPU models, speeds of NICs and of NVLinks are not in the table")
}

// remarkNumbers names GPUs that the numbers leave out, as when one has fallen off
// the bus: in the machine they count on without it.
func (t *table) remarkNumbers() {
	var lost []string
	next, moved := 0, ""
	for i, label := range t.labels[:t.gpus] {
		n, _ := isGPU(label)
		for ; next < n && len(lost) < maxRows; next++ {
			lost = append(lost, fmt.Sprintf("GPU%d", next))
		}
		if next = n + 1; n != i && moved == "" {
			moved = fmt.Sprintf("%s is gpu%d here", label, i)
		}
	}
	if lost != nil {
		t.say(machine.Missing, some(lost), "no column: the numbers leave it out; %s", moved)
	}
}

func (t *table) remarkRows() {
	var missing []string
	for i, label := range t.labels {
		if !t.rows[i] {
			missing = append(missing, label)
		}
	}
	if missing != nil {
		t.say(machine.Missing, some(missing), "no row; what other rows say is taken")
	}
	n, first := 0, ""
	for i, label := range t.labels {
		for j := range i {
			if t.cells[i][j].known {
				continue
			}
			if n++; n == 1 {
				first = t.labels[j] + "-" + label
			}
		}
	}
	if n > 0 {
		t.say(machine.Assumed, fmt.Sprintf("%d cells (%s first)", n, first), "not said: deduced from the others, and SYS where nothing follows from them")
	}
}

func (t *table) remarkLinks(m *machine.Machine) {
	if t.report {
		t.say(machine.Assumed, "GPUs", "the report names no model; taken as %s, change arch in the cluster file", amdArch)
	}
	most := 0
	for i := range t.gpus {
		most = max(most, t.most(i))
	}
	switch {
	case t.gpus < 2:
		return
	case most == 0 && t.report:
		t.say(machine.Missing, "nvlinks", "XGMI joins no two GPUs; they reach each other over PCIe")
		return
	case most == 0:
		t.say(machine.Missing, "nvlinks", "the table shows none; nvidia-smi topo -mp never does, so that is no proof unless topo -m printed it")
		return
	case t.report:
		t.say(machine.Assumed, "nvlinks", "one XGMI link joins each pair of the least weight: the report does not count them")
	}
	t.say(machine.Assumed, "GPUs", "what lies between two on PCIe is not said where NVLink joins them: NODE on one NUMA node, else SYS, unless NICs tell more")
	if len(m.Planes) == 0 {
		t.remarkMesh()
		return
	}
	t.say(machine.Assumed, "nvlinks", "more than a GPU could share out between its peers, so switched; the number of switches is not said")
	for i := range t.gpus {
		switch n := t.most(i); {
		case n == 0:
			t.say(machine.Odd, t.labels[i], "has no NVLink, while others have %d: its record may be incomplete, or its links down", most)
		case n < most:
			t.say(machine.Odd, t.labels[i], "has %d NVLinks, while others have %d: some may be down", n, most)
		}
	}
}

// remarkMesh names GPUs that have fewer links from point to point than others.
func (t *table) remarkMesh() {
	if t.gpus == 2 && !t.report {
		t.say(machine.Assumed, "nvlinks", "taken as point to point; two GPUs on a switch look the same")
	}
	most := 0
	for i := range t.gpus {
		most = max(most, t.sum(i))
	}
	for i := range t.gpus {
		silent := slices.ContainsFunc(t.cells[i][:t.gpus], func(c cell) bool { return !c.known })
		switch n := t.sum(i); {
		case n == 0:
			t.say(machine.Odd, t.labels[i], "has no NVLink, while others have: its record may be incomplete, or its links down")
		case n < most && !silent:
			t.say(machine.Odd, t.labels[i], "has %d NVLinks, while others have up to %d: some may be down, or lead to GPUs that are not in the table", n, most)
		}
	}
}

// remarkAffinity names GPUs whose column and cells disagree, and those that
// have none.
func (t *table) remarkAffinity(m *machine.Machine) {
	var silent []string
	parts := map[string][]string{} // NUMA node to the first GPU of each place that claims it
	seen := map[[2]string]bool{}
	var nodes []string
	for i := range t.gpus {
		a, n := t.of[i], m.NUMAOf(m.GPUs[i].At)
		if a.nodes == "" && a.cpus == "" {
			silent = append(silent, t.labels[i])
			continue
		}
		if said := m.NUMA[n].Nodes; said != a.nodes {
			t.say(machine.Odd, t.labels[i], "NUMA affinity %s, but as near as a device of %s; taken as there", orNone(a.nodes), orNone(said))
			continue
		}
		key := [2]string{a.nodes, machine.OnNUMA(n).String()}
		if a.nodes != "" && !seen[key] {
			seen[key] = true
			if parts[a.nodes] == nil {
				nodes = append(nodes, a.nodes)
			}
			parts[a.nodes] = append(parts[a.nodes], t.labels[i])
		}
	}
	for _, n := range nodes {
		if len(parts[n]) > 1 {
			t.say(machine.Odd, "NUMA "+n, "%s claim it, but cells put them or their NICs SYS apart; the cells count (a virtual machine may hide the real tree)", some(parts[n]))
		}
	}
	if silent != nil {
		t.say(machine.Missing, some(silent), "no CPU or NUMA affinity")
	}
	t.remarkNICs(m)
}

// remarkNICs names NICs that no GPU is near.
func (t *table) remarkNICs(m *machine.Machine) {
	if len(m.NICs) == 0 {
		t.say(machine.Missing, "nics", "the table has none")
	}
	var alone []string
	for i := range m.NICs {
		home := m.NUMAOf(m.NICs[i].At)
		if !slices.ContainsFunc(m.GPUs, func(g machine.GPU) bool { return m.NUMAOf(g.At) == home }) {
			alone = append(alone, t.labels[t.gpus+i])
		}
	}
	if alone != nil {
		t.say(machine.Assumed, some(alone), "on no GPU's NUMA node, so put on one without a number")
	}
}

func orNone(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// tell compares the machine with the table, and keeps what no tree of bridges
// has: in a tree, of three distances the two farthest are alike.
func (t *table) tell(m *machine.Machine) {
	all := m.Devices()
	for i := range t.cells {
		for j := i + 1; j < len(t.cells); j++ {
			c := t.cells[i][j]
			if !c.known || c.Nearness == machine.NV || m.OverPCIe(all[i], all[j]) == c.Nearness {
				continue
			}
			m.Told = append(m.Told, machine.Told{A: all[i], B: all[j], Is: c.Nearness})
			if len(m.Told) == 1 {
				t.say(machine.Odd, t.labels[i], "%v to %s, but %v by way of others", c, t.labels[j], m.OverPCIe(all[i], all[j]))
			}
		}
	}
	if n := len(m.Told); n > 0 {
		t.say(machine.Odd, "cells", "%d contradict others (the first is above): printed as told, while paths take the nearer distance", n)
	}
}
