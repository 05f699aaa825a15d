package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"flag"

	"github.com/railyard/railyard/collective"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// golden compares got with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// run is a small result with everything in it.
type run struct {
	header Header
	rows   []Row
	footer Footer
}

func (r run) write(t *testing.T, w Writer) {
	t.Helper()
	if err := w.Begin(r.header); err != nil {
		t.Fatal(err)
	}
	for _, row := range r.rows {
		if err := w.Row(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(r.footer); err != nil {
		t.Fatal(err)
	}
}

// allReduce is a sweep on 2 × 8 GPUs whose times span seven magnitudes.
func allReduce() run {
	const n = 16
	r := run{
		header: Header{
			Op: collective.AllReduce, Ranks: n,
			Config: Config{Threads: 1, GPUs: 1, MinBytes: 16, MaxBytes: 1 << 30, StepFactor: 4, StepBytes: 1 << 20,
				Warmup: 1, Iterations: 20, Aggregated: 1, Check: 1},
			Args: []string{"coordinator", "bench", "all_reduce", "-b", "16", "-e", "1G", "-f", "4"},
			Env:  []string{"NCCL_ALGO=Ring"}, NCCLVersion: 23007,
			Start: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC),
		},
		footer: Footer{
			Where: "62 % NIC egress", Timing: "exact (virtual clock)",
			Railyard: map[string]any{"clock": "virtual", "rounds": 25},
			End:      time.Date(2026, 8, 1, 12, 0, 3, 0, time.UTC),
		},
	}
	for i := range n {
		r.header.Devices = append(r.header.Devices, Device{
			Rank: i, PID: 12345 + i/8, Host: []string{"node0", "node1"}[i/8], Index: i % 8,
			BusID: []string{"0x1b", "0x43", "0x52", "0x61", "0x9d", "0xc3", "0xd1", "0xdf"}[i%8], Name: "NVIDIA H100 80GB HBM3",
		})
	}
	ps := int64(13_456_789)
	for size := int64(16); size <= 1<<30; size *= 4 {
		row := NewRow(r.header.Op, collective.Float32, collective.Sum, 0, size, n)
		row.OutOfPlace = Cell{TimePs: ps + size*5, Checked: true}
		row.InPlace = Cell{TimePs: ps + size*6, Checked: true}
		row.Iterations = 2
		r.rows = append(r.rows, row)
	}
	return r
}

// odd is a run with cells that were not run, not checked, or wrong.
func odd() run {
	r := allReduce()
	r.header.Op = collective.AllGather
	r.header.Devices = r.header.Devices[:1]
	r.header.Config.StepFactor, r.header.Config.Blocking, r.header.MinBusBandwidth = 1, 1, 400
	r.footer = Footer{Err: "node2 was lost", Timing: "two\nlines", Explain: []string{"", "what was considered", "        size"}}
	r.rows = nil
	for _, c := range []Cell{
		{TimePs: 8_000_000, Checked: true},
		{TimePs: 123_456_789_012, Wrong: 1_048_576, Checked: true},
		{TimePs: 99_999_990_000_000},
		{NA: true},
		{},
	} {
		row := NewRow(r.header.Op, collective.Float64, collective.Max, 3, 1<<20+8, 16)
		row.OutOfPlace, row.InPlace = Cell{TimePs: 10_000_000, Checked: true}, c
		r.rows = append(r.rows, row)
	}
	return r
}

// ops is a row of every operation, one without elements among them, as a sweep
// gives them: the in-place half of some is not looked at, a barrier has none.
func ops() run {
	r := allReduce()
	r.header.Op = collective.AllToAll
	r.header.Devices = r.header.Devices[:2]
	r.header.Devices[1].Group = 1
	r.footer, r.rows = Footer{}, nil
	for _, op := range collective.Ops() {
		row := NewRow(op, collective.Float32, collective.Sum, 1, 1<<20, 16)
		row.OutOfPlace = Cell{TimePs: 20_000_000, Checked: true}
		row.InPlace = row.OutOfPlace
		switch op {
		case collective.AllToAll, collective.AllToAllV, collective.SendRecv:
			row.InPlace.Checked = false
		case collective.Barrier:
			row.InPlace = Cell{NA: true}
		}
		r.rows = append(r.rows, row)
	}
	row := NewRow(collective.AllGather, collective.Float32, collective.Sum, 1, 16, 16)
	row.OutOfPlace, row.InPlace = Cell{Checked: true}, Cell{Checked: true}
	r.rows = append(r.rows, row)
	return r
}

func TestGoldens(t *testing.T) {
	for name, r := range map[string]run{"all_reduce": allReduce(), "odd": odd(), "ops": ops()} {
		var table, csv, json bytes.Buffer
		r.write(t, Multi(NewTable(&table), NewCSV(&csv), NewJSON(&json)))
		golden(t, name+".table", table.Bytes())
		golden(t, name+".csv", csv.Bytes())
		golden(t, name+".json", json.Bytes())
	}
}

// failing fails from a given write on.
type failing struct{ left int }

func (f *failing) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

// A row is one write, made when the row is given, and errors come back.
func TestRowsStream(t *testing.T) {
	r := allReduce()
	var other bytes.Buffer
	for _, w := range []Writer{NewTable(&failing{2}), NewCSV(&failing{2}), Multi(NewTable(&failing{2}), NewCSV(&other))} {
		other.Reset()
		if err := w.Begin(r.header); err != nil {
			t.Fatalf("%T: first write: %v", w, err)
		}
		if err := w.Row(r.rows[0]); err != nil {
			t.Fatalf("%T: second write: %v", w, err)
		}
		if err := w.Row(r.rows[1]); err == nil {
			t.Errorf("%T: the third write fails, but Row says nothing", w)
		}
	}
	if n := bytes.Count(other.Bytes(), []byte("\n")); n != 3 {
		t.Errorf("beside a writer that failed, CSV has %d lines, want 3", n)
	}
}

func TestBandwidth(t *testing.T) {
	const size, ps = 1_000_000_000, 1_000_000_000_000 // 1 GB in 1 s
	for _, c := range []struct {
		op  collective.Op
		n   int
		bus float64
	}{
		{collective.AllReduce, 1, 0}, {collective.AllReduce, 2, 1}, {collective.AllReduce, 3, 4. / 3}, {collective.AllReduce, 32, 1.9375},
		{collective.AllGather, 1, 0}, {collective.AllGather, 3, 2. / 3}, {collective.ReduceScatter, 4, .75},
		{collective.AllToAll, 8, .875}, {collective.Gather, 8, .875}, {collective.Scatter, 8, .875},
		{collective.AllToAllV, 8, .875}, {collective.AllToAll, 1, 0}, {collective.Gather, 1, 0},
		{collective.Broadcast, 8, 1}, {collective.Reduce, 8, 1}, {collective.SendRecv, 2, 1}, {collective.Broadcast, 1, 1},
	} {
		alg, bus := Bandwidth(c.op, c.n, size, ps)
		if alg != 1 || math.Abs(bus-c.bus) > 1e-12 {
			t.Errorf("%s on %d ranks: %g and %g GB/s, want 1 and %g", c.op, c.n, alg, bus, c.bus)
		}
	}
	if alg, bus := Bandwidth(collective.AllReduce, 8, size, 0); alg != 0 || bus != 0 {
		t.Errorf("no time gives %g and %g GB/s, want 0", alg, bus)
	}
	if alg, bus := Bandwidth(collective.Barrier, 8, 4, 1000); alg != 0 || bus != 0 {
		t.Errorf("a barrier moves %g and %g GB/s, want none", alg, bus)
	}
}

func TestSummary(t *testing.T) {
	r := odd()
	var s Summary
	if s.BusBandwidth() != 0 || s.Slow(Header{}) {
		t.Error("a summary of nothing is not zero")
	}
	for _, row := range r.rows {
		s.Add(r.header, row)
	}
	if s.Errors != 1 || s.Cells != 9 {
		t.Errorf("%d errors in %d cells, want 1 in 9", s.Errors, s.Cells)
	}
	h := r.header
	for _, c := range []struct {
		bound float64
		slow  bool
	}{{0, false}, {s.BusBandwidth() / 0.91, false}, {s.BusBandwidth() / 0.89, true}} {
		if h.MinBusBandwidth = c.bound; s.Slow(h) != c.slow {
			t.Errorf("average %g with bound %g: slow is %v", s.BusBandwidth(), c.bound, !c.slow)
		}
	}
}
