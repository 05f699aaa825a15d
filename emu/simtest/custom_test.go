package simtest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// The law on a network listed switch by switch, with a link that all share and
// that is slower than the NICs.
func TestCustomFabric(t *testing.T) {
	cluster := emu.Cluster{
		Groups: []emu.Group{
			{Count: 2, System: "dgx-h100", GPUs: 2, Switches: []string{"west"}},
			{Count: 2, System: "dgx-h100", GPUs: 2, NICs: 2, Switches: []string{"east", "north"}},
		},
		Fabric: emu.Fabric{Kind: emu.KindCustom, Link: "ndr", Switches: []string{"west", "east", "north"}, Links: []emu.FabricLink{
			{From: "west", To: []string{"east"}, Rate: 25 * shaping.GBps, Latency: 500 * shaping.Nanosecond}, {From: "east", To: []string{"north"}, Count: 2}}},
	}
	f, err := fabric.New(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Contended() {
		t.Fatal("nobody shares a link")
	}
	for _, algorithm := range []string{"ring", "tree"} {
		run := emu.Run{Op: collective.AllReduce, Algorithm: algorithm, Comm: f.All(), Count: 20011, Real: 20011, DType: collective.Int32,
			Iterations: 2, Options: collective.Options{Channels: 2}, Seed: 3}
		c := Case{Cluster: cluster, Batches: []emu.Batch{{Runs: []emu.Run{run}}}}
		if _, err := verify(&c); err != nil {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

// The law, and right elements, on the clusters of public reports: a link that is
// lost or slow costs time and nothing else.
func TestReportsKeepTheLaw(t *testing.T) {
	files, err := filepath.Glob("../predict/testdata/reports/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := emu.ParseCluster(file, data)
		if err != nil {
			t.Fatal(err)
		}
		f, err := fabric.New(cluster)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		run := emu.Run{Op: collective.AllReduce, Algorithm: "ring", Comm: f.All(), Count: 5003, Real: 5003, DType: collective.Int32,
			Iterations: 2, Options: collective.Options{Channels: 2}, Seed: 3}
		c := Case{Seed: uint64(i), Cluster: cluster, Batches: []emu.Batch{{Runs: []emu.Run{run}}}}
		if _, err := verify(&c); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
