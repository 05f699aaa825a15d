package topo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

// TestGolden prints ways and kinds: kinds [over=N], way FROM TO [CHANNEL]. With over,
// links up carry so much less than a NIC.
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/ways", func(t *testing.T, d *datadriven.TestData) string {
		over, channel := 1, 0
		d.MaybeScanArgs(t, "over", &over)
		d.MaybeScanArgs(t, "channel", &channel)
		c := emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100"}, {Count: 1, System: "dgx-h100", GPUs: 4, NICs: 2}}}
		c.Fabric.Oversubscription = over
		f := build(t, c)
		for id := range fabric.PortID(f.Ports()) {
			if f.Port(id).Node == fabric.Shared {
				f.SetRate(id, 49*shaping.GBps/shaping.Rate(over))
			}
		}
		var b strings.Builder
		if d.Cmd == "kinds" {
			for _, k := range topo.Kinds(f, collective.Simple) {
				fmt.Fprintf(&b, "%-28s %-14s %5d  %v → %v  %v  %v  %s\n", k.What, k.Via, k.Ways, k.From, k.To, k.Rate, k.Latency, k.Limit)
			}
			return b.String()
		}
		words := strings.Fields(d.Input)
		from, err := topo.ParsePlace(f, words[0])
		if err != nil {
			return err.Error() + "\n"
		}
		to, err := topo.ParsePlace(f, words[1])
		if err != nil {
			return err.Error() + "\n"
		}
		w, err := topo.Between(f, from, to, channel, collective.Simple)
		if err != nil {
			return err.Error() + "\n"
		}
		for _, h := range w.Hops {
			fmt.Fprintf(&b, "%-26s %-10v %-8v %v\n", h.Name, h.Rate, h.Latency, h.Total)
		}
		fmt.Fprintf(&b, "%s: %v at %s, data %v; a channel %v at %s\n", w.Via, w.Rate, w.Limit, w.Data, w.ChannelRate, w.Channel)
		return b.String()
	})
}

// TestEveryWay: between any two places there is a way or a reason, ways add up,
// and their limit is the slowest port on them.
func TestEveryWay(t *testing.T) {
	f := build(t, emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 3, NICs: 2}, {Count: 1, System: "dgx-h100"}}})
	var places []topo.Place
	for n := range f.Nodes() {
		_, gpus := f.GPURange(n)
		for i := range gpus {
			places = append(places, topo.Place{Node: n, Index: i})
		}
		for i := range f.NICs(n) {
			places = append(places, topo.Place{Node: n, NIC: true, Index: i})
		}
	}
	for _, a := range places {
		if p, err := topo.ParsePlace(f, a.String()); p != a || err != nil {
			t.Fatalf("%v is read as %v: %v", a, p, err)
		}
		for _, b := range places {
			w, err := topo.Between(f, a, b, 5, collective.LL)
			if joined := a != b && (a.NIC == b.NIC && (!a.NIC || a.Node != b.Node) || a.NIC != b.NIC && a.Node == b.Node); (err == nil) != joined {
				t.Fatalf("%v to %v: %v", a, b, err)
			}
			if err == nil {
				adds(t, w)
			}
		}
	}
}

func adds(t *testing.T, w *topo.Way) {
	t.Helper()
	sum, named := shaping.Duration(0), false
	for _, h := range w.Hops {
		sum += h.Latency
		if h.Total != sum {
			t.Fatalf("%v to %v: %v after %s, want %v", w.From, w.To, h.Total, h.Name, sum)
		}
		if !h.SM && h.Rate > 0 && h.Rate < w.Rate {
			t.Fatalf("%v to %v: %s is slower than %s", w.From, w.To, h.Name, w.Limit)
		}
		named = named || h.Name == w.Limit && h.Rate == w.Rate
	}
	if !named || sum != w.Latency {
		t.Fatalf("%v to %v: limit %q is no hop, or %v not %v", w.From, w.To, w.Limit, sum, w.Latency)
	}
}

// A thousand servers are shown as fast as three.
func TestKindsOfMany(t *testing.T) {
	few, many := topo.Kinds(h100(t, 3), collective.Simple), topo.Kinds(h100(t, 1000), collective.Simple)
	if len(few) == 0 || len(many) <= len(few) {
		t.Errorf("%d kinds in 3 servers, %d in 1000; want more: leaves have 32 servers", len(few), len(many))
	}
}
