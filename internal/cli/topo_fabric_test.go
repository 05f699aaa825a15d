package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/machine/topoxml"
)

// Every description of a network becomes a cluster file that is valid, except for
// templates.
func TestFabricCases(t *testing.T) {
	files, err := filepath.Glob("../../../shared/cases/fabric/*__*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the files of the field are not here")
	}
	s := newSession(t)
	for _, f := range files {
		code := s.run("topo import " + f + " --out $DIR/c.yaml")
		if strings.HasSuffix(f, ".gotmpl") {
			if code != ExitUsage || !strings.Contains(s.err.String(), "template") {
				t.Errorf("%s: exit %d: %s", f, code, s.err.String())
			}
			continue
		}
		if code != ExitOK {
			t.Errorf("%s: exit %d: %s", f, code, s.err.String())
		} else if code := s.run("validate $DIR/c.yaml"); code != ExitOK {
			t.Errorf("%s: its cluster file: exit %d: %s", f, code, s.err.String())
		}
	}
}

// A topology file takes the place of the system of all nodes, or makes a node of
// each of its machines; the dump is what topo export writes.
func TestTopoFile(t *testing.T) {
	s := newSession(t)
	h := hardware{topo: "testdata/files/box.xml", dump: filepath.Join(s.dir, "dump.xml")}
	c := emu.Cluster{Groups: []emu.Group{{Count: 3, System: "dgx-h100"}}}
	if err := h.topology(s.App, &c, func(string) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if g := c.Groups[0]; g.Count != 3 || g.System != "" || g.Machine != "box" || len(c.Machines) != 1 {
		t.Fatalf("made %+v with %d machines", c.Groups, len(c.Machines))
	}
	if err := c.Validate(known()); err != nil {
		t.Fatal(err)
	}
	if err := h.dumpTopology(s.App, &c, func(string) bool { return true }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(h.dump)
	if err != nil {
		t.Fatal(err)
	}
	if code := s.run("topo export testdata/files/box.xml"); code != ExitOK || s.out.String() != string(got) {
		t.Errorf("dumped\n%s\ntopo export, exit %d, writes\n%s", got, code, s.out.String())
	}
	fused := strings.ReplaceAll(string(topoxml.Write(&c.Machines[0])), `<cpu `, `<cpu host_hash="0x1" `)
	inner := fused[strings.Index(fused, "<cpu "):strings.LastIndex(fused, "</system>")]
	s.file(t, "two.xml", strings.Replace(fused, "</system>", strings.ReplaceAll(inner, "0x1\" ", "0x2\" ")+"</system>", 1))
	h.topo = filepath.Join(s.dir, "two.xml")
	if err := h.topology(s.App, &c, func(string) bool { return false }); err != nil || len(c.Groups) != 2 || len(c.Machines) != 2 {
		t.Errorf("two hosts make %+v, %v", c.Groups, err)
	}
	if err := h.topology(s.App, &c, func(name string) bool { return name == "nodes" }); err == nil {
		t.Error("--nodes with two hosts in the file is accepted")
	}
}

// What a flag can't do on the network that there is gets refused or noted, on every
// command that takes it, and --quiet is quiet.
func TestFabricFlagsWithoutEffect(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	for _, tc := range []struct {
		line, want string
		code       int
	}{
		{"bench all_reduce --nodes 2 --fabric single-ndr --oversubscription 3", "a single network has no such leaves", ExitUsage},
		{"fabrics single-ndr --nodes 8 --oversubscription 3", "a single network has no such leaves", ExitUsage},
		{"fabrics torus-ndr --nodes 8 --unit 3", "which a torus network does not have", ExitUsage},
		{"bench all_reduce --nodes 2 --fabric dragonfly-ndr --routing valiant", "note: routing valiant: no effect", ExitOK},
		{"topo show --fabric dragonfly-ndr --routing valiant", "note: routing valiant: no effect", ExitOK},
		{"topo show --fabric dragonfly-ndr --routing valiant --quiet", "", ExitOK},
		{"bench all_reduce --nodes 2 --oversubscription 2", "note: oversubscription 2: no effect, as all servers are in one unit", ExitOK},
		{"bench all_reduce --oversubscription 2", "note: oversubscription 2: no effect, as no network joins servers", ExitOK},
		{"topo path gpu0@node0 gpu0@node1 --fabric single-ndr --routing hash", "note: routing hash: no effect", ExitOK},
		{"fabrics rail-ndr --nodes 8 --unit 4 --oversubscription 3", "note: oversubscription 3: links are whole, so that a leaf with room for 4 NICs has 2 up", ExitOK},
		{"fabrics rail-ndr --nodes 64 --oversubscription 8", "", ExitOK},
		{"topo show --fabric single-roce-400", "", ExitOK},
	} {
		if code := s.run(tc.line); code != tc.code || !strings.Contains(s.err.String(), tc.want) || tc.want == "" && s.err.Len() > 0 {
			t.Errorf("%s: exit %d, %q; want %d, %q", tc.line, code, s.err.String(), tc.code, tc.want)
		}
	}
}

// Rail-optimised or fat tree, a NIC a server hangs on the same switches.
func TestUplinksOfPartlyFilledUnits(t *testing.T) {
	s := newSession(t)
	var said []string
	for _, shape := range []string{"rail", "fat-tree"} {
		for _, line := range []string{"fabrics " + shape + "-ndr --nodes 64 --nics 1", "topo path gpu0@node0 gpu0@node63 --nodes 64 --gpus-per-node 1 --nics 1 --fabric " + shape + "-ndr"} {
			if code := s.run(line + " --oversubscription 8"); code != ExitOK {
				t.Fatalf("%s: %s", line, s.err.String())
			}
			said = append(said, s.out.String())
		}
	}
	if !strings.Contains(said[0], "14 between switches") || !strings.Contains(said[2], "14 between switches") {
		t.Errorf("%s\n%s", said[0], said[2])
	}
	for _, path := range []string{said[1], said[3]} {
		if strings.Count(path, "343 GB/s") != 2 { // 7 links of 49 GB/s, up and down
			t.Errorf("%s", path)
		}
	}
}
