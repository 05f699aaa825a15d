package predict_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/machine/topoxml"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// Public reports of what clusters did, each as cluster files under
// testdata/reports and the answer that is right. Their numbers are those of the
// reports; emu/simtest runs the same files with real elements.

// report makes the cluster of a file.
func report(t *testing.T, name string) *fabric.Fabric {
	t.Helper()
	file := filepath.Join("testdata/reports", name+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c, err := emu.ParseCluster(file, data)
	if err != nil {
		t.Fatal(err)
	}
	return built(t, c)
}

// Report 09: one GPU of a rack has lost its NVLink records. The file's reader is
// told which, and the whole job is at least five times slower.
func TestReport09(t *testing.T) {
	healthy, lost := report(t, "09-healthy"), report(t, "09-lost")
	const says = "machine tray1: gpu1 has no NVLink although others have"
	if notes := strings.Join(healthy.Notes(), "\n"); strings.Contains(notes, "no NVLink") {
		t.Errorf("of the healthy rack is said:\n%s", notes)
	}
	if notes := strings.Join(lost.Notes(), "\n"); strings.Count(notes, "no NVLink") != 1 || !strings.Contains(notes, says) {
		t.Errorf("%q is not all that is said of links:\n%s", says, notes)
	}
	a, b := ringBus(t, healthy), ringBus(t, lost)
	t.Logf("healthy %d MB/s, one GPU off NVLink %d", a, b)
	if a < 500_000 || b*5 > a {
		t.Errorf("healthy %d MB/s, one GPU off NVLink %d", a, b)
	}
}

// Report 15: 12 GB/s with GPUDirect, 6 without, 4 over sockets.
func TestReport15(t *testing.T) {
	direct, staged, tcp := ringBus(t, report(t, "15-direct")), ringBus(t, report(t, "15-staged")), ringBus(t, report(t, "15-tcp"))
	t.Logf("GPUDirect %d, staged %d, sockets %d MB/s", direct, staged, tcp)
	if direct < 11_000 || direct > 12_000 || staged*100 < direct*45 || staged*100 > direct*58 || tcp < 3_500 || tcp > 4_000 {
		t.Errorf("GPUDirect %d, staged %d, sockets %d MB/s", direct, staged, tcp)
	}
}

// Report 17: bandwidth follows the NICs in use, not the GPUs as such.
func TestReport17(t *testing.T) {
	four, eight, shared := ringBus(t, report(t, "17-four")), ringBus(t, report(t, "17-eight")), ringBus(t, report(t, "17-shared"))
	t.Logf("4 GPUs %d, 8 GPUs %d, 8 on 4 NICs %d MB/s", four, eight, shared)
	if four < 43_000 || four > 48_000 || eight < four*185/100 || eight > four*205/100 || shared > four*105/100 {
		t.Errorf("4 GPUs %d, 8 GPUs %d, 8 on 4 NICs %d MB/s", four, eight, shared)
	}
}

// Report 21: eight times 100 Gb/s carry as much between six nodes as between
// three; to fall to 40 GB/s takes uplinks of 40 GB/s.
func TestReport21(t *testing.T) {
	three, six, over := ringBus(t, report(t, "21-three")), ringBus(t, report(t, "21-six")), ringBus(t, report(t, "21-oversubscribed"))
	t.Logf("3 nodes %d, 6 nodes %d, 6 at 2.5:1 %d MB/s", three, six, over)
	if three < 85_000 || six*100 < three*93 || over > 40_000 || over < 33_000 {
		t.Errorf("3 nodes %d, 6 nodes %d, 6 at 2.5:1 %d MB/s", three, six, over)
	}
}

// Report 49: a rate is the link's, not each connection's: one, two or eight
// flows over 100 MB/s together get all of what is usable of it, and no more, in
// equal shares.
func TestReport49(t *testing.T) {
	f := report(t, "49-one-link")
	ndr, err := catalog.LookupLink("ndr")
	if err != nil {
		t.Fatal(err)
	}
	const bytes = 4 << 20
	wire := int64(catalog.WireBytes(collective.Simple, bytes))
	for _, n := range []int{1, 2, 8} {
		var runs []emu.Run
		for i := range n {
			runs = append(runs, stream(i, 8+i, bytes))
		}
		ends := last(execute(t, predict.New(f, false), runs...), n)
		first, end := ends[0], ends[0]
		for _, e := range ends {
			first, end = min(first, e), max(end, e)
		}
		rate := shaping.Rate(int64(n) * wire * 1_000_000 / (int64(end) / 1_000_000))
		most := (100 * shaping.MBps).Permille(ndr.Usable)
		t.Logf("%d flows: %v together, ends from %v to %v", n, rate, first, end)
		if rate > most || rate < most*97/100 || (end-first)*100 > 2*end {
			t.Errorf("%d flows: %v together of %v, ends from %v to %v", n, rate, most, first, end)
		}
	}
}

// Report 53: all that a rank sends leaves by its one port, whatever the number of
// peers: neither direct exchange nor a ring can beat 2 × 7/8 of the buffer.
func TestReport53(t *testing.T) {
	f := report(t, "53-one-switch")
	const bytes = 100_000_000
	const least = 3_500 * shaping.Microsecond // 2 × 7/8 × 100 MB at 50 GB/s
	took := map[string]shaping.Duration{}
	for _, algorithm := range []string{"ring", "direct"} {
		run := allReduce(f, algorithm, collective.Options{Channels: 8}, bytes)
		out := execute(t, predict.New(f, false), run)
		took[algorithm] = out.Period(0, &run, 0)
	}
	t.Logf("ring %v, direct %v", took["ring"], took["direct"])
	if took["ring"] < least || took["direct"] < least || took["direct"]*100 < took["ring"]*90 || took["ring"]*100 > least*115 {
		t.Errorf("ring %v, direct %v; at least %v each, and about that", took["ring"], took["direct"], least)
	}
}

// Report 55: two hosts whose devices have the same bus ids stay two, with more
// devices together than NCCL's table of 256 once held, and run.
func TestReport55(t *testing.T) {
	files, err := filepath.Glob("../../../shared/cases/nccl-topo/*.xml")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, s := range catalog.Systems() {
		m := s.Machine()
		texts[s.Name] = topoxml.Write(&m)
	}
	for _, file := range files { // none where the files of the field are not
		if texts[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	pairs := 0
	for name, text := range texts { // order: each pair is looked at alone
		in, err := topoxml.Read("host", text)
		if err != nil || len(in.Machines[0].GPUs) == 0 {
			continue // refused; the reader's own tests say which
		}
		a, b := in.Machines[0], in.Machines[0]
		a.Name, b.Name = "one", "other"
		if len(a.NICs) == 0 {
			continue // nothing joins two of them
		}
		f := built(t, emu.Cluster{Machines: append(in.Machines[:0:0], a, b), Groups: []emu.Group{{Count: 1, Machine: "one"}, {Count: 1, Machine: "other"}}})
		if f.Nodes() != 2 || f.GPUs() != 2*len(a.GPUs) {
			t.Errorf("%s: %d nodes, %d GPUs of twice %d", name, f.Nodes(), f.GPUs(), len(a.GPUs))
		}
		execute(t, predict.New(f, false), allReduce(f, "ring", collective.Options{Channels: 2}, 64<<10))
		pairs++
	}
	if pairs < len(catalog.Systems()) {
		t.Errorf("%d pairs ran", pairs)
	}
}
