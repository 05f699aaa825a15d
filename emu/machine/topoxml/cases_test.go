package topoxml

import (
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/machine"
)

// cases are files of the field, kept outside this repository.
const cases = "../../../../shared/cases/nccl-topo"

// expected is a row of EXPECT.tsv: column to value.
func expected(t *testing.T) []map[string]string {
	data, err := os.ReadFile(filepath.Join(cases, "EXPECT.tsv"))
	if err != nil {
		t.Skipf("the files of the field are not here: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	head := strings.Split(lines[0], "\t")
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, v := range strings.Split(line, "\t") {
			row[head[i]] = v
		}
		rows = append(rows, row)
	}
	return rows
}

// Every file of the field loads with what EXPECT.tsv counts in it, or is
// refused for what it is; what loads comes back from an export the same.
func TestCases(t *testing.T) {
	refused := map[string]string{ // SOURCES.tsv
		"azhpc__ncv4-graph.xml": "search graph", "msccl__graph.xml": "search graph",
		"aws__p5.48xl-topo.420bc3.xml": "cannot stand alone", "nemo__aws-topo.xml": "cannot stand alone",
		"superbench__dtk26.04-topo-mapping.xml": "another tool",
	}
	for _, want := range expected(t) {
		t.Run(want["file"], func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(cases, want["file"]))
			if err != nil {
				t.Fatal(err)
			}
			in, err := Read("case", data)
			if says := refused[want["file"]]; says != "" {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Fatalf("error is %v, want %q in it", err, says)
				}
				t.Log(err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range in.Notes {
				t.Log(n)
			}
			compare(t, in, want)
			for i := range in.Machines {
				roundTrip(t, &in.Machines[i])
			}
		})
	}
}

func compare(t *testing.T, in *machine.Import, want map[string]string) {
	var cpus, gpus, nets, gdr, links int
	for i := range in.Machines {
		m := &in.Machines[i]
		cpus, gpus, nets = cpus+len(m.NUMA), gpus+len(m.GPUs), nets+len(m.NICs)
		for _, n := range m.NICs {
			if n.GDR == machine.Yes {
				gdr++
			}
		}
		for _, l := range m.NVLinks {
			if links++; !l.Plane {
				links++ // a file tells it at both ends
			}
		}
	}
	count := func(column string) int {
		n, err := strconv.Atoi(want[column])
		if err != nil {
			t.Fatalf("EXPECT.tsv: column %s is %q", column, want[column])
		}
		return n
	}
	for _, c := range []struct {
		what      string
		got, want int
	}{
		{"cpus", cpus, count("cpus")},
		{"GPUs", gpus, max(count("gpus"), count("gpu_class_pci"))},
		{"ports", nets, max(count("nets"), count("nic_class_pci"))},
		{"ports that do GPUDirect", gdr, count("gdr_nets")},
		{"links", links, count("links")},
	} {
		if c.got != c.want {
			t.Errorf("%d %s, want %d", c.got, c.what, c.want)
		}
	}
}

func roundTrip(t *testing.T, m *machine.Machine) {
	t.Helper()
	file := Write(m)
	again, err := Read("other", file)
	if err != nil {
		t.Fatalf("%v\n%s", err, file)
	}
	if want := m.Canonical(); len(again.Machines) != 1 || !reflect.DeepEqual(again.Machines[0], want) {
		t.Fatalf("came back as\n%+v\nwant\n%+v\nfrom\n%s", again.Machines, want, file)
	}
}
