package verbs

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/shaping"
)

// considered is a row on which tree, ring and NVLS were considered.
func considered(size int64, tree, ring shaping.Duration) (*report.Row, *coordinator.Row) {
	r := &coordinator.Row{}
	r.Candidates = []tuner.Estimate{
		{Algorithm: tuner.Tree, Protocol: collective.LL, Time: tree},
		{Algorithm: tuner.Ring, Protocol: collective.Simple, Time: ring},
		{Algorithm: tuner.NVLS, Protocol: collective.Simple, Time: ring / 2, Why: "no switch"},
		{Algorithm: "mine", Protocol: collective.Simple},
	}
	r.Chosen, r.Channels = r.Candidates[tuner.Choose(r.Candidates)], 4
	return &report.Row{Size: size, Type: "float", RedOp: "sum", Root: -1, OutOfPlace: report.Cell{TimePs: size * 1_040_000}}, r
}

func TestExplanation(t *testing.T) {
	const us = shaping.Microsecond
	e := &explanation{NCCL: "2.30"}
	for _, x := range []struct {
		size       int64
		tree, ring shaping.Duration
	}{{8, 20 * us, 60 * us}, {16, 40 * us, 62*us + us/2}, {32, 80 * us, 65 * us}} {
		e.add(considered(x.size, x.tree, x.ring))
	}
	e.cross()
	want := `
What was considered, in us by the model of NCCL 2.30: * ran, () may not be used, - has no model
        size     type  redop       took     tree/ll  ring/simple  nvls/simple  mine/simple
           8    float    sum        8.3       *20.0         60.0       (30.0)            -
          16    float    sum       16.6       *40.0         62.5       (31.3)            -
          32    float    sum       33.3        80.0        *65.0       (32.5)            -
() nvls/simple: no switch
of ring and tree, tree is cheaper up to 16 bytes and ring from 32 bytes on (float)`
	if got := strings.Join(e.lines(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	b, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"nccl":"2.30"`, `"took_ps":8320000`, `{"algorithm":"nvls","protocol":"simple","estimate_ps":30000000,"why":"no switch"}`,
		`"estimate_ps":20000000,"chosen":true`, `"crossings":[{"from":"tree","to":"ring","up_to_bytes":16,"from_bytes":32,"type":"float"}]`} {
		if !strings.Contains(string(b), part) {
			t.Errorf("%s is not in %s", part, b)
		}
	}
	var none *explanation
	none.add(considered(8, us, us))
	none.cross()
	if none.lines() != nil {
		t.Error("nobody asked")
	}
}

// A NIC that is faster than its slot is named, with both rates; one that is not
// is not.
func TestExplanationNamesSlots(t *testing.T) {
	for _, tc := range []struct {
		system, link, want string
	}{
		{"dgx-h100", "ndr", ""},
		{"dgx-h100", "xdr", "dgx-h100: nic0 to nic7 could send 98GB/s each, and a slot of gen5x16 carries 55.44GB/s for each: the slot is the limit"},
		{"dgx-b300", "xdr", ""},
		{"dgx-1-v100", "hdr", "dgx-1-v100: nic0 to nic3 could send 24.5GB/s each, and a slot of gen3x16 carries 13.86GB/s for each: the slot is the limit"},
	} {
		e := &explanation{}
		if err := e.look(emu.Cluster{Groups: []emu.Group{{Count: 2, System: tc.system}}, Fabric: emu.Fabric{Link: tc.link}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.Limits, "\n"); got != tc.want {
			t.Errorf("%s on %s: %q, want %q", tc.system, tc.link, got, tc.want)
		}
		e.add(considered(8, shaping.Microsecond, shaping.Microsecond))
		if said := strings.Contains(strings.Join(e.lines(), "\n"), "\nlimit: "+tc.system); said != (tc.want != "") {
			t.Errorf("%s on %s: below the table: %v", tc.system, tc.link, said)
		}
	}
}

func TestNCCLVersions(t *testing.T) {
	for minor, want := range map[int]int{30: 23007, 18: 21803, 20: 22001} {
		if got := ncclVersion(minor); got != want {
			t.Errorf("2.%d is %d, want %d", minor, got, want)
		}
	}
}
