package transit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/wiring"
	"github.com/railyard/railyard/shaping"
)

// TestEgress is the fairness table of DESIGN §4 for the source's egress, where
// the node kernel keeps the rule: a connection posts its next slice when its
// last one has left the NIC. To rewrite the golden, run the test with -rewrite.
//
//	egress [from=500us] [to=5500us]
//	bulk slots=8 slice=1        one connection a line; slice in steps of 512 KiB
//	ping
//
// GPU i of one server sends to GPU i of another, all through one NIC that moves
// 48 GB/s of data. A bulk connection never ends; ping sends 8 bytes every 97 µs.
// The table says what each bulk connection got of the NIC in a span of time, and
// what each ping took from the SM's last store to the first byte on the wire.
func TestEgress(t *testing.T) {
	datadriven.RunTest(t, "testdata/egress.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "egress" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		var list []sender
		for line := range strings.Lines(d.Input) {
			s := sender{slots: 8, steps: 1}
			if strings.TrimSpace(line) == "ping" {
				s.ping = true
			} else if _, err := fmt.Sscanf(line, "bulk slots=%d slice=%d", &s.slots, &s.steps); err != nil {
				d.Fatalf(t, "%q: %v", line, err)
			}
			list = append(list, s)
		}
		e := newNIC(t)
		from, to := shaping.Time(duration(t, d, "from", "500us")), shaping.Time(duration(t, d, "to", "5500us"))
		e.send(t, list, to)
		return e.table(list, from, to)
	})
}

// sender is a connection through the NIC.
type sender struct {
	slots, steps int
	ping         bool
	offset       shaping.Time
}

// pings are sent so often, each by an iteration of its run.
const (
	pings     = 12
	pingEvery = 97 * shaping.Microsecond
)

// nic is two servers of eight GPUs that share a NIC each.
type nic struct {
	fabric  *fabric.Fabric
	egress  fabric.PortID
	records []emu.Record
}

func newNIC(t *testing.T) *nic {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", NICs: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	e := &nic{fabric: f, egress: f.NICEgress(0, 0)}
	f.SetRate(e.egress, shaping.Rate(catalog.WireBytes(collective.Simple, shaping.Bytes(48*shaping.GBps))))
	for id := range int32(f.Ports()) {
		if f.Port(id).Name == "node1/nic0/in" {
			f.SetRate(id, 2*f.Port(e.egress).Rate) // so that nothing but the egress is short
		}
	}
	return e
}

// send runs all senders at once, each as a run of its own, up to an instant.
func (e *nic) send(t *testing.T, list []sender, until shaping.Time) {
	t.Helper()
	var b emu.Batch
	var wired []*wiring.Wiring
	base := wiring.BlockID(0)
	for i, s := range list {
		p := oneWay(s)
		w, err := wiring.Lay(p, base, func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		base += wiring.IDs(p)
		wired = append(wired, w)
		r := emu.Run{Comm: []int{i, 8 + i}, Count: 1 << 30 / 8, DType: collective.Float64, Iterations: 1, Offset: s.offset}
		if s.ping {
			r.Count, r.Iterations, r.Launch = 1, pings, pingEvery
		}
		b.Runs = append(b.Runs, r)
	}
	k := kernel.New(kernel.Config{Fabric: e.fabric, Owners: transit.Owners{Node: []int{0, 0}}, Record: true})
	k.Begin(b, wired)
	k.Run(until, 0)
	e.records = k.Effects().Records
}

// oneWay is a plan of two ranks: the first sends its buffer to the second, a
// slice a loop.
func oneWay(s sender) *collective.Plan {
	p := collective.Plan{Op: collective.Broadcast, Algorithm: "one-way", Protocol: collective.Simple, Ranks: 2, Channels: 1,
		Blocks: 1, Chunks: 1, Slots: s.slots, ChunkSteps: s.steps, SliceSteps: s.steps}
	ends := []collective.Block{
		{SendTo: []int{1}, Steps: []collective.Step{{Kind: collective.Send, Send: 1}}},
		{RecvFrom: []int{0}, Steps: []collective.Step{{Kind: collective.Recv, Recv: 1}}},
	}
	return collective.NewPlan(p, func(rank int) []collective.Block { return ends[rank : rank+1] })
}

// TestPingWaitsForSevenSlices draws when the bulk connections begin, so that
// pings meet them at all places: no ping waits for more than one slice of each.
func TestPingWaitsForSevenSlices(t *testing.T) {
	const hop, post = 600 * shaping.Nanosecond, shaping.Microsecond
	longest := shaping.Duration(0)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 9))
		list := make([]sender, 8)
		for i := range list {
			list[i] = sender{slots: 2 + rng.IntN(7), steps: 1, offset: shaping.Time(rng.IntN(20_000)) * ns}
		}
		list[7].ping = true
		e := newNIC(t)
		e.send(t, list, 1200*us)
		slice := e.fabric.Port(e.egress).Rate.Time(catalog.WireBytes(collective.Simple, 512*shaping.KiB))
		waits := e.waits(7)
		if len(waits) != pings {
			t.Fatalf("seed %d: %d pings of %d got through", seed, len(waits), pings)
		}
		for i, w := range waits {
			if w > hop+post+7*slice {
				t.Errorf("seed %d: ping %d took %v; alone it takes %v, and seven slices %v", seed, i, w, hop+post, 7*slice)
			}
			longest = max(longest, w)
		}
	}
	if longest < 70*shaping.Microsecond {
		t.Errorf("no ping took longer than %v: they met nobody", longest)
	}
}

// waits returns, for each ping, the time from the SM's last store to the NIC's
// first byte.
func (e *nic) waits(gpu int) (all []shaping.Duration) {
	var stored []shaping.Time
	for _, x := range e.records {
		switch {
		case x.Kind == emu.RecordKind(collective.Send) && x.Run == int32(gpu):
			stored = append(stored, x.Start.Add(x.Duration))
		case x.Port == e.egress && x.Rank == int32(gpu):
			all = append(all, x.Start.Sub(stored[len(all)]))
		}
	}
	return all
}

func (e *nic) table(list []sender, from, to shaping.Time) string {
	var b strings.Builder
	b.WriteString("gpu  slots    slice   GB/s  share\n")
	for i, s := range list {
		if s.ping {
			continue
		}
		var held shaping.Duration
		for _, x := range e.records {
			if x.Port == e.egress && x.Rank == int32(i) {
				held += max(0, min(to, x.Start.Add(x.Duration)).Sub(max(from, x.Start)))
			}
		}
		share := float64(held) / float64(to.Sub(from))
		fmt.Fprintf(&b, "%3d  %5d  %7s  %5.2f  %5.2f %%\n", i, s.slots, shaping.Bytes(s.steps)*512*shaping.KiB, 48*share, 100*share)
	}
	for i, s := range list {
		if !s.ping {
			continue
		}
		fmt.Fprintf(&b, "gpu %d pings:", i)
		for _, w := range e.waits(i) {
			fmt.Fprintf(&b, " %.1f", float64(w)/float64(shaping.Microsecond))
		}
		b.WriteString(" us\n")
	}
	return b.String()
}
