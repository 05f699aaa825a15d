package timeline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/timeline"
)

// trace is what Chrome reads, as far as it matters here.
type trace struct {
	Unit   string `json:"displayTimeUnit"`
	Events []struct {
		Phase string          `json:"ph"`
		PID   int             `json:"pid"`
		TID   int             `json:"tid"`
		Start json.Number     `json:"ts"`
		Dur   json.Number     `json:"dur"`
		Name  string          `json:"name"`
		Args  json.RawMessage `json:"args"`
	} `json:"traceEvents"`
}

// TestTrace: a trace has an event for each record, with its instants to the
// picosecond, however the timeline is cut into writes.
func TestTrace(t *testing.T) {
	text, err := write(emu.Cluster{Groups: []emu.Group{{Count: 2, System: "dgx-h100", GPUs: 2}}},
		emu.Run{Op: collective.AllReduce, Algorithm: "ring", DType: collective.Float32, Count: 50_000, Iterations: 1,
			Options: collective.Options{Channels: 2}})
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	for cut := range 3 {
		var out bytes.Buffer
		w := timeline.NewTrace(&out)
		rng := rand.New(rand.NewPCG(uint64(cut), 0))
		for rest := text; rest != ""; {
			n := min(len(rest), 1+rng.IntN(1+cut*300))
			if cut == 0 {
				n = len(rest)
			}
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if cut == 0 {
			whole = out
		} else if !bytes.Equal(out.Bytes(), whole.Bytes()) {
			t.Error("the trace depends on how the timeline is cut")
		}
	}
	var got trace
	if err := json.Unmarshal(whole.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, l)
	}
	i := 0
	named := map[[2]int]bool{}
	for _, e := range got.Events {
		if e.Phase == "M" {
			named[[2]int{e.PID, e.TID}] = true
			continue
		}
		var l struct{ T, D int64 }
		if err := json.Unmarshal([]byte(strings.NewReplacer("t_ps", "T", "dur_ps", "D").Replace(lines[i])), &l); err != nil {
			t.Fatal(err)
		}
		if ps(e.Start) != l.T || ps(e.Dur) != l.D {
			t.Fatalf("event %d lasts from %s for %s us, the record says %d and %d ps", i, e.Start, e.Dur, l.T, l.D)
		}
		if !named[[2]int{e.PID, e.TID}] {
			t.Fatalf("event %d stands in a row without a name", i)
		}
		i++
	}
	if i != len(lines) || i == 0 {
		t.Errorf("%d events for %d records", i, len(lines))
	}
}

// ps reads microseconds as whole picoseconds.
func ps(n json.Number) int64 {
	v, err := json.Number(strings.Replace(string(n), ".", "", 1)).Int64()
	if err != nil {
		return -1
	}
	return v
}

func TestTraceOfNothing(t *testing.T) {
	var out bytes.Buffer
	w := timeline.NewTrace(&out)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) {
		t.Errorf("%s", out.Bytes())
	}
	if _, err := w.Write([]byte("no record\n")); err == nil {
		t.Error("a line that is no record was taken")
	}
	if _, err := timeline.NewTrace(&full{}).Write([]byte(`{"kind":"send"}` + "\n")); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}
