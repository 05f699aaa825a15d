package fabric_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/network"
)

// TestNVLinksAddUp: the bundles of every GPU of every system have all its links,
// and those that share a port are different ones.
func TestNVLinksAddUp(t *testing.T) {
	for _, s := range catalog.Systems() {
		f := build(t, groups(emu.Group{Count: 1, System: s.Name}))
		m := s.Machine()
		for gpu := range f.GPUs() {
			want, got := 0, 0
			for _, l := range m.NVLinks {
				if l.GPU == gpu || !l.Plane && l.To == gpu {
					want += l.Count
				}
			}
			links := map[fabric.PortID]int{}
			for _, b := range f.NVLinks(gpu) {
				got += b.Count
				for _, h := range b.Hits {
					if h.First != links[h.Port] || h.Lost != b.Count {
						t.Errorf("%s: gpu%d: %+v", s.Name, gpu, b)
					}
					links[h.Port] += h.Lost
					if (b.Peer >= 0) != (h.Lost == h.Of) && len(f.NVLinks(gpu)) > 1 {
						t.Errorf("%s: gpu%d: %+v", s.Name, gpu, b)
					}
				}
			}
			if got != want {
				t.Errorf("%s: gpu%d has %d links, want %d", s.Name, gpu, got, want)
			}
		}
	}
}

// TestOtherRails: when a NIC is dead, connections by it go on by the next at both
// ends; with no rail alive at both ends by two that are joined; else not at all.
func TestOtherRails(t *testing.T) {
	for _, tc := range []struct {
		name     string
		kind     string
		nics     int
		dead     [][2]int // node, NIC
		from, to int
		ok       bool
	}{
		{"the next rail at both ends", "rail-optimized", 4, [][2]int{{0, 1}}, 2, 2, true},
		{"the next that is alive at both", "rail-optimized", 4, [][2]int{{0, 1}, {1, 2}}, 3, 3, true},
		{"across rails when none is alive at both", "rail-optimized", 2, [][2]int{{0, 1}, {1, 0}}, 0, 1, true},
		{"rails that never meet", "rail-only", 2, [][2]int{{0, 1}, {1, 0}}, 0, 0, false},
		{"one NIC", "rail-optimized", 1, [][2]int{{1, 0}}, 0, 0, false},
	} {
		c := groups(emu.Group{Count: 2, GPUs: 4, NICs: tc.nics})
		c.Fabric.Kind = tc.kind
		f := build(t, c)
		channel := 1
		from, to, ok := f.OtherRails(1, 5, channel, func(node, nic int) bool { return !slices.Contains(tc.dead, [2]int{node, nic}) })
		if from != tc.from || to != tc.to || ok != tc.ok {
			t.Errorf("%s: %d to %d %v, want %d to %d %v", tc.name, from, to, ok, tc.from, tc.to, tc.ok)
		}
	}
}

// TestRouteByAnotherNIC: by its own NICs it is the route; by others only the way
// on the wire and the credit's differ, and it has the others' ports.
func TestRouteByAnotherNIC(t *testing.T) {
	for _, s := range catalog.Systems() {
		f := build(t, groups(emu.Group{Count: 2, System: s.Name}, emu.Group{Count: 1, System: s.Name}))
		if f.NICs(0) == 0 {
			continue
		}
		src, dst := 0, f.GPUs()-1 // of another group, and so of another NVLink domain
		r := f.Route(src, dst, 3, collective.Simple)
		from, to := f.Rails(src, dst, 3)
		if own := f.RouteBy(src, dst, 3, from, to, collective.Simple); !slices.Equal(own.Wire.Ports, r.Wire.Ports) || !slices.Equal(own.Wire.Latency, r.Wire.Latency) || own.Credit != r.Credit {
			t.Errorf("%s: by its own NICs %+v, want %+v", s.Name, own, r)
		}
		from, to, ok := f.OtherRails(src, dst, 3, func(int, int) bool { return true })
		if !ok {
			if f.NICs(0) > 1 {
				t.Errorf("%s: no other NIC", s.Name)
			}
			continue
		}
		o := f.RouteBy(src, dst, 3, from, to, collective.Simple)
		out, in := f.NICHits(f.NodeOf(src), from)[0].Port, f.NICHits(f.NodeOf(dst), to)[1].Port
		if !slices.Contains(o.Wire.Ports, out) || !slices.Contains(o.Wire.Ports, in) || o.Wire.Ports[o.Wire.Inject-1] != out ||
			len(o.Wire.Ports) != len(o.Wire.Latency) || o.SendProxy != r.SendProxy || !slices.Equal(o.Local.Ports, r.Local.Ports) {
			t.Errorf("%s: by NIC %d to NIC %d %+v", s.Name, from, to, o)
		}
	}
}

// TestAroundASpine: round a dead spine no route crosses what is dead, and ports
// keep their numbers.
func TestAroundASpine(t *testing.T) {
	c := groups(emu.Group{Count: 12})
	c.Fabric = emu.Fabric{Kind: "fat-tree", Routing: "hash", HostsPerSwitch: 8}
	f, err := fabric.NewWith(c, fabric.Options{Pools: true})
	if err != nil {
		t.Fatal(err)
	}
	spine := slices.IndexFunc(f.Network().Switches, func(s network.Switch) bool { return s.Name == "spine0" })
	var dead []fabric.PortID
	for _, h := range f.SwitchHits(0, spine) {
		dead = append(dead, h.Port)
	}
	around, moved := f.Around(dead), 0
	for src := range f.GPUs() {
		for dst := range f.GPUs() {
			if f.NodeOf(src) == f.NodeOf(dst) {
				continue
			}
			a, b := f.Route(src, dst, 0, collective.Simple), around.Route(src, dst, 0, collective.Simple)
			hit := slices.ContainsFunc(a.Wire.Ports, func(p fabric.PortID) bool { return slices.Contains(dead, p) })
			still := slices.ContainsFunc(b.Wire.Ports, func(p fabric.PortID) bool { return slices.Contains(dead, p) })
			if still || hit == slices.Equal(a.Wire.Ports, b.Wire.Ports) {
				t.Fatalf("from %d to %d: %v became %v", src, dst, a.Wire.Ports, b.Wire.Ports)
			}
			if hit {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no route went by the spine")
	}
}

// TestNoGDRNode: without GPUDirect on one node, as a fault has it, that node's
// routes are those of a cluster file that says so, and the others keep theirs.
func TestNoGDRNode(t *testing.T) {
	said := build(t, groups(emu.Group{Count: 1}, emu.Group{Count: 1, NoGDR: true}, emu.Group{Count: 1}))
	f, err := fabric.NewWith(groups(emu.Group{Count: 1}, emu.Group{Count: 1}, emu.Group{Count: 1}), fabric.Options{NoGDR: []int{1}})
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]int{{0, 8}, {8, 16}, {16, 0}} {
		a, b := f.Route(pair[0], pair[1], 0, collective.Simple), said.Route(pair[0], pair[1], 0, collective.Simple)
		if !slices.Equal(a.Wire.Ports, b.Wire.Ports) || !slices.Equal(a.Local.Ports, b.Local.Ports) || a.Wire.Fetch != b.Wire.Fetch {
			t.Errorf("%v: %+v, want %+v", pair, a, b)
		}
	}
}
