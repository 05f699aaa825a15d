package predict_test

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

// What everybody says of this hardware, measured: messages pass the ports, and
// what comes out is compared with what is said.

// measured returns what topo perf says of a test.
func measured(t *testing.T, f *fabric.Fabric, test string) shaping.Rate {
	t.Helper()
	for _, m := range topo.Measure(f) {
		if m.Test == test {
			return m.Rate
		}
	}
	t.Fatalf("no %s", test)
	return 0
}

// everyNext lets every GPU send to the next at once, and returns what all of them
// together send and receive on the wire.
func everyNext(t *testing.T, f *fabric.Fabric, bytes int64, channels int) shaping.Rate {
	t.Helper()
	n := f.GPUs()
	var runs []emu.Run
	for i := range n {
		run := stream(i, (i+1)%n, bytes)
		run.Options.Channels = channels
		runs = append(runs, run)
	}
	var end shaping.Time
	for _, e := range last(execute(t, predict.New(f, false), runs...), n) {
		end = max(end, e)
	}
	wire := int64(catalog.WireBytes(collective.Simple, shaping.Bytes(bytes)))
	return shaping.Rate(2 * int64(n) * (wire * 1_000_000 / (int64(end) / 1_000_000)))
}

// percent fails unless got is from so many to so many per cent of what is said.
func percent(t *testing.T, what string, got, said shaping.Rate, from, to int64) {
	t.Helper()
	p := int64(got) / (int64(said) / 100)
	t.Logf("%s: %v, said are %v: %d %%", what, got, said, p)
	if p < from || p > to {
		t.Errorf("%s: %v is %d %% of %v", what, got, p, said)
	}
}

// TestStatements: NVLink 5 is about 14 times PCIe 5 x16; NVL72 aggregates
// 130 TB/s; a QM9700 carries 51.2 Tb/s. Of rates of wires, copies get what is
// usable: 856 ‰ of NVLink 5, which 32 SMs leave idle for an eighth of the time, while
// they wait for their slices of 512 KiB to have arrived, and 980 ‰ of NDR.
func TestStatements(t *testing.T) {
	b200 := built(t, emu.Cluster{Groups: []emu.Group{some(1, "dgx-b200")}})
	percent(t, "NVLink 5, as 14 times PCIe 5", measured(t, b200, "peer copy"), 14*measured(t, b200, "host to device"), 95, 105)

	rack := built(t, emu.Cluster{Groups: []emu.Group{some(18, "gb200-nvl72")}})
	if rack.GPUs() != 72 {
		t.Fatalf("a rack has %d GPUs", rack.GPUs())
	}
	percent(t, "NVL72", everyNext(t, rack, 1<<30, 32), 130_000*shaping.GBps, 72, 75)

	full := built(t, emu.Cluster{Groups: []emu.Group{{Count: 64, System: "dgx-h100", GPUs: 1}}, Fabric: emu.Fabric{Kind: "single", Link: "ndr"}})
	percent(t, "QM9700", everyNext(t, full, 64<<20, 4), 51_200*shaping.Gbps, 95, 98)
}

// TestTensorParallelStaysInside: the all-reduce of a layer among 8 GPUs takes
// several times longer across 8 servers than inside of one, at 1 MiB as at 64; and
// a ring over 2 servers gets what their NICs carry, whatever NVLink could.
func TestTensorParallelStaysInside(t *testing.T) {
	took := func(g emu.Group, bytes int64) shaping.Duration {
		f := built(t, emu.Cluster{Groups: []emu.Group{g}})
		run := allReduce(f, "ring", collective.Options{Channels: 16}, bytes)
		run.Iterations = 2 // the first fills the FIFOs
		out := execute(t, predict.New(f, false), run)
		return out.Period(0, &run, 1)
	}
	for bytes, times := range map[int64]int64{1 << 20: 2, 64 << 20: 6} { // order: each size is measured alone
		inside, across := took(some(1, "dgx-h100"), bytes), took(emu.Group{Count: 8, System: "dgx-h100", GPUs: 1}, bytes)
		t.Logf("%d bytes: %v inside, %v across", bytes, inside, across)
		if int64(across) < times*int64(inside) {
			t.Errorf("%d bytes: %v inside of a server, %v across; want %d times as long", bytes, inside, across, times)
		}
	}
	for _, nics := range []int{1, 2, 4} {
		const bytes = 64 << 20
		bus := busbw(bytes, 16, took(emu.Group{Count: 2, System: "dgx-h100", NICs: nics}, bytes))
		if most := int64(nics) * 49_000 * 950 / 1000; bus > most*1001/1000 || bus*100 < most*97 {
			t.Errorf("%d NICs: %d MB/s of %d", nics, bus, most)
		}
	}
}
