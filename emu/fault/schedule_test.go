package fault_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// TestSchedules prints what faults do to small clusters. To rewrite the goldens,
// run the test with -rewrite and read the difference.
//
//	cluster                                   what follows is the spec of a cluster file
//	nodes: [{count: 2, system: dgx-h100}]
//
//	faults [seed=1] [horizon=1s] [sweep=5ms]  a fault a line: type, target and parameters
//	flap "node1/nic3" at=200us period=2ms
func TestSchedules(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		var c emu.Cluster
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "cluster":
				c = load(t, d)
				return ""
			case "faults":
				return compile(t, d, c)
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func load(t *testing.T, d *datadriven.TestData) emu.Cluster {
	t.Helper()
	text := "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n"
	for line := range strings.Lines(d.Input) {
		text += "  " + line
	}
	c, err := emu.ParseCluster(d.Pos, []byte(text))
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return c
}

// compile compiles the faults of a directive and prints the schedule, or what is
// wrong with them.
func compile(t *testing.T, d *datadriven.TestData, c emu.Cluster) string {
	t.Helper()
	var faults []emu.Fault
	for line := range strings.Lines(d.Input) {
		f, err := parse(strings.TrimSpace(line))
		if err != nil {
			return err.Error() + "\n"
		}
		faults = append(faults, f)
	}
	horizon, sweep := shaping.Second, shaping.Duration(0)
	for _, a := range d.CmdArgs {
		var err error
		switch a.Key {
		case "horizon":
			horizon, err = shaping.ParseDuration(a.Vals[0])
		case "sweep":
			sweep, err = shaping.ParseDuration(a.Vals[0])
		}
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
	}
	seed := uint64(1)
	d.MaybeScanArgs(t, "seed", &seed)
	f, err := fault.Fabric(c, faults)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	s, err := fault.Compile(f, faults, seed, horizon)
	if err != nil {
		return err.Error() + "\n"
	}
	text := s.Text(f)
	for _, r := range s.Reroutes(f, sweep) {
		text += fmt.Sprintf("routes change at %v: round %d ports\n", r.At, len(r.Dead))
	}
	if text == "" {
		return "nothing\n"
	}
	return text
}

// parse reads `type "target" word=value …`.
func parse(line string) (emu.Fault, error) {
	word, rest, _ := strings.Cut(line, " ")
	f := emu.Fault{Type: word, Element: -1, Bit: -1}
	if quoted, after, ok := strings.Cut(strings.TrimPrefix(rest, `"`), `"`); ok && strings.HasPrefix(rest, `"`) {
		f.Target, rest = quoted, after
	}
	for _, a := range strings.Fields(rest) {
		word, value, _ := strings.Cut(a, "=")
		if word == "name" {
			f.Name = value
			continue
		}
		if err := fault.Set(&f, word, value); err != nil {
			return f, err
		}
	}
	return f, nil
}

func h100(t *testing.T, nodes int) emu.Cluster {
	t.Helper()
	return emu.Cluster{Groups: []emu.Group{{Count: nodes, System: "dgx-h100"}}}
}

func ready(t *testing.T, c emu.Cluster, faults []emu.Fault) *fabric.Fabric {
	t.Helper()
	f, err := fault.Fabric(c, faults)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
