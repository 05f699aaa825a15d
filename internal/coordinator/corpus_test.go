package coordinator

import (
	"os"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/wire"
)

// TestCorpusOnDaemons: public files run on two daemons as an independent checker
// says: right, wrong, or stuck. All of them run in emu/predict; here one or two
// of each kind of operation and verdict.
func TestCorpusOnDaemons(t *testing.T) {
	t.Parallel()
	for name, class := range map[string]string{
		"mscclang-gen__allgather_ring_n3_ch1.xml":                           "ok",
		"mscclang-gen__hier_allreduce_2x2_manual.xml":                       "ok",
		"azsched__ncv4-ag_hier_4_LL.xml":                                    "ok",
		"azsched__ndv4-a2a4ll.xml":                                          "ok",
		"forestcoll__msccl_reduceScatter_split_k1_inst1_NVLINK300_IB25.xml": "ok",
		"mscclang-gen__pipeline_ring_4.xml":                                 "wrong",
		"forestcoll__parsed-Allgather.n16-DGXA100-steps8-1704682455_i1.xml": "deadlock",
	} { // order: each case alone
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile("../../../shared/cases/msccl/" + name)
			if err != nil {
				t.Skip("the corpus of public MSCCL files is not here:", err)
			}
			corpusOnDaemons(t, string(text), class)
		})
	}
}

func corpusOnDaemons(t *testing.T, text, class string) {
	f, err := msccl.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	spec := planned(t, text)
	spec.Op = f.Op
	spec.MinBytes = int64(4 * f.Ranks * f.Chunks * 37)
	spec.MaxBytes = spec.MinBytes
	half := (f.Ranks + 1) / 2
	r := gather(t, emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100", GPUs: half}, {Count: 1, System: "dgx-h100", GPUs: f.Ranks - half}}}, 2)
	got, err := r.rows(spec, nil)
	if class == "deadlock" {
		if c := cause(t, err); c.Cause != wire.Deadlock || !strings.Contains(c.Text, "rank 0 block 0 step 1 ") {
			t.Errorf("%v", c)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	row, ran := got.rows[0], 0
	for _, inPlace := range f.Layouts() {
		cell := row.OutOfPlace
		if inPlace {
			cell = row.InPlace
		}
		if ran++; cell.NA || !cell.Checked || (cell.Wrong > 0) != (class == "wrong") {
			t.Errorf("%s: %+v; the file is said to be %s", msccl.Layout(inPlace), cell, class)
		}
	}
	if ran == 0 || f.Op == collective.Custom {
		t.Error("nothing ran that has an answer")
	}
}
