package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
)

func planText(t testing.TB) []byte {
	t.Helper()
	p, err := collective.Build("ring", collective.AllReduce, collective.Uniform(1, 3), collective.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := msccl.Export(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPlanTravels: a run carries its plan's text, from which the other side
// makes the plan, once; so does a sweep.
func TestPlanTravels(t *testing.T) {
	file := planText(t)
	run := emu.Run{Op: collective.AllReduce, Algorithm: "ring", File: file, Comm: []int{0, 1, 2}, Count: 3, Iterations: 1, Options: collective.Options{Channels: 1}}
	var got [2]emu.Run
	for i := range got {
		var err error
		if got[i], err = DecodeRun(EncodeRun(&run)); err != nil {
			t.Fatal(err)
		}
	}
	if got[0].Plan == nil || got[0].Plan != got[1].Plan || !got[0].Plan.Imported || got[0].Plan.Ranks != 3 || !bytes.Equal(got[0].File, file) {
		t.Errorf("plans %p and %p", got[0].Plan, got[1].Plan)
	}
	run.Options.Root = 1
	if other, err := DecodeRun(EncodeRun(&run)); err != nil || other.Plan == got[0].Plan || other.Plan.Root != 1 {
		t.Errorf("another root: %v", err)
	}
	s := sweep.Spec{Op: collective.AllReduce, MaxBytes: 12, Algorithm: sweep.Auto, AutoProtocol: true, File: file}
	spec, err := DecodeSpec(EncodeSpec(&s, false))
	if err != nil || spec.Plan != got[0].Plan || len(spec.Layouts) != 2 {
		t.Errorf("%v: %+v", err, spec)
	}
}

// TestBadPlanIsRefused: a nodesim trusts no text.
func TestBadPlanIsRefused(t *testing.T) {
	for want, file := range map[string][]byte{
		"file: no <algo>": []byte("oops"),
		"16777217 bytes":  make([]byte, 16<<20+1),
		"root 7":          planText(t),
	} { // order: each case alone
		run := emu.Run{File: file, Comm: []int{0}, Iterations: 1, Options: collective.Options{Channels: 1}}
		if want == "root 7" {
			run.Options.Root = 7
		}
		if _, err := DecodeRun(EncodeRun(&run)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want …%s…", err, want)
		}
	}
}

// TestEmptyCell: a half that was not run is not one that took no time.
func TestEmptyCell(t *testing.T) {
	na := sweep.Cell{NA: true}
	if got := decodeCell(encodeCell(&na)); got != na {
		t.Errorf("%+v", got)
	}
	if got := decodeCell(encodeCell(&sweep.Cell{})); got.NA {
		t.Errorf("%+v", got)
	}
}
