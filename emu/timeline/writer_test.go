package timeline_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/shaping"
)

// TestTimelines writes the timeline of small runs. To rewrite the golden, run
// the test with -rewrite.
//
//	run nodes=1 gpus=2 algo=ring count=4 [proto=ll] [channels=1]
//
// prints the timeline of an all-reduce of count floats, as --timeline does.
func TestTimelines(t *testing.T) {
	datadriven.RunTest(t, "testdata/timelines.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "run" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		g := emu.Group{System: "dgx-h100"}
		r := emu.Run{Op: collective.AllReduce, DType: collective.Float32, Iterations: 1, Options: collective.Options{Channels: 1}}
		var count int
		proto := collective.Simple.String()
		d.ScanArgs(t, "nodes", &g.Count)
		d.ScanArgs(t, "gpus", &g.GPUs)
		d.ScanArgs(t, "algo", &r.Algorithm)
		d.ScanArgs(t, "count", &count)
		d.MaybeScanArgs(t, "channels", &r.Options.Channels)
		if d.MaybeScanArgs(t, "proto", &proto); proto == collective.LL.String() {
			r.Options.Protocol = collective.LL
		}
		r.Count = int64(count)
		out, err := write(emu.Cluster{Groups: []emu.Group{g}}, r)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return out
	})
}

// write runs r on all GPUs of a cluster and returns its timeline.
func write(c emu.Cluster, r emu.Run) (string, error) {
	f, err := fabric.New(c)
	if err != nil {
		return "", err
	}
	r.Comm = f.All()
	var out strings.Builder
	w := timeline.NewWriter(&out, f.PortName)
	s := predict.New(f, true)
	s.Visit = func(e *kernel.Effects) error {
		for i := range e.Records {
			if err := w.Write(&e.Records[i]); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := s.Execute(emu.Batch{Runs: []emu.Run{r}}); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return out.String(), nil
}

func name(port int32) string { return fmt.Sprintf("port%d", port) }

func TestWriterByHand(t *testing.T) {
	for _, tc := range []struct {
		r    emu.Record
		want string
	}{
		{emu.Record{}, `{"t_ps":0,"dur_ps":0,"run":0,"rank":0,"channel":0,"block":0,"step":0,"kind":"nop","peer":0,"port":"port0","bytes":0}`},
		{emu.Record{Start: 71, Duration: 5, Run: -1, Rank: 3, Channel: 2, Block: -1, Step: -1, Kind: emu.Carry, Peer: 4, Port: 17, Bytes: 128},
			`{"t_ps":71,"dur_ps":5,"run":-1,"rank":3,"channel":2,"block":-1,"step":-1,"kind":"carry","peer":4,"port":"port17","bytes":128}`},
		// What orders records (instant of the event, source, hop) is not printed.
		{emu.Record{At: 9, Ord: 8, Hop: 7, Index: 6, Start: 1, Duration: 2, Rank: 1, Kind: emu.RecordKind(collective.RecvReduceCopySend), Peer: -1},
			`{"t_ps":1,"dur_ps":2,"run":0,"rank":1,"channel":0,"block":0,"step":0,"kind":"recv-reduce-copy-send","peer":-1,"port":"port0","bytes":0}`},
		{emu.Record{Start: math.MaxInt64, Bytes: math.MaxInt64},
			`{"t_ps":9223372036854775807,"dur_ps":0,"run":0,"rank":0,"channel":0,"block":0,"step":0,"kind":"nop","peer":0,"port":"port0","bytes":9223372036854775807}`},
	} {
		got := string(timeline.NewWriter(nil, name).Append([]byte("> "), &tc.r))
		if got != "> "+tc.want+"\n" {
			t.Errorf("%+v:\n%s\nwant\n%s", tc.r, got, tc.want)
		}
	}
}

// TestLinesAreJSON: every kind of record is one line, one JSON object, with the
// keys in the order that is promised.
func TestLinesAreJSON(t *testing.T) {
	keys := []string{"t_ps", "dur_ps", "run", "rank", "channel", "block", "step", "kind", "peer", "port", "bytes"}
	names := map[string]bool{}
	for k := collective.Nop; k <= collective.ReduceLocal+1; k++ {
		r := emu.Record{Kind: emu.RecordKind(k)}
		if k > collective.ReduceLocal {
			r.Kind = emu.Carry
		}
		line := timeline.NewWriter(nil, name).Append(nil, &r)
		if bytes.Count(line, []byte("\n")) != 1 || !json.Valid(line) {
			t.Errorf("kind %d: %q", r.Kind, line)
		}
		var got []string
		dec := json.NewDecoder(bytes.NewReader(line))
		for tok, err := dec.Token(); err == nil; tok, err = dec.Token() {
			if s, ok := tok.(string); ok && slices.Contains(keys, s) {
				got = append(got, s)
			}
		}
		if !slices.Equal(got, keys) {
			t.Errorf("kind %d: keys %v", r.Kind, got)
		}
		if n := timeline.Kind(r.Kind); names[n] || n == "unknown" {
			t.Errorf("kind %d has the name %s", r.Kind, n)
		} else {
			names[n] = true
		}
	}
}

// full is a disk with no room left after n bytes.
type full struct{ n int }

var errFull = errors.New("no room left")

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.n {
		return f.n, errFull
	}
	f.n -= len(b)
	return len(b), nil
}

func TestWriterKeepsItsError(t *testing.T) {
	w := timeline.NewWriter(&full{n: 100_000}, name)
	var err error
	lines := 0
	for ; err == nil && lines < 10_000; lines++ {
		err = w.Write(&emu.Record{Start: shaping.Time(lines)})
	}
	if !errors.Is(err, errFull) {
		t.Fatalf("after %d lines: %v", lines, err)
	}
	if err := w.Write(&emu.Record{}); !errors.Is(err, errFull) {
		t.Errorf("one line more: %v", err)
	}
	if err := w.Flush(); !errors.Is(err, errFull) {
		t.Errorf("at the end: %v", err)
	}
}

func TestWriterDoesNotAllocate(t *testing.T) {
	w := timeline.NewWriter(&full{n: math.MaxInt}, func(int32) string { return "node0/gpu0/sm0" })
	r := emu.Record{Start: 123_456_789_012, Duration: 1_234_567, Kind: emu.Carry, Bytes: 524_288}
	if n := testing.AllocsPerRun(100, func() {
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}
