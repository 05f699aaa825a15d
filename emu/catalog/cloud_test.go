package catalog_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine"
)

// TestCloudLayouts: how many cards of which rate an instance has in all, and that
// each GPU is as near to its NIC as two behind one switch.
func TestCloudLayouts(t *testing.T) {
	for name, want := range map[string]struct { // order: does not matter
		cards int
		gbps  int64
	}{
		"aws-p4d": {4, 100}, "aws-p5": {32, 100}, "aws-p5en": {16, 200}, "aws-p6-b200": {8, 400}, "aws-p6-b300": {16, 400},
		"gcp-a3-high": {4, 200}, "gcp-a3-mega": {8, 200}, "gcp-a3-ultra": {8, 400}, "gcp-a4": {8, 400},
	} {
		s, err := catalog.LookupSystem(name)
		if err != nil {
			t.Fatal(err)
		}
		link, err := catalog.LookupLink(s.Link)
		if err != nil {
			t.Fatal(err)
		}
		each := max(s.Cards, 1)
		if cards, gbps := s.NICs*each, int64(link.Wire)*8/1_000_000_000/int64(each); cards != want.cards || gbps != want.gbps {
			t.Errorf("%s: %d cards of %d Gb/s, want %d of %d", name, cards, gbps, want.cards, want.gbps)
		}
		m := s.Machine()
		for g := range m.GPUs {
			nic := g * s.NICs / s.GPUs
			if d := m.Distance(machine.Device{Index: g}, machine.Device{NIC: true, Index: nic}); d.Nearness > machine.PXB {
				t.Errorf("%s: GPU %d and NIC %d are %v apart", name, g, nic, d.Nearness)
			}
		}
	}
}

// TestEnvironments: each cloud's instances, and they alone, set variables; EFA's
// plugin tells the tuner of a latency.
func TestEnvironments(t *testing.T) {
	for _, s := range catalog.Systems() {
		aws, gcp := strings.HasPrefix(s.Name, "aws-"), strings.HasPrefix(s.Name, "gcp-")
		if (len(s.Env) > 0) != (aws || gcp) || (s.Reported > 0) != aws {
			t.Errorf("%s: %v, %v", s.Name, s.Env, s.Reported)
		}
		seen := map[string]bool{}
		for _, v := range s.Env {
			name, value, ok := strings.Cut(v, "=")
			if !ok || value == "" || seen[name] || s.Variable(name) != value {
				t.Errorf("%s: %q", s.Name, v)
			}
			seen[name] = true
		}
		if (s.Variable("NCCL_CROSS_NIC") == "0") != gcp {
			t.Errorf("%s: NCCL_CROSS_NIC %q", s.Name, s.Variable("NCCL_CROSS_NIC"))
		}
	}
}
