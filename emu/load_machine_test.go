package emu

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/machinetest"
)

// Whatever its machines are, a cluster's file reads back as the same cluster.
func TestMachineRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		c := Cluster{Seed: 1}
		for i := range 1 + rng.IntN(2) {
			m := machinetest.Draw(rng)
			m.Name += string(rune('a' + i))
			c.Machines = append(c.Machines, m)
			c.Groups = append(c.Groups, Group{Count: 1 + rng.IntN(4), Machine: m.Name})
		}
		got, err := LoadCluster("round.yaml", c.YAML(), testKnown)
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("printed\n%s\nread back as %+v\n%v", c.YAML(), got, err)
		}
		e := got.Effective(testKnown)
		if m := &c.Machines[0]; e.Groups[0].GPUs != len(m.GPUs) || e.Groups[0].NICs != min(len(m.NICs), len(m.GPUs)) {
			t.Fatalf("effective is %+v of %d GPUs and %d NICs", e.Groups[0], len(m.GPUs), len(m.NICs))
		}
	}
}

// The problems of a machine are those of the cluster, under its field.
func TestMachineProblems(t *testing.T) {
	c := Cluster{
		Groups:   []Group{{Count: 1, Machine: "bxo"}, {Count: 1, Machine: "box", System: "dgx-h100"}},
		Machines: []machine.Machine{{Name: "box"}, {Name: "box"}},
	}
	err := c.Validate(testKnown)
	for _, want := range []string{
		"spec.machines[0].gpus: has 0 entries", "spec.machines[1].name: ", `spec.nodes[0].machine: "bxo" is unknown; allowed are box, box; did you mean "box"?`,
		"spec.nodes[1].machine: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}
