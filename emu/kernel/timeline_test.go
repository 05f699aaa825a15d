package kernel_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/shaping"
)

// TestTimelines prints small runs, one row a step, in the kernel's order: when
// it began and how long it took in picoseconds, who, with whom, on which port.
// To rewrite the goldens, run the test with -rewrite and read the difference.
//
//	run algo=ring [op=all_reduce] nodes=2 gpus=1 [nics=1] [groups=2] [oversubscription=2] [uplink=24500]
//	    [channels=1] [slices=1] [proto=ll|ll128] bytes=4K [iterations=2] [launch=20us] [sync] [in-place]
//	    [ranks=(0,1)] [ports] [at=up]
//
// nodes are those of each group. ranks picks whose steps are printed; ports
// prints what ports carried as well, at only those whose name ends so.
func TestTimelines(t *testing.T) {
	datadriven.Walk(t, "testdata/timelines", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "run" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			r := newRigOn(t, scanFabric(t, d))
			run := scanRun(t, d, r)
			r.run(run)
			return r.print(&run, scanPick(t, d))
		})
	})
}

func scanCluster(t *testing.T, d *datadriven.TestData) emu.Cluster {
	g := emu.Group{System: "dgx-h100"}
	groups, over := 1, 1
	d.ScanArgs(t, "nodes", &g.Count)
	d.ScanArgs(t, "gpus", &g.GPUs)
	d.MaybeScanArgs(t, "nics", &g.NICs)
	d.MaybeScanArgs(t, "groups", &groups)
	d.MaybeScanArgs(t, "oversubscription", &over)
	return emu.Cluster{Groups: slices.Repeat([]emu.Group{g}, groups), Fabric: emu.Fabric{Oversubscription: over}}
}

// scanFabric makes links up as narrow as uplink says, in MB/s: real ones are whole.
func scanFabric(t *testing.T, d *datadriven.TestData) *fabric.Fabric {
	f, uplink := build(t, scanCluster(t, d)), 0
	d.MaybeScanArgs(t, "uplink", &uplink)
	for id := range fabric.PortID(f.Ports()) {
		if f.Port(id).Node == fabric.Shared && uplink > 0 {
			f.SetRate(id, shaping.Rate(uplink)*shaping.MBps)
		}
	}
	return f
}

func scanRun(t *testing.T, d *datadriven.TestData, r *rig) emu.Run {
	run := emu.Run{Comm: r.fabric.All(), Iterations: 1, InPlace: d.HasArg("in-place"), Sync: d.HasArg("sync"),
		Options: collective.Options{Channels: 1}}
	op, proto, bytes, launch := "all_reduce", "simple", "", "0us"
	d.ScanArgs(t, "algo", &run.Algorithm)
	d.MaybeScanArgs(t, "op", &op)
	d.MaybeScanArgs(t, "proto", &proto)
	d.MaybeScanArgs(t, "channels", &run.Options.Channels)
	d.MaybeScanArgs(t, "slices", &run.Options.Slices)
	d.MaybeScanArgs(t, "iterations", &run.Iterations)
	d.MaybeScanArgs(t, "launch", &launch)
	d.ScanArgs(t, "bytes", &bytes)
	for _, o := range collective.Ops() {
		if o.String() == op {
			run.Op = o
		}
	}
	if proto == "ll" {
		run.Options.Protocol = collective.LL
	}
	if proto == "ll128" {
		run.Options.Protocol = collective.LL128
	}
	size, err := shaping.ParseBytes(bytes)
	if err != nil {
		t.Fatal(err)
	}
	in, out := run.Op.Parts(len(run.Comm))
	run.Count = int64(size) / 4 / int64(max(in, out))
	if run.Launch, err = shaping.ParseDuration(launch); err != nil {
		t.Fatal(err)
	}
	return run
}

// pick says which records are printed.
type pick struct {
	ranks []int
	ports bool
	at    string
}

func scanPick(t *testing.T, d *datadriven.TestData) pick {
	p := pick{ports: d.HasArg("ports") || d.HasArg("at")}
	d.MaybeScanArgs(t, "ranks", &p.ranks)
	d.MaybeScanArgs(t, "at", &p.at)
	return p
}

func (p pick) has(r *emu.Record, port string) bool {
	if len(p.ranks) > 0 && !slices.Contains(p.ranks, int(r.Rank)) {
		return false
	}
	if r.Kind == emu.Carry {
		return p.ports && strings.HasSuffix(port, p.at)
	}
	return p.at == ""
}

func (r *rig) print(run *emu.Run, p pick) string {
	var b strings.Builder
	const row = "%12s %11s  %4v %4v %4v %4v  %-21s  %4v  %-21s %7v\n"
	fmt.Fprintf(&b, row, "start", "takes", "rank", "chan", "bloc", "step", "what", "peer", "port", "bytes")
	for i := range r.records {
		x := &r.records[i]
		port := r.fabric.PortName(x.Port)
		if !p.has(x, port) {
			continue
		}
		fmt.Fprintf(&b, row, grouped(int64(x.Start)), grouped(int64(x.Duration)), x.Rank, x.Channel, dash(x.Block),
			dash(x.Step), timeline.Kind(x.Kind), dash(x.Peer), port, int64(x.Bytes))
	}
	for i := range run.Iterations {
		b.WriteString("ends:")
		for _, e := range r.outcome.Ends {
			if e.Iteration == i {
				fmt.Fprintf(&b, " %s", grouped(int64(e.At)))
				if e.Rank < len(run.Comm)-1 {
					b.WriteString(",")
				}
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// dash prints a number that may be missing.
func dash(n int32) string {
	if n < 0 {
		return "-"
	}
	return strconv.Itoa(int(n))
}

// grouped prints picoseconds in groups of three digits.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}
