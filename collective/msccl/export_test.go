package msccl

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
)

// TestRoundTrip: every plan of ours that can be written is read back as one
// that is right, in the same layouts.
func TestRoundTrip(t *testing.T) {
	shapes := []collective.Shape{collective.Uniform(1, 1), collective.Uniform(1, 2), collective.Uniform(2, 2), collective.Uniform(1, 5), collective.Uniform(4, 2), collective.Uniform(3, 4)}
	done := map[string]int{}
	for _, a := range collective.Algorithms() {
		for _, op := range a.Ops {
			for _, shape := range shapes {
				p, err := collective.Build(a.Name, op, shape, collective.Options{Channels: 2})
				if err != nil {
					continue // not for this shape
				}
				var b bytes.Buffer
				if _, err := Export(&b, p); err != nil {
					continue // switches, or an operation without a name
				}
				name := fmt.Sprintf("%s %s of %d ranks", a.Name, op, p.Ranks)
				f, err := Parse(b.Bytes())
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, b.String())
				}
				verdicts, err := f.Judge(p.Root)
				if err != nil || len(verdicts) == 0 {
					t.Fatalf("%s: %v", name, err)
				}
				for i := range verdicts {
					if v := &verdicts[i]; !v.Right() || v.Races > 0 {
						t.Fatalf("%s: %s\n%s", name, v.Text, b.String())
					}
				}
				done[a.Name]++
			}
		}
	}
	if done["ring"] < 18 || done["tree"] < 5 {
		t.Errorf("too few plans were written: %v", done)
	}
}

func TestExportRefuses(t *testing.T) {
	p := collective.NewPlan(collective.Plan{Op: collective.AllReduce, Algorithm: "none", Ranks: 2, Channels: 1, Chunks: 1, Slots: 8, ChunkSteps: 1, SliceSteps: 1},
		func(int) []collective.Block { return nil })
	var b bytes.Buffer
	if _, err := Export(&b, p); err == nil || !strings.Contains(err.Error(), "not right") || b.Len() > 0 {
		t.Errorf("a plan that does nothing: %v", err)
	}
}

func TestExportSaysWhoWillNotReadIt(t *testing.T) {
	p, err := collective.Build("ring", collective.AllReduce, collective.Uniform(1, 64), collective.Options{Channels: 1})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	notes, err := Export(&b, p)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "127 steps a block: RCCL takes 64 and 64") {
		t.Errorf("notes %q, %v", notes, err)
	}
}
