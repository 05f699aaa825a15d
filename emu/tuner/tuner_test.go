package tuner

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

const gbps = shaping.GBps

// dgx returns nodes of eight H100 with eight NICs of 400 Gb/s.
func dgx(nodes int) Communicator {
	return Communicator{Ranks: 8 * nodes, Nodes: nodes, NICs: 8, NIC: 50 * gbps, GPU: Hopper, CPU: Intel,
		Channels: 16, Version: 30, CollNet: true, NVLS: true}
}

// domain is so many GPUs of an NVL72, which count as one node.
func domain(gpus int) Communicator {
	return Communicator{Ranks: gpus, Nodes: 1, NICs: gpus, NIC: 50 * gbps, GPU: Blackwell, CPU: OtherCPU, Channels: 32, Version: 30, NVLS: true}
}

// with changes a communicator.
func with(c Communicator, change func(c *Communicator)) Communicator {
	change(&c)
	return c
}

// Latencies of the published model, worked out by hand.
func TestLatenciesByHand(t *testing.T) {
	const ll, ll128, simple = collective.LL, collective.LL128, collective.Simple
	four, one := dgx(4), dgx(1)
	alone := Communicator{Ranks: 8, Nodes: 8, NICs: 1, NIC: 50 * gbps, GPU: Hopper, Channels: 2, Version: 30}
	old := with(four, func(c *Communicator) { c.Version = 18 })
	nineteen := with(four, func(c *Communicator) { c.Version = 19 })
	amd := with(four, func(c *Communicator) { c.CPU = AMD })
	for _, tc := range []struct {
		name      string
		c         Communicator
		op        collective.Op
		algorithm string
		protocol  collective.Protocol
		want      shaping.Duration
	}{
		{"6.6 + 56 × max(0.6, post 1.0) + 6 × 2.7", four, collective.AllReduce, Ring, ll, 78800 * ns},
		{"14 + 56 × 1.9 + 6 × 4", four, collective.AllReduce, Ring, ll128, 144400 * ns},
		{"8.4 + 56 × 3.4 + 6 × 14", four, collective.AllReduce, Ring, simple, 282800 * ns},
		{"8.4 + 28 × 3.4 + 3 × 14", four, collective.AllGather, Ring, simple, 145600 * ns},
		{"post of AMD, 2 µs: 6.6 + 28 × 2 + 3 × 2.7", amd, collective.ReduceScatter, Ring, ll, 70700 * ns},
		{"three posts of AMD: 8.4 + 28 × 6 + 3 × 14", amd, collective.ReduceScatter, Ring, simple, 218400 * ns},
		{"one node: 6.6 + 14 × 0.6", one, collective.AllReduce, Ring, ll, 15 * us},
		{"rails differ: 8.4 + 32 × 14", four, collective.Broadcast, Ring, simple, 456400 * ns},
		{"rails differ: 6.6 + 32 × 2.7", four, collective.Reduce, Ring, ll, 93 * us},
		{"all channels the same way: 8.4 + 3.4", one, collective.Broadcast, Ring, simple, 11800 * ns},
		{"6.8 + 2 × (7 × 0.6 + 2 × 5)", four, collective.AllReduce, Tree, ll, 35200 * ns},
		{"14 + 2 × (7 × 1.25 + 2 × 8.5)", four, collective.AllReduce, Tree, ll128, 65500 * ns},
		{"8.4 + 2 × (7 × 4 + 2 × 14)", four, collective.AllReduce, Tree, simple, 120400 * ns},
		{"2.18: 0 + 2 × (7 × 4 + 2 × 14)", old, collective.AllReduce, Tree, simple, 112 * us},
		{"2.19: 0 + 2 × (7 × 4 + 2 × 28)", nineteen, collective.AllReduce, Tree, simple, 168 * us},
		{"2 × (3.7 + 7 × 0.4) + 31", four, collective.AllReduce, CollNetDirect, simple, 44 * us},
		{"2 × 7 × 2.8 + 30", four, collective.AllReduce, CollNetChain, simple, 69200 * ns},
		{"25", one, collective.AllReduce, NVLS, simple, 25 * us},
		{"with SHARP: 25 + 18", four, collective.AllReduce, NVLS, simple, 43 * us},
		{"25 + 2 × 2 × 20.9", four, collective.AllReduce, NVLSTree, simple, 108600 * ns},
		{"2.18: 23 + 2 × 3 × 19", old, collective.AllReduce, NVLSTree, simple, 137 * us},
		{"2.19: 23 + 2 × 2 × 14", nineteen, collective.AllReduce, NVLSTree, simple, 79 * us},
		{"8 + 3 × 14/3.5 + 8 × 2.8", alone, collective.AllGather, PAT, simple, 42400 * ns},
		{"one GPU a node: the tree's network, 6.6 + 0 + 14 × 5", alone, collective.AllReduce, Ring, ll, 76600 * ns},
	} {
		if got := find(t, tc.op, tc.c, 0, tc.algorithm, tc.protocol).Time; got != tc.want {
			t.Errorf("%s %s %s, %s: %d ps, want %d", tc.op, tc.algorithm, tc.protocol, tc.name, got, tc.want)
		}
	}
}

// Bandwidths of the published model: what a GiB takes more than nothing, as
// bytes over the algorithm bandwidth worked out by hand, to 0.1 ‰.
func TestBandwidthsByHand(t *testing.T) {
	const ll, ll128, simple = collective.LL, collective.LL128, collective.Simple
	blackwell := with(dgx(2), func(c *Communicator) { c.GPU, c.NIC = Blackwell, 100*gbps })
	bare := with(dgx(2), func(c *Communicator) { c.GPU = Blackwell })
	volta := Communicator{Ranks: 32, Nodes: 4, NICs: 4, NIC: 12_500 * mbps, GPU: Volta, Channels: 8, Version: 30}
	half := with(dgx(2), func(c *Communicator) { c.NICs = 4 })
	for _, tc := range []struct {
		name      string
		c         Communicator
		op        collective.Op
		algorithm string
		protocol  collective.Protocol
		mbps      int64 // of the algorithm
	}{
		{"8 × 45 fit into 370.8, 8 × 48 don't: 360 × 32/62", dgx(4), collective.AllGather, Ring, simple, 360_000 * 32 / 31},
		{"6 × 60 on one node: 360 × 8/7", dgx(1), collective.AllGather, Ring, simple, 360_000 * 8 / 7},
		{"LL: min(35, 360/2) × 32/62", dgx(4), collective.AllReduce, Ring, ll, 35_000 * 32 / 62},
		{"LL128: min(0.92 × 360, 8 × 36.7 = 293.6) × 32/62", dgx(4), collective.AllReduce, Ring, ll128, 293_600 * 32 / 62},
		{"tree: min(0.92 × 360, 8 × 36 = 288) / 2", dgx(4), collective.AllReduce, Tree, simple, 144_000},
		{"tree LL: min(288/3.8, 35) / 2", dgx(4), collective.AllReduce, Tree, ll, 17_500},
		{"tree LL128: min(288 × 120/128, 8 × 29 = 232) / 2", dgx(4), collective.AllReduce, Tree, ll128, 116_000},
		{"tree LL128, one node: min(6 × 38.7 × 7/9 = 180.6, 6 × 36.7) / 2", dgx(1), collective.AllReduce, Tree, ll128, 90_300},
		{"NVLS: 8 × 40 × 0.85 × 7/8 × 2 = 476, × 8/14", dgx(1), collective.AllReduce, NVLS, simple, 476_000 * 8 / 14},
		{"NVLS all-gather: 8 × 40 × 0.85 × 7/8 × 7/8 = 208.25, × 8/7", dgx(1), collective.AllGather, NVLS, simple, 238_000},
		{"NVLSTree: 8 × min(66.9, 45, 45.5), × 32/62", dgx(4), collective.AllReduce, NVLSTree, simple, 360_000 * 32 / 62},
		{"NVLSTree on two nodes: 8 × min(66.9, 2 × 45, 57.7) = 461.6, × 16/30", dgx(2), collective.AllReduce, NVLSTree, simple, 461_600 * 16 / 30},
		{"NVLS on 8 of a domain: 8 × 90 × 0.74 × 7/8 × 2 = 932.4, × 8/14", domain(8), collective.AllReduce, NVLS, simple, 932_400 * 8 / 14},
		{"NVLS on 72, 32 of them heads: 32 × 20 × 0.74 × 31/32 × 2 = 917.6, × 72/142", domain(72), collective.AllReduce, NVLS, simple, 917_600 * 72 / 142},
		{"2.27 NVLS: 8 × 40 × 5/6", with(dgx(1), func(c *Communicator) { c.Version = 27 }), collective.AllReduce, NVLS, simple, 320_000 * 5 / 6},
		{"2.27 NVLS all-gather: 8 × min(40 × 7/8, 0.9 × 40)", with(dgx(1), func(c *Communicator) { c.Version = 27 }), collective.AllGather, NVLS, simple, 280_000},
		{"2.27 NVLSTree on two nodes: 8 × 45 × 5/6", with(dgx(2), func(c *Communicator) { c.Version = 27 }), collective.AllReduce, NVLSTree, simple, 300_000},
		{"2.27 NVLSTree on more: 8 × 45/2 × 5/6", with(dgx(4), func(c *Communicator) { c.Version = 27 }), collective.AllReduce, NVLSTree, simple, 150_000},
		{"two nodes, a ring has one speed: 8 × 48 fit into 721.8", bare, collective.AllGather, Ring, simple, 384_000 * 16 / 15},
		{"its tree is faster inside, up to 86: min(0.92 × 8 × 86, 8 × 42.8) / 2", bare, collective.AllReduce, Tree, simple, 171_200},
		{"CollNetChain has the tree's: 8 × 86 / 2", bare, collective.AllReduce, CollNetChain, simple, 344_000},
		{"CollNetDirect: 8 × 45 × 0.85 / 2", dgx(4), collective.AllReduce, CollNetDirect, simple, 153_000},
		{"CollNetDirect all-gather: 8 × min(45, 0.9 × 45)", dgx(4), collective.AllGather, CollNetDirect, simple, 324_000},
		{"CollNetDirect, 8 GPUs on 4 NICs: 4 × 48 / 1.5 × 0.85 / 2", half, collective.AllReduce, CollNetDirect, simple, 54_400},
		{"CollNetChain: 8 × 45 / 2", dgx(4), collective.AllReduce, CollNetChain, simple, 180_000},
		{"Blackwell: 8 × 86 fit into 721.8, 8 × 96 don't: 688 × 16/15", blackwell, collective.AllGather, Ring, simple, 688_000 * 16 / 15},
		{"Volta: 4 × 12, its tree 4 × 10 / 2", volta, collective.AllReduce, Tree, simple, 20_000},
	} {
		got := find(t, tc.op, tc.c, shaping.GiB, tc.algorithm, tc.protocol).Time
		none := find(t, tc.op, tc.c, 0, tc.algorithm, tc.protocol).Time
		if tc.algorithm == Ring && tc.protocol == simple && tc.op == collective.AllReduce {
			none = none * 14 / 10
		}
		want := (shaping.Rate(tc.mbps) * mbps).Time(shaping.GiB)
		if d := got - none - want; d > want/10_000 || -d > want/10_000 {
			t.Errorf("%s %s %s, %s: %d ps a GiB, want %d", tc.op, tc.algorithm, tc.protocol, tc.name, got-none, want)
		}
	}
}

// TestFewGPUsTakeRings: with 2.27.7 a ring was measured to be chosen on up to 5 × B200
// and 4 × H200, at 8 GiB, and NVLS on more. By 2.30's formula 6 × B200 take a ring, too.
func TestFewGPUsTakeRings(t *testing.T) {
	for _, tc := range []struct {
		gpu           Generation
		version, most int
	}{{Hopper, 27, 4}, {Blackwell, 27, 5}, {Hopper, 30, 4}, {Blackwell, 30, 6}} {
		for gpus := 2; gpus <= 8; gpus++ {
			c := with(dgx(1), func(c *Communicator) { c.GPU, c.Ranks, c.NICs, c.Version = tc.gpu, gpus, gpus, tc.version })
			all := Estimates(collective.AllReduce, c, 8*shaping.GiB)
			if got := all[Choose(all)].Algorithm; (got == Ring) != (gpus <= tc.most) || got != Ring && got != NVLS {
				t.Errorf("2.%d, generation %d, %d GPUs: %s", tc.version, tc.gpu, gpus, got)
			}
		}
	}
}

// What depends on the size: the tree's correction and the ring's plateau.
func TestSizesByHand(t *testing.T) {
	c := dgx(4)
	// Tree, Simple, 1 MiB: log2(1 MiB / 64) = 14, factor 0.5: 288 × 0.5 / 2 = 72 GB/s.
	want := 120400*ns + 2*(144*gbps).Time(shaping.MiB)
	if got := find(t, collective.AllReduce, c, shaping.MiB, Tree, collective.Simple).Time; got != want {
		t.Errorf("tree at 1 MiB: %d ps, want %d", got, want)
	}
	// The plateau begins at 64 B × 16 channels × 32 ranks = 32 KiB.
	for _, tc := range []struct {
		bytes shaping.Bytes
		lat   shaping.Duration
	}{{32<<10 - 1, 282800 * ns}, {32 << 10, 282800 * ns * 14 / 10}} {
		got := find(t, collective.AllReduce, c, tc.bytes, Ring, collective.Simple).Time
		if want := tc.lat + (360*gbps).Time(tc.bytes)/32*62; got != want {
			t.Errorf("ring at %d B: %d ps, want %d", tc.bytes, got, want)
		}
	}
	volta := with(c, func(c *Communicator) { c.GPU = Volta })
	long := find(t, collective.AllReduce, volta, shaping.MiB, Ring, collective.Simple).Time
	bytes := find(t, collective.AllGather, volta, shaping.MiB, Ring, collective.Simple).Time - find(t, collective.AllGather, volta, 0, Ring, collective.Simple).Time
	if d := long - 282800*ns*19/10 - 2*bytes; d > ns || -d > ns {
		t.Errorf("Volta's plateau is not 1.9: %d ps left", d)
	}
}

// A ring's LL in 2.18: a quarter of the bus, or a third where nothing is reduced
// on one node.
func TestLLOf218(t *testing.T) {
	c := with(dgx(1), func(c *Communicator) { c.Version = 18 })
	// Hopper's NVLink was 18 × 20 = 360: 6 × 60. LL's cap was Ampere's, 87.7.
	for op, want := range map[collective.Op]shaping.Rate{collective.AllReduce: 87_700 * mbps, collective.AllGather: 87_700 * mbps} {
		if got := c.ringRate(op, collective.LL); got != want {
			t.Errorf("%s: %d, want %d", op, got, want)
		}
	}
	c.GPU = Ampere // 240: 6 × 40; a quarter 60, a third 80
	if a, b := c.ringRate(collective.AllReduce, collective.LL), c.ringRate(collective.Broadcast, collective.LL); a != 60*gbps || b != 80*gbps {
		t.Errorf("%d and %d", a, b)
	}
	c.Version = 19
	if a := c.ringRate(collective.AllReduce, collective.LL); a != 87_700*mbps {
		t.Errorf("2.19: %d", a)
	}
}

func find(t *testing.T, op collective.Op, c Communicator, bytes shaping.Bytes, algorithm string, p collective.Protocol) Estimate {
	t.Helper()
	for _, e := range Estimates(op, c, bytes) {
		if e.Algorithm == algorithm && e.Protocol == p {
			return e
		}
	}
	t.Fatalf("no estimate for %s %s", algorithm, p)
	return Estimate{}
}

// What NCCL would not consider stays in the list, with the reason.
func TestRefusals(t *testing.T) {
	none := with(dgx(4), func(c *Communicator) { c.CollNet, c.NVLS = false, false })
	ampere := with(dgx(4), func(c *Communicator) { c.GPU, c.NICs = Ampere, 2 })
	for _, tc := range []struct {
		c         Communicator
		op        collective.Op
		algorithm string
		protocol  collective.Protocol
		want      string
	}{
		{none, collective.AllReduce, CollNetDirect, collective.Simple, "NCCL_COLLNET_ENABLE=1"},
		{dgx(1), collective.AllReduce, CollNetChain, collective.Simple, "two nodes"},
		{none, collective.AllReduce, NVLSTree, collective.Simple, "NCCL_NVLS_ENABLE=0"},
		{ampere, collective.AllReduce, NVLS, collective.Simple, "Hopper"},
		{ampere, collective.AllReduce, Ring, collective.LL128, "PCIe switch"},
		{dgx(1), collective.AllReduce, NVLSTree, collective.Simple, "two nodes"},
		{with(dgx(4), func(c *Communicator) { c.CollNet = false }), collective.AllReduce, NVLS, collective.Simple, "needs CollNet"},
		{dgx(4), collective.AllGather, PAT, collective.Simple, "one GPU a node"},
		{with(dgx(4), func(c *Communicator) { c.Version = 22 }), collective.AllGather, PAT, collective.Simple, "since 2.23"},
		{Communicator{Ranks: 1, Nodes: 1, NICs: 1, NIC: gbps, GPU: Hopper, Channels: 1, Version: 30}, collective.AllReduce, Tree, collective.LL, "alone"},
	} {
		if e := find(t, tc.op, tc.c, 1024, tc.algorithm, tc.protocol); !strings.Contains(e.Why, tc.want) {
			t.Errorf("%s %s: %q, want %q", tc.algorithm, tc.protocol, e.Why, tc.want)
		}
	}
	if Choose(nil) != -1 || Choose([]Estimate{{Why: "no"}}) != -1 {
		t.Error("a choice from nothing")
	}
}

// Messages between two ranks have no estimate: LL up to 16 KiB.
func TestPointToPoint(t *testing.T) {
	for bytes, want := range map[shaping.Bytes]collective.Protocol{32 * 16 << 10: collective.LL, 32*16<<10 + 32: collective.Simple} {
		all := Estimates(collective.AllToAll, dgx(4), bytes)
		if e := all[Choose(all)]; e.Algorithm != Direct || e.Protocol != want || e.Time != 0 {
			t.Errorf("%d B: %+v", bytes, e)
		}
	}
	all := Estimates(collective.SendRecv, dgx(4), 16<<10+1) // one peer gets all of it
	if e := all[Choose(all)]; e.Protocol != collective.Simple {
		t.Errorf("sendrecv: %+v", e)
	}
}

// testdata/choices.txt: what is chosen size by size, and every estimate, in µs.
//
//	choose op=all_reduce nodes=4 [gpus=8] [nics=8] [nic=50] [gpu=90] [nccl=30] [collnet] [from=8] [to=4G]
func TestChoices(t *testing.T) {
	datadriven.RunTest(t, "testdata/choices.txt", func(t *testing.T, d *datadriven.TestData) string {
		c, op, gpus, nic, gpu := dgx(1), "all_reduce", 8, 50, 90
		from, to := "8", "4G"
		d.MaybeScanArgs(t, "op", &op)
		d.ScanArgs(t, "nodes", &c.Nodes)
		d.MaybeScanArgs(t, "gpus", &gpus)
		d.MaybeScanArgs(t, "nics", &c.NICs)
		d.MaybeScanArgs(t, "nic", &nic)
		d.MaybeScanArgs(t, "gpu", &gpu)
		d.MaybeScanArgs(t, "nccl", &c.Version)
		d.MaybeScanArgs(t, "from", &from)
		d.MaybeScanArgs(t, "to", &to)
		c.Ranks, c.NIC, c.GPU, c.CollNet = gpus*c.Nodes, shaping.Rate(nic)*gbps, GenerationOf(gpu), d.HasArg("collnet")
		least, err := shaping.ParseBytes(from)
		most, err2 := shaping.ParseBytes(to)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		var b strings.Builder
		for size := least; size <= most; size *= 8 {
			all := Estimates(operation(t, op), c, size)
			e := all[Choose(all)]
			n := c.Worth(e.Algorithm, e.Protocol, int64(size), 0)
			fmt.Fprintf(&b, "%8s %-8s %-6s ×%-2d chunk %-6s|", size, e.Algorithm, e.Protocol, n,
				shaping.Bytes(c.Chunk(e.Algorithm, operation(t, op), e.Protocol, int64(size), n, &Settings{})))
			for _, o := range all {
				if o.Why == "" {
					fmt.Fprintf(&b, " %s %s %d.%d", o.Algorithm, o.Protocol, o.Time/us, o.Time%us/(100*ns))
				}
			}
			b.WriteByte('\n')
		}
		return b.String()
	})
}

func operation(t *testing.T, name string) collective.Op {
	for _, o := range collective.Ops() {
		if o.String() == name {
			return o
		}
	}
	t.Fatalf("no operation %q", name)
	return 0
}
