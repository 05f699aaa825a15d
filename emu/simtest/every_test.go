package simtest

import (
	"fmt"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// The law for every operation, algorithm and protocol, each beside a ring at the
// same time, on one server, on one GPU a server, and on unlike groups of servers
// that share oversubscribed uplinks, and on the trays of one NVLink domain and of two. Random cases meet the rest; these leave no
// combination to chance.
func TestEveryCombination(t *testing.T) {
	clusters := []emu.Cluster{
		{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: 6}}},
		{Groups: []emu.Group{{Count: 4, System: "dgx-h100", GPUs: 1}}},
		{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 3}, {Count: 2, System: "dgx-h100", GPUs: 3, NICs: 2}},
			Fabric: emu.Fabric{Oversubscription: 4}},
		{Groups: []emu.Group{{Count: 3, System: "gb200-nvl72", GPUs: 2}}},
		{Groups: []emu.Group{{Count: 2, System: "gb300-nvl72", GPUs: 2}, {Count: 2, System: "gb300-nvl72", GPUs: 1}}},
	}
	met := map[string]bool{}
	for i, cluster := range clusters {
		f, err := fabric.New(cluster)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range combinations(t, f, cluster, i) {
			met[name] = true
		}
	}
	for _, a := range collective.Algorithms() {
		for _, op := range a.Ops {
			for _, p := range protocolsOf(a) {
				if name := fmt.Sprint(a.Name, op, p); !met[name] {
					t.Errorf("%s %s %s is legal on none of the clusters: nothing was proved of it", a.Name, op, p)
				}
			}
		}
	}
}

func protocolsOf(a collective.Algorithm) []collective.Protocol {
	if a.Protocols != nil {
		return a.Protocols
	}
	return []collective.Protocol{collective.Simple, collective.LL, collective.LL128}
}

// combinations runs all that is legal on a cluster, and returns its names.
func combinations(t *testing.T, f *fabric.Fabric, cluster emu.Cluster, k int) (names []string) {
	t.Helper()
	comm := f.All()
	for i, a := range collective.Algorithms() {
		for j, op := range a.Ops {
			for _, p := range protocolsOf(a) {
				use := collective.Use{Op: op, DType: collective.Int32, RedOp: collective.Sum, Protocol: p}
				if a.Check(use, f.Shape(comm)) != nil {
					continue
				}
				run := emu.Run{Op: op, Algorithm: a.Name, Comm: comm, Count: 1013, Real: 1013, DType: use.DType, RedOp: use.RedOp, Iterations: 2,
					InPlace: (i+j)%2 == 0 && op.InPlace(), Options: collective.Options{Protocol: p, Channels: 2, Root: len(comm) - 1}, Seed: 3}
				beside := emu.Run{Op: collective.AllReduce, Algorithm: "ring", Comm: comm, Count: 2027, Real: 2027, DType: collective.Int64,
					Iterations: 1, Options: collective.Options{Channels: 1}, Seed: 4}
				c := Case{Seed: uint64(100*k + 10*i + j), Cluster: cluster, Batches: []emu.Batch{{Runs: []emu.Run{run, beside}}}}
				if _, err := verify(&c); err != nil {
					t.Errorf("%s %s %s: %v\n%v", a.Name, op, p, err, c)
				}
				names = append(names, fmt.Sprint(a.Name, op, p))
			}
		}
	}
	return names
}
