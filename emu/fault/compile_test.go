package fault_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// some is a fault of a type with what it needs and no more, on a random part.
func some(t *testing.T, k fault.Kind) emu.Fault {
	t.Helper()
	f := emu.Fault{Type: k.Word, Target: "random", Element: -1, Bit: -1}
	ps, needed := k.Params()
	for i, p := range ps {
		value := map[string]string{"latency": "10us", "jitter": "10us", "loss": "1%"}[p.Word]
		if needed[i] {
			set(t, &f, p.Word, value)
		}
	}
	switch k.Word {
	case "coordinator-crash":
		f.Target = ""
	case "rate":
		f.Share = fault.Whole / 4
	case "pcie-degraded":
		f.Gen = 1
	}
	return f
}

func set(t *testing.T, f *emu.Fault, word, value string) {
	t.Helper()
	if err := fault.Set(f, word, value); err != nil {
		t.Fatal(err)
	}
}

// TestEveryKind: every type has all that tables show, and does something to some
// part of a cluster, wherever the seed has it strike.
func TestEveryKind(t *testing.T) {
	c := emu.Cluster{Groups: []emu.Group{{Count: 3, System: "dgx-h100"}, {Count: 3, System: "dgx-h100"}}}
	words := map[string]string{}
	for _, k := range fault.Kinds() {
		if k.Means == "" || k.Hardware == "" || k.Source == "" || k.Family == "" || len(k.Strikes) == 0 {
			t.Errorf("%s: a column is empty", k.Word)
		}
		for _, w := range append([]string{k.Word}, k.Also...) {
			if other, taken := words[w]; taken {
				t.Errorf("%q means %s and %s", w, other, k.Word)
			}
			words[w] = k.Word
			if l, err := fault.Lookup(w); err != nil || l.Word != k.Word {
				t.Errorf("%q means %v, %v; want %s", w, l, err, k.Word)
			}
		}
		if k.Word == "gdr-lost" { // no part of a schedule: TestGDRLost
			continue
		}
		faults := []emu.Fault{some(t, k)}
		f := ready(t, c, faults)
		for seed := range uint64(20) {
			s, err := fault.Compile(f, faults, seed, shaping.Second)
			if err != nil {
				t.Fatalf("%s: %v", k.Word, err)
			}
			if s.Text(f) == "" {
				t.Errorf("%s with seed %d does nothing", k.Word, seed)
			}
		}
	}
}

// TestGDRLost: it makes routes lead through host memory, on its node alone.
func TestGDRLost(t *testing.T) {
	f := ready(t, h100(t, 3), []emu.Fault{{Type: "gdr-lost", Target: "node1"}})
	for gpu, staged := range map[int]bool{0: false, 8: true, 16: false} { // order: each is judged alone
		r := f.Route(gpu, (gpu+8)%24, 0, 0)
		if (r.Local.Copy > 0) != staged {
			t.Errorf("from GPU %d: copies to host memory at %v, want so %v", gpu, r.Local.Copy, staged)
		}
	}
}

// TestSharesOfASpine: in a pool of links over n spines, k dead spines leave
// n − k of n, whichever they are and however often they are told.
func TestSharesOfASpine(t *testing.T) {
	c := emu.Cluster{Groups: []emu.Group{{Count: 20, System: "dgx-h100"}}, Fabric: emu.Fabric{Kind: "fat-tree", Routing: "adaptive", HostsPerSwitch: 32}}
	spines := 0
	for _, s := range ready(t, c, []emu.Fault{{Type: "down", Target: "random"}}).Network().Switches {
		if s.Tier == 1 {
			spines++
		}
	}
	if spines != 4 {
		t.Fatalf("%d spines, want 4", spines)
	}
	for k := 1; k <= spines; k++ {
		var faults []emu.Fault
		for i := range k {
			faults = append(faults, emu.Fault{Type: "down", Target: fmt.Sprintf("spine%d", i)})
		}
		faults = append(faults, faults[0], emu.Fault{Type: "down", Target: "link:leaf0-spine0"})
		f := ready(t, c, faults)
		s, err := fault.Compile(f, faults, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for id := range f.Ports() {
			p := f.Port(int32(id))
			if !strings.HasPrefix(p.Name, "leaf") {
				continue
			}
			st, _ := s.Port(int32(id)).At(0)
			if want := int64(fault.Whole * (spines - k) / spines); st.Down != (k == spines) || !st.Down && st.Share != want {
				t.Errorf("%d spines dead: %s has %+v, want %d", k, p.Name, st, want)
			}
		}
	}
}

// TestAllAtOnce: faults of every type together, on parts that chance picks, do not
// stand in each other's way.
func TestAllAtOnce(t *testing.T) {
	for _, planes := range []int{1, 2} {
		for _, routing := range []string{"adaptive", "hash"} {
			c := emu.Cluster{Groups: []emu.Group{{Count: 3, System: "dgx-h100", GPUs: 2}, {Count: 3, System: "dgx-h100", GPUs: 2}},
				Fabric: emu.Fabric{Planes: planes, Routing: routing}}
			var faults []emu.Fault
			for range 4 {
				for _, k := range fault.Kinds() {
					faults = append(faults, some(t, k))
				}
			}
			f := ready(t, c, faults)
			for seed := range uint64(30) {
				s, err := fault.Compile(f, faults, seed, shaping.Second)
				if err != nil {
					t.Fatal(err)
				}
				if text := s.Text(f); text == "" {
					t.Errorf("seed %d: nothing", seed)
				}
			}
		}
	}
}

// TestApart: partitions part nodes of different sides only, for their time.
func TestApart(t *testing.T) {
	faults := []emu.Fault{{Type: "partition", Target: "node0 | node1,node2", When: emu.When{At: 10, Until: 20}},
		{Type: "partition", Target: "node0-1 | node2", When: emu.When{At: 15, Until: 30}}}
	s, err := fault.Compile(ready(t, h100(t, 4), faults), faults, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	apart := func(a, b int) (all []int) {
		for at := range 40 {
			if st, _ := s.Apart(a, b).At(shaping.Time(at)); st.Down {
				all = append(all, at)
			}
		}
		return all
	}
	for _, tc := range []struct{ a, b, from, to int }{{0, 1, 10, 20}, {1, 0, 10, 20}, {0, 2, 10, 30}, {1, 2, 15, 30}, {0, 3, 0, 0}, {1, 1, 0, 0}} {
		got := apart(tc.a, tc.b)
		if len(got) != tc.to-tc.from || len(got) > 0 && (got[0] != tc.from || got[len(got)-1] != tc.to-1) {
			t.Errorf("node%d and node%d are apart at %v, want %d to %d", tc.a, tc.b, got, tc.from, tc.to)
		}
	}
}

// TestPartitions: which are at work changes when it is said that it will, and at no
// other time.
func TestPartitions(t *testing.T) {
	faults := []emu.Fault{{Type: "partition", Target: "node0 | node1,node2", When: emu.When{At: 10, Until: 20}},
		{Type: "partition", Target: "node0-1 | node2", When: emu.When{At: 15, Until: 30}},
		{Type: "partition", Target: "node1 | node3", When: emu.When{At: 50}}}
	s, err := fault.Compile(ready(t, h100(t, 4), faults), faults, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	first, second, third := []int{0, 1, 1, -1}, []int{0, 0, 1, -1}, []int{-1, 0, -1, 1}
	for _, want := range []struct {
		from, to shaping.Time
		sides    [][]int
	}{{0, 10, nil}, {10, 15, [][]int{first}}, {15, 20, [][]int{first, second}}, {20, 30, [][]int{second}}, {30, 50, nil}, {50, shaping.Never, [][]int{third}}} {
		for at := want.from; at < min(want.to, 60); at++ {
			if sides, until := s.Partitions(at); until != want.to || !slices.EqualFunc(sides, want.sides, slices.Equal) {
				t.Errorf("at %d: %v until %d, want %v until %d", at, sides, until, want.sides, want.to)
			}
		}
	}
	if sides, until := (*fault.Schedule)(nil).Partitions(0); sides != nil || until != shaping.Never {
		t.Errorf("without faults: %v until %d", sides, until)
	}
}

// TestChance: of many instants as many strike as the chance says, the same for one
// seed, others for another; and one fault's draws do not depend on others.
func TestChance(t *testing.T) {
	one := emu.Fault{Type: "bitflip", Target: "gpu0", When: emu.When{Every: 10, Times: 10_000, Chance: fault.Whole / 5}}
	flips := func(seed uint64, faults ...emu.Fault) []fault.Flip {
		s, err := fault.Compile(ready(t, h100(t, 2), faults), faults, seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(slices.Clone(s.Flips()), func(f fault.Flip) bool { return f.Fault != 0 })
	}
	a := flips(1, one)
	if n := len(a); n < 1900 || n > 2100 { // 2000 ± 40, one sigma
		t.Errorf("%d of 10000 struck with a chance of 20 %%", n)
	}
	other := one
	other.When.Chance = fault.Whole / 2
	if !slices.Equal(a, flips(1, one, other)) || slices.Equal(a, flips(2, one)) {
		t.Error("draws depend on other faults, or not on the seed")
	}
}

// FuzzCompile: whatever faults say, Compile answers with a schedule or with what is
// wrong, and what it answers can be printed.
func FuzzCompile(f *testing.F) {
	kinds := fault.Kinds()
	for i, k := range kinds {
		f.Add(uint8(i), "random", int64(k.Strikes[0]), int64(1))
	}
	f.Add(uint8(0), "node0-9999999 | node1", int64(-1), int64(1)<<62)
	f.Add(uint8(3), "link:-", int64(1)<<62, int64(-1))
	f.Add(uint8(17), "node0/nic0,,unit0/rail0", int64(3), int64(2))
	clusters := []emu.Cluster{
		{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}}},
		{Groups: []emu.Group{{Count: 2, System: "dgx-1-v100"}, {Count: 1, System: "dgx-h100", GPUs: 1}}},
		{Groups: []emu.Group{{Count: 9, System: "gb200-nvl72"}}, Fabric: emu.Fabric{Kind: "dragonfly", Routing: "hash", Planes: 2}},
		{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2}, {Count: 2, System: "dgx-h100", GPUs: 2}}, Fabric: emu.Fabric{Planes: 2}},
	}
	f.Fuzz(func(t *testing.T, kind uint8, target string, seed, scale int64) {
		rng := rand.New(rand.NewPCG(uint64(seed), 1))
		number := func() int64 {
			switch rng.IntN(4) {
			case 0:
				return scale
			case 1:
				return rng.Int64N(1_000_000)
			}
			return 0
		}
		var faults []emu.Fault
		for range 1 + rng.IntN(3) {
			x := emu.Fault{Type: kinds[(int(kind)+rng.IntN(2))%len(kinds)].Word, Target: target, DownFor: shaping.Duration(number()), Share: number(),
				Rate: shaping.Rate(number()), Latency: shaping.Duration(number()), Jitter: shaping.Duration(number()), Loss: number(),
				Links: int(number()), Width: int(number()), Gen: int(number()), Element: number(), Bit: int(number()), Count: number()}
			x.When = emu.When{At: shaping.Duration(number()), Until: shaping.Duration(number()), Every: shaping.Duration(number()), Times: int(number()), AfterOps: int(number()), Chance: number()}
			if rng.IntN(2) == 0 { // no more than what its type reads
				x = some(t, kinds[int(kind)%len(kinds)])
				x.Target, x.When.At, x.DownFor, x.Links = target, shaping.Duration(number()), shaping.Duration(number()), int(number())
			}
			faults = append(faults, x)
		}
		c := clusters[rng.IntN(len(clusters))]
		fab, err := fault.Fabric(c, faults)
		if err != nil {
			return // a cluster without GPUDirect may have no ways that its shape allows
		}
		s, err := fault.Compile(fab, faults, uint64(seed), shaping.Second)
		if err != nil && !strings.HasPrefix(err.Error(), "faults[") {
			t.Errorf("%v", err)
		}
		s.Reroutes(fab, shaping.Millisecond)
		for _, x := range faults {
			if x.When.Every > 0 {
				return // may be very many to print
			}
		}
		_ = s.Text(fab)
	})
}

// TestRefused: what a part cannot suffer is refused, and the message names it.
func TestRefused(t *testing.T) {
	h100, tpu := emu.Group{Count: 2, System: "dgx-h100"}, emu.Group{Count: 1, System: "tpu-v4"}
	for _, tc := range []struct {
		group emu.Group
		fault emu.Fault
		says  string
	}{
		{tpu, emu.Fault{Type: "nvlink-down", Target: "node0/gpu0"}, "faults[0].target: node0/gpu0 is a TPU"},
		{tpu, emu.Fault{Type: "nvlink-down", Target: "node0"}, "is a TPU"},
		{tpu, emu.Fault{Type: "nvlink-errors", Target: "random"}, "is a TPU"},
		{tpu, emu.Fault{Type: "nvswitch-down", Target: "random"}, "no part"},
		{h100, emu.Fault{Type: "pcie-degraded", Target: "node0/nic0", Width: 3}, "faults[0].width: 3: a slot has 1, 2, 4"},
		{h100, emu.Fault{Type: "bitflip", Target: "node0/gpu0", Bit: 64}, "faults[0].bit: 64: elements have at most 64 bits"},
		{h100, emu.Fault{Type: "pcie-degraded", Target: "node0/nic0", Gen: 9}, "faults[0].gen: 9: generations"},
	} {
		for ops := range 2 { // of a fault that waits for its instant as well
			tc.fault.When.AfterOps = ops
			f := ready(t, emu.Cluster{Groups: []emu.Group{tc.group}}, []emu.Fault{tc.fault})
			if _, err := fault.Compile(f, []emu.Fault{tc.fault}, 1, 0); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s on %s after %d operations: %v, want it to say %q", tc.fault.Type, tc.fault.Target, ops, err, tc.says)
			}
		}
	}
}
