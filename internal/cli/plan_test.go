package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
)

// TestPlanList: every algorithm has a line, and in JSON a record.
func TestPlanList(t *testing.T) {
	s := newSession(t)
	if code := s.run("plan list"); code != ExitOK {
		t.Fatal(s.err.String())
	}
	lines := strings.Split(strings.TrimSpace(s.out.String()), "\n")
	all := collective.Algorithms()
	if len(lines) != len(all)+1 {
		t.Fatalf("%d lines for %d algorithms", len(lines), len(all))
	}
	for i, a := range all {
		if f := strings.Fields(lines[i+1]); f[0] != a.Name || !strings.HasSuffix(lines[i+1], a.About) || !strings.HasPrefix(f[1], a.Ops[0].String()) {
			t.Errorf("line %q for %s", lines[i+1], a.Name)
		}
	}
	s.run("plan list --format json")
	var rows []collective.Row
	if err := json.Unmarshal(s.out.Bytes(), &rows); err != nil || len(rows) != len(all) || rows[0].Name != all[0].Name {
		t.Errorf("%v: %+v", err, rows)
	}
}

// TestPlanExport: what is exported is read, proved, shown and run by what reads
// the files of others.
func TestPlanExport(t *testing.T) {
	s := newSession(t)
	for _, line := range []string{
		"plan export tree --nodes 2 --gpus-per-node 2 --channels 2 --out $DIR/tree.xml",
		"plan check $DIR/tree.xml --strict", "plan import $DIR/tree.xml --out $DIR/again.xml", "plan check $DIR/again.xml",
		"plan show $DIR/again.xml --rank 3",
	} {
		if code := s.run(line); code != ExitOK || s.err.Len() > 0 {
			t.Fatalf("%s: exit %d: %s", line, code, s.err.String())
		}
	}
	if !strings.Contains(s.out.String(), "rank 3\n") || strings.Contains(s.out.String(), "\nrank 2\n") {
		t.Errorf("shown: %s", s.out.String())
	}
	if code := s.run("plan export ring --out $DIR/no/such/folder.xml"); code != ExitUsage || !strings.Contains(s.err.String(), "--out: ") {
		t.Errorf("exit %d: %s", code, s.err.String())
	}
}

// TestPlanGoesToTheHost: bench hands the host what the file says.
func TestPlanGoesToTheHost(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	if code := s.run("bench allgather_perf --plan testdata/files/swap.xml --nodes 1 --gpus-per-node 2 -b 1K -e 1K"); code != ExitOK {
		t.Fatal(s.err.String())
	}
	text, err := os.ReadFile(filepath.Join("testdata", "files", "swap.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if p := f.got.Plan; f.got.Op != collective.AllGather || p == nil || p.Ranks != 2 || string(p.Text) != string(text) || len(p.Layouts) != 1 || !p.Layouts[0] {
		t.Errorf("%+v", f.got.Plan)
	}
}

// TestPlanRoot: the root is the file's unless another is as good.
func TestPlanRoot(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.file(t, "reduce.xml", `<algo ngpus="2" nchunksperloop="1" coll="reduce" inplace="1"><gpu id="0"><tb id="0" send="1" chan="0"><step type="s" srcbuf="i" srcoff="0"/></tb></gpu>`+
		`<gpu id="1"><tb id="0" recv="0" chan="0"><step type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0"/></tb></gpu></algo>`)
	const line = "bench reduce --plan $DIR/reduce.xml --nodes 1 --gpus-per-node 2 -b 1K -e 1K"
	if code := s.run(line); code != ExitOK || f.got.Root != 1 || f.got.Plan.Root != 1 {
		t.Errorf("root %d: %s", f.got.Root, s.err.String())
	}
	if code := s.run(line + " -r 1"); code != ExitOK || f.got.Root != 1 {
		t.Errorf("-r 1: root %d: %s", f.got.Root, s.err.String())
	}
	if code := s.run(line + " -r 0"); code != ExitUsage || !strings.Contains(s.err.String(), "-r 0: the root of plan") {
		t.Errorf("-r 0: exit %d: %s", code, s.err.String())
	}
}
