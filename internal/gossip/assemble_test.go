package gossip

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestAssemble prints what is made of the members that each case lists, one a
// line: NAME NODES and, where they differ, version=V cluster=C role=R.
func TestAssemble(t *testing.T) {
	datadriven.RunTest(t, "testdata/assemble.txt", func(t *testing.T, d *datadriven.TestData) string {
		e := Expect{Version: "v1", Cluster: "c1"}
		d.ScanArgs(t, "nodes", &e.Nodes)
		d.MaybeScanArgs(t, "version", &e.Version)
		if d.HasArg("any") {
			e.Version, e.Cluster = "", ""
		}
		a, err := assemble(parseMembers(t, d.Input), e)
		if err != nil {
			return fmt.Sprintf("%v\nusage=%v\n", err, Usage(err))
		}
		return printAssembly(a)
	})
}

func parseMembers(t *testing.T, text string) []Member {
	var out []Member
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		m := Member{
			Name: f[0], Instance: fmt.Sprint(i), Addr: fmt.Sprintf("10.0.0.%d:1", i),
			Role: Nodesim, Cluster: "c1", Version: "v1",
		}
		var err error
		if m.Nodes, err = ParseNodes(strings.Trim(f[1], "-")); err != nil {
			t.Fatal(err)
		}
		for _, kv := range f[2:] {
			k, v, _ := strings.Cut(kv, "=")
			switch k {
			case "version":
				m.Version = v
			case "cluster":
				m.Cluster = v
			case "role":
				m.Role = Role(v)
			}
		}
		out = append(out, m)
	}
	return out
}

func printAssembly(a Assembly) string {
	var b strings.Builder
	for _, m := range a.Members {
		fmt.Fprintf(&b, "%s hosts %s\n", m, m.Nodes)
	}
	for i := range len(a.ByNode) {
		fmt.Fprintf(&b, "%d:%s ", i, a.ByNode[i].Name)
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// Any spread of n nodes over processes, in any order, is an assembly; without
// any one of them, exactly its nodes are missing; with any one twice, exactly
// its nodes are duplicate.
func TestAssembleEverySpread(t *testing.T) {
	const n = 6
	for split := range 1 << (n - 1) {
		members := spread(n, split)
		e := Expect{Nodes: n}
		a, err := assemble(members, e)
		if err != nil || len(a.ByNode) != n || len(a.Members) != len(members) {
			t.Fatalf("%v: %+v, %v", members, a, err)
		}
		for i, m := range members {
			rest := append(append([]Member{}, members[:i]...), members[i+1:]...)
			if _, err := assemble(rest, e); err.(*MissingError).Nodes.String() != m.Nodes.String() {
				t.Errorf("without %v: %v", m, err)
			}
			if _, err := assemble(append(rest, m, m), e); err.(*DuplicateError).Nodes.String() != m.Nodes.String() {
				t.Errorf("with %v twice: %v", m, err)
			}
		}
	}
}

// spread parts nodes 0 to n-1 after every set bit of split, last part first.
func spread(n, split int) []Member {
	var out []Member
	first := 0
	for i := range n {
		if i == n-1 || split&(1<<i) != 0 {
			out = append([]Member{{Name: fmt.Sprint(first), Role: Nodesim, Nodes: Nodes{{first, i}}}}, out...)
			first = i + 1
		}
	}
	return out
}
