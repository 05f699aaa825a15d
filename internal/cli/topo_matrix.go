package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/smi"
)

func (a *App) topoMatrix(file string, in *machine.Import, f *topoFlags) error {
	chosen, err := choose(file, in, f.machine)
	if err != nil {
		return err
	}
	var pairs []pairJSON
	for i := range chosen {
		pairs = append(pairs, pairsOf(&chosen[i])...)
	}
	switch f.Format {
	case "csv":
		return writeCSV(a.Stdout, records(pairs))
	case "json":
		e := json.NewEncoder(a.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(pairs)
	}
	for i := range chosen {
		if len(chosen) > 1 {
			fmt.Fprintf(a.Stdout, "# %s\n", chosen[i].Name)
		}
		fmt.Fprint(a.Stdout, smi.Matrix(&chosen[i]))
	}
	return nil
}

// pairJSON is a cell of the matrix, as JSON and CSV have it: of a GPU with the CPUs
// and the memory nearest to it, of a NIC with its name.
type pairJSON struct {
	Machine string `json:"machine"`
	From    string `json:"from"`
	To      string `json:"to"`
	Path    string `json:"path"`
	NIC     string `json:"nic_name,omitempty"`
	CPUs    string `json:"cpu_affinity,omitempty"`
	NUMA    string `json:"numa_affinity,omitempty"`
}

// pairsOf returns all pairs of a machine's devices, each with itself included.
func pairsOf(m *machine.Machine) []pairJSON {
	var all []pairJSON
	devices, cells := m.Devices(), smi.Cells(m)
	for i, d := range devices {
		p := pairJSON{Machine: m.Name, From: d.String()}
		if d.NIC {
			p.NIC = m.NICs[d.Index].Name
		} else {
			n := m.NUMA[m.NUMAOf(m.GPUs[d.Index].At)]
			p.CPUs, p.NUMA = n.CPUs, n.Nodes
		}
		for j, e := range devices {
			p.To, p.Path = e.String(), strings.TrimSpace(cells[i][j])
			all = append(all, p)
		}
	}
	return all
}
