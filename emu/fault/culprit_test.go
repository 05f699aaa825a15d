package fault_test

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// TestCulprit: whatever type of fault makes a port lose or stand still, and whatever
// part it struck, that part is to blame, under its own name; and nothing before it
// strikes.
func TestCulprit(t *testing.T) {
	c := emu.Cluster{Groups: []emu.Group{{Count: 3, System: "dgx-h100"}, {Count: 3, System: "dgx-h100"}}}
	const at = shaping.Millisecond
	blamed := map[string]bool{}
	for _, k := range fault.Kinds() {
		if k.Word == "kill" { // the peer is gone, which is a cause of its own
			continue
		}
		for _, class := range k.Strikes {
			x := some(t, k)
			if x.When.At = at; class != fault.Sides && class != fault.Coordinator {
				x.Target = "random " + class.String()
			}
			if k.Word == "nvlink-down" {
				x.Links = 18
			}
			if ps, _ := k.Params(); ps == nil || ps[0].Word != "at" && k.Word != "loss" && k.Word != "corrupt" {
				continue
			}
			f := ready(t, c, []emu.Fault{x})
			for seed := range uint64(10) {
				s, err := fault.Compile(f, []emu.Fault{x}, seed, shaping.Second)
				if err != nil {
					t.Fatalf("%s on %s: %v", k.Word, x.Target, err)
				}
				for id := range fabric.PortID(f.Ports()) {
					st, _ := s.Port(id).At(shaping.Time(at))
					if !st.Down && st.Share > 0 && st.Loss+st.Corrupt == 0 {
						continue
					}
					blamed[k.Word+" "+class.String()] = true
					part := s.Struck()[0].Parts[0]
					if got, ok := s.Culprit(f, id, 0, 1, shaping.Time(at)); !ok || got.Fault != 0 || got.Parts || got.Part != part && got.Part != f.PortName(id) || got.Part != part && !strings.HasPrefix(got.Part, part+"/") {
						t.Fatalf("%s on %s: %s is dead, and %+v is to blame, %v", k.Word, part, f.PortName(id), got, ok)
					}
					if got, ok := s.Culprit(f, id, 0, 1, shaping.Time(at)-1); ok {
						t.Fatalf("%s on %s is to blame before it strikes: %+v", k.Word, part, got)
					}
				}
			}
		}
	}
	for _, want := range []string{"down nic", "down switch", "down link", "flap switch", "loss switch", "corrupt link", "nvlink-down gpu"} {
		if !blamed[want] {
			t.Errorf("%s never killed a port; there were %v", want, blamed)
		}
	}
}

// TestCulpritOfSeveral: of several faults the last that was at work is to blame, and
// what is over only when nothing else is; a partition only between its sides.
func TestCulpritOfSeveral(t *testing.T) {
	faults := []emu.Fault{
		{Type: "down", Target: "node0/nic0", When: emu.When{At: 10, Until: 20}},
		{Type: "down", Target: "unit0/rail0", When: emu.When{At: 15, Until: 40}},
		{Type: "partition", Target: "node0 | node1,node2", When: emu.When{At: 30, Until: 50}},
	}
	f := ready(t, emu.Cluster{Groups: []emu.Group{{Count: 4, System: "dgx-h100"}}}, faults)
	s, err := fault.Compile(f, faults, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := f.NICEgress(0, 0)
	for _, tc := range []struct {
		at, peer int
		want     fault.Culprit
		none     bool
	}{
		{at: 9, peer: 1, none: true},
		{at: 12, peer: 1, want: fault.Culprit{Fault: 0, Part: "node0/nic0/out"}},
		{at: 16, peer: 1, want: fault.Culprit{Fault: 1, Part: "unit0/rail0"}},
		{at: 35, peer: 1, want: fault.Culprit{Fault: 2, Part: "node0 | node1,node2", Parts: true}},
		{at: 35, peer: 3, want: fault.Culprit{Fault: 1, Part: "unit0/rail0"}},
		{at: 60, peer: 1, want: fault.Culprit{Fault: 2, Part: "node0 | node1,node2", Parts: true}},
		{at: 60, peer: 3, want: fault.Culprit{Fault: 1, Part: "unit0/rail0"}},
	} {
		if got, ok := s.Culprit(f, out, 0, tc.peer, shaping.Time(tc.at)); ok == tc.none || got != tc.want {
			t.Errorf("at %d, to node%d: %+v, %v; want %+v", tc.at, tc.peer, got, ok, tc.want)
		}
	}
}
