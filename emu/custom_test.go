package emu

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// drawCustom returns a valid cluster with a custom fabric: a tree of switches,
// some more links, nodes anywhere.
func drawCustom(rng *rand.Rand) Cluster {
	c := Cluster{Fabric: Fabric{Kind: KindCustom, Link: "ndr"}, Seed: rng.Uint64() >> 1}
	n := 1 + rng.Intn(6)
	for i := range n {
		c.Fabric.Switches = append(c.Fabric.Switches, []string{"s%d", "rack %d", "%d", "true%d"}[rng.Intn(4)])
		c.Fabric.Switches[i] = fmt.Sprintf(c.Fabric.Switches[i], i)
	}
	link := func(a, b int) {
		c.Fabric.Links = append(c.Fabric.Links, FabricLink{From: c.Fabric.Switches[a], To: []string{c.Fabric.Switches[b]}, Count: rng.Intn(3),
			Rate: shaping.Rate(rng.Intn(3)) * 25 * shaping.GBps, Latency: shaping.Duration(rng.Intn(2)) * shaping.Nanosecond})
	}
	for i := 1; i < n; i++ {
		link(rng.Intn(i), i)
	}
	if n > 2 {
		link(n-1, 0)
	}
	for range 1 + rng.Intn(4) {
		g := Group{Count: 1 + rng.Intn(3), System: "dgx-h100", Switches: []string{c.Fabric.Switches[rng.Intn(n)]}}
		if g.NICs = rng.Intn(3); g.NICs == 2 {
			g.Switches = append(g.Switches, c.Fabric.Switches[rng.Intn(n)])
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}

// A valid custom fabric comes back from its file, and is a network that joins
// every node with every other.
func TestCustomFabric(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 300 {
		c := drawCustom(rng)
		got, err := LoadCluster("round.yaml", c.YAML(), testKnown)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("printed\n%s\nread back as %+v, %v", c.YAML(), got, err)
		}
		e := c.Effective(testKnown)
		config, hosts := e.CustomNetwork()
		config.Rate = 50 * shaping.GBps
		n, err := network.New(config, hosts)
		if err != nil {
			t.Fatalf("%v in\n%s", err, c.YAML())
		}
		nics := 0
		for _, g := range e.Groups {
			nics += g.Count * g.NICs
		}
		if len(hosts) != nics || len(n.Switches) != len(c.Fabric.Switches) {
			t.Fatalf("%d hosts, %d switches in\n%s", len(hosts), len(n.Switches), c.YAML())
		}
		for i := range hosts {
			if _, ok := n.Path(0, i, 7); i > 0 && !ok {
				t.Fatalf("no way from NIC 0 to NIC %d in\n%s", i, c.YAML())
			}
		}
	}
}

// Each NIC hangs where its group says.
func TestCustomHosts(t *testing.T) {
	c := Cluster{
		Groups: []Group{{Count: 2, System: "x", NICs: 2, Switches: []string{"a", "b"}}, {Count: 1, System: "x", NICs: 2, Switches: []string{"b"}}},
		Fabric: Fabric{Kind: KindCustom, Switches: []string{"a", "b"}, Links: []FabricLink{{From: "a", To: []string{"b"}, Count: 3, Rate: 7, Latency: 9}}},
	}
	if err := c.Validate(Known{}); err != nil {
		t.Fatal(err)
	}
	config, hosts := c.CustomNetwork()
	if want := []network.Cable{{A: 0, B: 1, Count: 3, Rate: 7, Latency: 9}}; !reflect.DeepEqual(config.Links, want) {
		t.Errorf("links are %+v, want %+v", config.Links, want)
	}
	want := []network.Host{{Node: 0, NIC: 0, Switch: 0}, {Node: 0, NIC: 1, Switch: 1}, {Node: 1, NIC: 0, Switch: 0}, {Node: 1, NIC: 1, Switch: 1}, {Node: 2, NIC: 0, Switch: 1}, {Node: 2, NIC: 1, Switch: 1}}
	if !reflect.DeepEqual(hosts, want) {
		t.Errorf("hosts are %+v, want %+v", hosts, want)
	}
}

// A fabric as large as that of a thousand servers is read: 256 leaves, each with
// every one of 128 spines.
func TestLargeCustom(t *testing.T) {
	c := Cluster{Fabric: Fabric{Kind: KindCustom, Link: "ndr"}}
	var leaves []string
	for i := range 256 {
		leaves = append(leaves, fmt.Sprintf("leaf%d", i))
	}
	c.Fabric.Switches = leaves
	for i := range 128 {
		c.Fabric.Switches = append(c.Fabric.Switches, fmt.Sprintf("spine%d", i))
		c.Fabric.Links = append(c.Fabric.Links, FabricLink{From: fmt.Sprintf("spine%d", i), To: leaves})
	}
	for i := range 32 {
		c.Groups = append(c.Groups, Group{Count: 32, System: "dgx-h100", Switches: leaves[8*i : 8*i+8]})
	}
	got, err := LoadCluster("large.yaml", c.YAML(), testKnown)
	if err != nil || !reflect.DeepEqual(got, c) {
		t.Fatalf("a cluster of %d nodes does not come back: %v", c.Nodes(), err)
	}
}

// Thousands of wrong names cost no more than the first of them.
func TestHostileCustom(t *testing.T) {
	var b strings.Builder
	b.WriteString("apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 1, system: dgx-h100, switches: [a]}]\n  fabric:\n    kind: custom\n    switches: [a")
	for i := range 4000 {
		fmt.Fprintf(&b, ", switch%d", i)
	}
	b.WriteString("]\n    links:\n      - {from: a, to: [b")
	for i := range 4000 {
		fmt.Fprintf(&b, ", swich%d", i)
	}
	b.WriteString("]}\n")
	_, err := LoadCluster("hostile.yaml", []byte(b.String()), testKnown)
	if err == nil || !strings.Contains(err.Error(), "more") {
		t.Errorf("error is %.200v", err)
	}
}
