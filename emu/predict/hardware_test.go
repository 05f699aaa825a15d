package predict_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

// question is a run of docs/hardware.md: what somebody wants to know, and the
// arithmetic that says what the answer can be at most.
type question struct {
	what    string
	flags   string // of coordinator predict, after the operation
	cluster emu.Cluster
	op      collective.Op
	algo    string
	bytes   int64
	// most returns the bus bandwidth that no run can exceed, in MB/s, and how it
	// comes about. The run must reach least per cent of it.
	most  func(figures) (int64, string)
	least int64
	// channels is how many there are, 0: 16; ranks the GPU of each rank, nil: in
	// order.
	channels int
	ranks    []int
}

// figures are rates of a cluster in MB/s: data on NVLink, of which SMs get so many ‰, what a NIC sends, what a
// slot carries, a link between sockets, and an SM to host memory; and the ‰ of wire
// bytes that are data. Fullest is how many ‰ of a buffer cross the fullest link
// between switches in an iteration, as counted in the run; link is its name.
type figures struct {
	nv, sms, nic, slot, between, host, eff, fullest int64
	link                                            string
}

// ring is what SMs move over a GPU's links, in MB/s of data.
func (v *figures) ring() int64 { return v.nv * v.eff / 1000 * v.sms / 1000 }

func figuresOf(f *fabric.Fabric) figures {
	sys := f.System(0)
	mb := func(r shaping.Rate) int64 { return int64(r / shaping.MBps) }
	return figures{nv: mb(sys.NVLink.Wire.Permille(sys.NVLink.Usable)), sms: cmp.Or(sys.NVLink.SMUsable, 1000), nic: mb(f.Port(f.NICEgress(0, 0)).Rate),
		slot:    mb(sys.PCIe.Wire.Permille(sys.PCIe.Usable)),
		between: mb(sys.Board.Between), host: mb(sys.SM.Host), eff: catalog.Efficiency(collective.Simple)}
}

// gb writes MB/s as GB/s.
func gb(mb int64) string { return fmt.Sprintf("%d.%02d", mb/1000, mb%1000/10) }

// groupsOf returns a cluster of groups of so many servers each.
func groupsOf(counts ...int) emu.Cluster {
	var c emu.Cluster
	for _, n := range counts {
		c.Groups = append(c.Groups, emu.Group{Count: n, System: "dgx-h100"})
	}
	return c
}

func with(c emu.Cluster, gpus, nics int, link string, over int) emu.Cluster {
	for i := range c.Groups {
		c.Groups[i].GPUs, c.Groups[i].NICs = gpus, nics
	}
	c.Fabric.Link, c.Fabric.Oversubscription = link, over
	return c
}

// byNICs is what a ring over so many NICs a server can do.
func byNICs(n int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		most := n * v.nic * v.eff / 1000
		return most, fmt.Sprintf("%d NICs × %s GB/s × %d ‰ data = %s; NVLink would carry %s", n, gb(v.nic), v.eff, gb(most), gb(v.ring()))
	}
}

func byNVLink(v figures) (int64, string) {
	most := v.ring()
	return most, fmt.Sprintf("a GPU's links, data, what SMs get of that: %s GB/s × %d ‰ × %d ‰ = %s", gb(v.nv), v.eff, v.sms, gb(most))
}

func bySwitch(v figures) (int64, string) {
	most := v.nv * 820 / 1000 * 8 / 9 * v.eff / 1000 * 14 / 8
	return most, fmt.Sprintf("links %s × 820 ‰ (multimem) = %s; a GPU sends its buffer to be reduced and its eighth to be multicast, 9/8 of it: × 8/9; × %d ‰ data; a bus bandwidth is 2 × 7/8 of that: %s",
		gb(v.nv), gb(v.nv*820/1000), v.eff, gb(most))
}

func bySlots(n int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		most := n * v.slot * v.eff / 1000
		return most, fmt.Sprintf("a NIC could send %s GB/s, its slot carries %s: %d × %s × %d ‰ data = %s", gb(v.nic), gb(v.slot), n, gb(v.slot), v.eff, gb(most))
	}
}

func xdr(v figures) (int64, string) {
	slots, _ := bySlots(8)(v)
	ring, _ := byNVLink(v)
	return slots, fmt.Sprintf("8 slots carry 8 × %s × %d ‰ = %s; the ring's way inside the server would be narrower (%s), so rings leave by the NIC of their last GPU and NVLink carries 7/8", gb(v.slot), v.eff, gb(slots), gb(ring))
}

// ringOver is a ring over uplinks: one flow a rail leaves a group of servers.
func ringOver(servers, over int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		up := servers * v.nic / over
		most := 8 * min(up, v.nic) * v.eff / 1000
		return most, fmt.Sprintf("a group's uplink carries %d × %s / %d = %s GB/s a rail, and one flow a rail leaves the group: 8 × %s × %d ‰ = %s",
			servers, gb(v.nic), over, gb(up), gb(min(up, v.nic)), v.eff, gb(most))
	}
}

// exchangeNICs is an all-to-all of 4 servers whose NICs are the limit.
func exchangeNICs(v figures) (int64, string) {
	most := v.nic * v.eff / 1000 * 32 / 24 * 31 / 32
	return most, fmt.Sprintf("24 of a GPU's 32 parts leave by its NIC: %s × %d ‰ × 32/24 × 31/32 (bus) = %s", gb(v.nic), v.eff, gb(most))
}

// exchangeOver is the same over uplinks of two groups of so many servers.
func exchangeOver(servers, over int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		up, ranks := servers*v.nic/over, 16*servers
		most := up * 2 / servers * v.eff / 1000 * (ranks - 1) / ranks
		return most, fmt.Sprintf("%d of a GPU's %d parts go to the other group, of %d GPUs a rail: %d halves of a buffer through %d × %s / %d = %s: × %d ‰ × 2/%d × %d/%d (bus) = %s",
			ranks/2, ranks, servers, servers, servers, gb(v.nic), over, gb(up), v.eff, servers, ranks-1, ranks, gb(most))
	}
}

func questions() []question {
	reduce, exchange := collective.AllReduce, collective.AllToAll
	return []question{
		{"8 × H100 in one server, ring", "--nodes 1 --algo ring", groupsOf(1), reduce, "ring", 1 << 30, byNVLink, 90, 0, nil},
		{"the same, reduced by the NVSwitch", "--nodes 1 --algo nvls", groupsOf(1), reduce, "nvls", 1 << 30, bySwitch, 95, 0, nil},
		{"8 GPUs on 8 servers: tensor-parallel traffic outside of its domain", "--nodes 8 --gpus-per-node 1 --algo ring", with(groupsOf(8), 1, 1, "", 0), reduce, "ring", 256 << 20, byNICs(1), 95, 0, nil},
		{"4 servers, 8 NICs each: a ring over NVLink and InfiniBand is bound by the NICs", "--nodes 4 --algo ring", groupsOf(4), reduce, "ring", 1 << 30, byNICs(8), 95, 0, nil},
		{"4 NICs for 8 GPUs", "--nodes 4 --nics 4 --algo ring", with(groupsOf(4), 8, 4, "", 0), reduce, "ring", 256 << 20, byNICs(4), 95, 0, nil},
		{"XDR instead of NDR, PCIe 5", "--nodes 4 --fabric rail-xdr --algo ring", with(groupsOf(4), 8, 8, "xdr", 0), reduce, "ring", 1 << 30, xdr, 93, 0, nil},
		{"4 NICs of XDR in slots of PCIe 5", "--nodes 4 --nics 4 --fabric rail-xdr --algo ring", with(groupsOf(4), 8, 4, "xdr", 0), reduce, "ring", 256 << 20, bySlots(4), 93, 0, nil},
		{"2 groups of 2 servers, oversubscribed 2:1", "--cluster FILE --algo ring", with(groupsOf(2, 2), 8, 8, "", 2), reduce, "ring", 1 << 30, ringOver(2, 2), 93, 0, nil},
		{"2 groups of 4 servers, oversubscribed 4:1: one link a rail is enough for a ring", "--cluster FILE --algo ring", with(groupsOf(4, 4), 8, 8, "", 4), reduce, "ring", 1 << 30, ringOver(4, 4), 90, 0, nil},
		{"all-to-all of 4 servers", "--nodes 4 --algo direct", groupsOf(4), exchange, "direct", 256 << 20, exchangeNICs, 85, 0, nil},
		{"all-to-all of 2 groups of 2, oversubscribed 2:1", "--cluster FILE --algo direct", with(groupsOf(2, 2), 8, 8, "", 2), exchange, "direct", 256 << 20, exchangeOver(2, 2), 85, 0, nil},
		{"all-to-all of 2 groups of 4, oversubscribed 4:1", "--cluster FILE --algo direct", with(groupsOf(4, 4), 8, 8, "", 4), exchange, "direct", 256 << 20, exchangeOver(4, 4), 80, 0, nil},
	}
}

// exchangeChunk is what NCCL sends at a time between servers, as emu/tuner has it
// for the command line.
const exchangeChunk = 128 * 1024

// ask runs a question and returns its bus bandwidth in MB/s, and figures with what
// was counted.
func ask(t *testing.T, q *question, f *fabric.Fabric) (int64, figures) {
	t.Helper()
	n := int64(f.GPUs())
	run := emu.Run{Op: q.op, Algorithm: q.algo, Options: collective.Options{Channels: cmp.Or(q.channels, 16)}, Comm: f.All(), Count: q.bytes / 4, Iterations: 2}
	if q.op == collective.AllToAll {
		run.Count /= n
		run.Options.ChunkBytes = exchangeChunk
	}
	if q.algo == "nvls" {
		run.Options.ChunkBytes = nvlsChunk(q.bytes, int64(run.Options.Channels)*min(n, collective.NVLSHeads))
	}
	if q.ranks != nil {
		run.Comm = q.ranks
	}
	s, v := predict.New(f, false), figuresOf(f)
	out := execute(t, s, run)
	took := out.Period(0, &run, 1)
	for _, use := range s.Kernel().Ports() {
		name := f.PortName(fabric.PortID(use.Port))
		if data := int64(use.Bytes) * v.eff / 2 / q.bytes; strings.HasPrefix(name, "group") && data > v.fullest {
			v.fullest, v.link = data, name
		}
	}
	if q.op == collective.AllToAll {
		return algbw(q.bytes, took) * (n - 1) / n, v
	}
	return busbw(q.bytes, int(n), took), v
}

// TestHardware holds docs/hardware.md against runs: each number stays below what
// its line of arithmetic allows and comes near. -rewrite writes the page anew.
func TestHardware(t *testing.T) {
	if raced {
		t.Skip("too slow under the race detector, and there is no goroutine in it")
	}
	var b strings.Builder
	b.WriteString(hardwareHead)
	wireTable(t, &b)
	b.WriteString("\n## Collectives\n\nBus bandwidth, as nccl-tests reckons it, in GB/s, with 16 channels of Simple. Each line is a run of\n`coordinator predict OP` with these flags; the arithmetic below it is what the run cannot exceed. FILE\nhas two groups of two servers: `nodes: [{count: 2, system: dgx-h100}, {count: 2, system: dgx-h100}]`, and\n`fabric: {kind: rail-optimized, link: ndr, oversubscription: 2}`, or two of four and 4. Links between switches\nare whole: two servers at 4:1 would have one link up all the same.\nTwo iterations are run here; the command line times more, which changes all-to-all by less than 1 %.\n")
	answer(t, &b, questions())
	b.WriteString(domainsHead)
	answer(t, &b, domainQuestions())
	b.WriteString(serversHead)
	answer(t, &b, serverQuestions(t))
	b.WriteString(routingHead)
	answer(t, &b, routingQuestions(t))
	b.WriteString(shapesHead)
	answer(t, &b, shapeQuestions())
	b.WriteString(podsHead)
	superPODs(t, &b)
	const path = "../../docs/hardware.md"
	if flag.Lookup("rewrite").Value.String() == "true" {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != b.String() {
		t.Errorf("%s is not what runs say (%v); make hardware writes it anew", path, err)
	}
}

// answer runs questions, holds each to its bound and writes what came out.
func answer(t *testing.T, b *strings.Builder, all []question) {
	t.Helper()
	for _, q := range all {
		f, err := fabric.New(q.cluster)
		if err != nil {
			t.Fatal(err)
		}
		got, v := ask(t, &q, f)
		most, why := q.most(v)
		// Iterations overlap: one may begin with FIFOs that the one before has filled.
		const overlap = 1 // ‰
		if got > most*(1000+overlap)/1000 || got < most*q.least/100 {
			t.Errorf("%s: %d MB/s, want %d %% of %d or more, and no more than that: %s", q.what, got, q.least, most, why)
		}
		fmt.Fprintf(b, "\n**%s**: **%s** (`%v %s --channels %d --proto simple`, %v)  \n%s. The run reaches %d %% of that.\n",
			q.what, gb(got), q.op, q.flags, cmp.Or(q.channels, 16), shaping.Bytes(q.bytes), why, got*100/most)
	}
}

// wireTable writes what copies and verbs programs measure, and why.
func wireTable(t *testing.T, b *strings.Builder) {
	t.Helper()
	f := servers(t, 2, 8)
	v, sys := figuresOf(f), f.System(0)
	link, err := catalog.LookupLink("ndr")
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{
		"peer copy":      fmt.Sprintf("%s of wire × %d ‰ = %s GB/s a direction", sys.NVLink.Wire, sys.NVLink.Usable, gb(v.nv)),
		"host to device": fmt.Sprintf("%s × %d ‰ = %s", sys.PCIe.Wire, sys.PCIe.Usable, gb(v.slot)),
		"ib_write_bw":    fmt.Sprintf("%s × %d ‰ = %s; one queue pair pauses 135 ns after each 64 KiB, which take 1337.5 ns", link.Wire, link.Usable, gb(v.nic)),
		"ib_write_lat":   fmt.Sprintf("2 NICs × %v + 1 switch × %v on the same rail, 3 switches on another", link.NIC, link.Switch),
	}
	why["device to host"] = why["host to device"]
	for _, m := range topo.Measure(f) {
		result := gb(int64(m.Rate/shaping.MBps)) + " GB/s"
		if m.Rate == 0 {
			result = m.Latency.String()
		}
		fmt.Fprintf(b, "| %s, %s | %s | %s |\n", m.Test, m.Note, result, why[m.Test])
	}
}

const hardwareHead = `# What limits what

Written by ` + "`make hardware`" + ` from runs of the emulator; edit ` + "`emu/predict/hardware_test.go`" + ` instead, whose test
fails when this page is not what runs say. The hardware is ` + "`dgx-h100`" + ` on ` + "`rail-ndr`" + ` unless a line says otherwise.
Figures and their sources are in ` + "`emu/catalog`" + `; ` + "`coordinator topo show`" + ` lists the ways, ` + "`topo path`" + ` goes along one.

## The wire

What ` + "`coordinator topo perf`" + ` measures, and where it comes from. On real hardware nvbandwidth says 396.4 and 783.7 GB/s
between two H200, 55.4 and 55.1 GB/s between host and device; ib_write_bw 44.5 GB/s at 64 KiB over one queue pair;
ib_write_lat 1.79 µs on the same rail and 2.40 µs on another.

| measured | result | arithmetic |
|---|---|---|
`
