package smi

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/emu/machine"
)

// The files under testdata hold tables as people paste them, and what is made
// of them: notes, cells without the legend, links. -rewrite writes them anew.
// \e stands for escape and \t for a tab.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in, err := Read("box", []byte(strings.NewReplacer(`\t`, "\t", `\e`, "\x1b").Replace(d.Input)))
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			for _, n := range in.Notes {
				if n.About != "bridges" && n.About != "rates" { // always the same
					fmt.Fprintln(&b, n)
				}
			}
			for i := range in.Machines {
				summary(&b, &in.Machines[i])
			}
			return b.String()
		})
	})
}

func summary(b *strings.Builder, m *machine.Machine) {
	table, _, _ := strings.Cut(Matrix(m), "\nLegend")
	for line := range strings.Lines(table) {
		var words []string
		for _, w := range strings.Split(strings.TrimSpace(line), "\t") {
			words = append(words, fmt.Sprintf("%-5s", strings.TrimSpace(w)))
		}
		fmt.Fprintln(b, strings.TrimRight(strings.Join(words, " "), " "))
	}
	for _, l := range m.NVLinks {
		to := "gpu"
		if l.Plane {
			to = "plane"
		}
		fmt.Fprintf(b, "gpu%d-%s%d x%d ", l.GPU, to, l.To, l.Count)
	}
	for _, n := range m.NICs {
		if n.Name != "" {
			fmt.Fprintf(b, "%s ", n.Name)
		}
	}
	fmt.Fprintf(b, "\n%d sockets, %d NUMA nodes, %d bridges\n", len(m.Sockets), len(m.NUMA), len(m.Bridges))
}

// A printed table is read as the machine it is of, as far as a table tells:
// printing that again changes nothing.
func TestPrintedReads(t *testing.T) {
	m := &machine.Machine{Name: "m", Sockets: make([]machine.Socket, 1), NUMA: []machine.NUMA{{Nodes: "0", CPUs: "0-7"}, {Nodes: "1"}}}
	for i := range 4 {
		m.GPUs = append(m.GPUs, machine.GPU{PCI: machine.PCI{BusID: busID(0, i), At: machine.OnNUMA(i / 2)}})
		m.NICs = append(m.NICs, machine.NIC{PCI: machine.PCI{BusID: busID(1, i), At: machine.OnNUMA(i % 2)}, Name: fmt.Sprintf("mlx5_%d", i)})
		m.NVLinks = append(m.NVLinks, machine.NVLink{GPU: i, Plane: true, Count: 18})
	}
	m.GPUs[3].NUMA, m.Planes = "9", []machine.Plane{{BusID: "0000:c0:00.0"}}
	first := Matrix(m)
	in, err := Read("m", []byte(first))
	if err != nil {
		t.Fatal(err)
	}
	if again := Matrix(&in.Machines[0]); again != first {
		t.Errorf("printed\n%s\nread, and printed\n%s", first, again)
	}
}

// Texts made to cost time or memory are refused, or read at their size.
func TestHostile(t *testing.T) {
	columns := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "GPU%d ", i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, text, says string }{
		{"large", strings.Repeat("x\n", maxBytes), "larger than"},
		{"long line", "GPU0 X " + strings.Repeat("SYS ", maxBytes/5), "columns"},
		{"long word", strings.Repeat("GPU0", maxBytes/5), "holds no table"},
		{"columns", columns(maxRows+1) + "CPU Affinity\nGPU0 X\n", "columns"},
		{"wide tables", strings.Repeat(columns(1000)+"CPU Affinity\nGPU0 X\n", 40), "cells, the most"},
		{"tables", strings.Repeat("GPU0 CPU Affinity\nGPU0 X\n", maxTables+1), "tables"},
		{"rows", "GPU0 GPU1\n" + strings.Repeat("GPU0 X SYS\n", maxRows+1), "rows"},
		{"count", "GPU0 GPU1\nGPU0 X NV1000000000\nGPU1 NV1000000000 X\n", ""},
		{"no distances", columns(1000) + "CPU Affinity\n" + strings.Repeat("GPU1 "+strings.Repeat("N/A ", 999)+"X\n", 450), "X stands in"},
		{"hosts", strings.Repeat("a: GPU0 CPU Affinity\n", maxTables) + strings.Repeat("b: x\n", 300_000), "no row"},
		{"report", "LINK TYPE TABLE:\n" + columns(maxRows+1) + "\n", "do not have the same GPUs"},
		{"report of rows", "LINK TYPE TABLE:\n" + columns(1000) + "\n" + strings.Repeat("GPU0 0 "+strings.Repeat("XGMI ", 300)+"\n", 900), ""},
		{"list", "GPU0 CPU Affinity\nGPU0 X 0-1000000000\n", ""},
		{"mesh", "GPU0 GPU1 CPU Affinity\nGPU0 X NV1\n" + strings.Repeat("NIC0: "+strings.Repeat("y", 1000)+"\n", 1000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := Read("box", []byte(c.text))
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says == "" && len(in.Machines) != 1:
				t.Errorf("%d machines", len(in.Machines))
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("error is %.200v, want %q in it", err, c.says)
			case err != nil && len(err.Error()) > 500:
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// The largest table that is read costs no more than it is worth.
func TestLargeTable(t *testing.T) {
	const n = 120 // a mesh of 7,140 links, and as many NICs
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "GPU%d ", i)
	}
	for i := range n {
		fmt.Fprintf(&b, "NIC%d ", i)
	}
	b.WriteString("CPU Affinity\n")
	for i := range n {
		fmt.Fprintf(&b, "GPU%d ", i)
		for j := range 2 * n {
			switch {
			case i == j:
				b.WriteString("X ")
			case j < n:
				fmt.Fprintf(&b, "NV%d ", 1+(i+j)%7)
			default:
				b.WriteString([]string{"PIX ", "PXB ", "NODE ", "SYS "}[(i*j)%4])
			}
		}
		b.WriteString("0-7\n")
	}
	in, err := Read("box", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	sameCells(t, []byte(b.String()), &in.Machines[0])
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"\t\x1b[4mGPU0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\nGPU0\t X \t0-31\t0\t\tN/A\n",
		"GPU0 GPU1 NIC0\nGPU0 X NV18 PIX\nGPU1 NV18 X SYS\nNIC0 PIX SYS X\n\nNIC Legend:\n\n  NIC0: mlx5_0\n",
		"GPU0 X PHB\nGPU1 PHB X\n", "GPU0 GPU1 mlx5_0 CPU Affinity\nGPU0 X SYS PXB 0-3\n", "GPU0 X", "GPU7 GPU3\nGPU3 NODE X\n",
		"[1]<out>:\tGPU1\tGPU0 CPU\n[1]<out>:Affinity\n[1]<out>:GPU0\tNV2\n X\n[1]<out>:GPU1: X ERR! 0-3\n",
		"a: GPU0 GPU3 CPU Affinity\nb: GPU0 CPU Affinity\nb: GPU0 X 0\na: GPU3 PIX X\n", "|GPU0|NIC0|CPU Affinity|\n|**GPU0**|X|-|0-3|\n",
		",GPU0,NIC0,CPU Affinity\nGPU0,X,?,\"0,3\"\n", "GPU 0\x1b[0m GPU 1\nGPU 0 X NV0\n[4mGPU 1 SYS X\n",
		"=== Weight between two GPUs\nGPU0 GPU1\nGPU0 0 15\nGPU1 30 0\nLINK TYPE TABLE:\nGPU0 GPU1\nGPU0 0 XGMI\nGPU1 PCIE 0\nGPU[1] : (Topology) Numa Node: 1\n",
		"LINK TYPE TABLE:\n0000:c1:00.0 0000:C1:00.0\n0000:c1:00.0 SELF XGMI\n",
		"GPU0 GPU1 GPU2\nGPU0 X PIX SYS\nGPU1 PIX X PIX\nGPU2 SYS PIX X\n", "# GPU0 X\n> NIC0 X\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Read("fuzz", data)
		if err != nil {
			return
		}
		for i := range in.Machines {
			m := &in.Machines[i]
			if err := m.Validate(); err != nil {
				t.Fatalf("read, but not valid: %v", err)
			}
			again, err := Read("fuzz", []byte(Matrix(m)))
			if err != nil {
				t.Fatalf("%v: printed\n%s", err, Matrix(m))
			}
			if a, b := cellsOf(Matrix(m)), cellsOf(Matrix(&again.Machines[0])); !reflect.DeepEqual(a, b) {
				t.Fatalf("printed\n%s\nread, and printed\n%s", Matrix(m), Matrix(&again.Machines[0]))
			}
		}
	})
}

// cellsOf returns a printed table without its legend of names.
func cellsOf(table string) string {
	cells, _, _ := strings.Cut(table, "\nLegend")
	return cells
}
