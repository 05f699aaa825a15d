package kernel_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/timeline"
)

// page is what docs/architecture.md says under "One timeline by hand".
type page struct {
	text   string
	tables map[string][][]string // by the first cell of their head
}

func readPage(t *testing.T) page {
	t.Helper()
	src, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(src), "\n## One timeline by hand\n")
	if !ok {
		t.Fatal("docs/architecture.md has no section One timeline by hand")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	p := page{text: text, tables: map[string][][]string{}}
	head := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			head = ""
		case head == "":
			head = cells(line)[0]
		case !strings.HasPrefix(line, "|-"): // the line under the head
			p.tables[head] = append(p.tables[head], cells(line))
		}
	}
	return p
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "|"), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// number reads a number in groups of three digits.
func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(s, " ", ""), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The derivation starts from the catalog's figures.
func TestFiguresOfTheHandMadeTimeline(t *testing.T) {
	sys, err := catalog.LookupSystem("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{
		"kernel": int64(sys.SM.Kernel),
		"SM":     int64(sys.SM.Rate),
		"NVLink": int64(sys.NVLink.Wire.Permille(sys.NVLink.Usable)),
		"SMs":    sys.NVLink.SMUsable,
		"fence":  int64(sys.NVLink.Fence),
		"hop":    int64(sys.NVLink.Steps.Simple),
		"credit": int64(sys.NVLink.Credit),
		"data":   catalog.Efficiency(collective.Simple),
	}
	rows := readPage(t).tables["figure"]
	if len(rows) != len(want) {
		t.Fatalf("the page has %d figures, want %d", len(rows), len(want))
	}
	for _, r := range rows {
		if got := number(t, r[1]); got != want[r[0]] {
			t.Errorf("%s: the page says %d, the catalog %d", r[0], got, want[r[0]])
		}
	}
}

// The table, derived by hand, is what the kernel records.
func TestHandMadeTimeline(t *testing.T) {
	r := newRig(t, servers(1, 2))
	run := allReduce("ring", one, r.fabric.All(), 128<<10)
	r.run(run)
	var got []string
	for i := range r.records {
		got = append(got, r.row(&r.records[i]))
	}
	p := readPage(t)
	var want []string
	for _, c := range p.tables["begins (ps)"] {
		want = append(want, strings.Join(c[:8], " | "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page says\n%s\nthe kernel\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	for _, e := range r.outcome.Ends {
		if line := fmt.Sprintf("D + s             %s    the end", grouped(int64(e.At))); !strings.Contains(p.text, line) {
			t.Errorf("rank %d ends at %d ps, the page does not say so", e.Rank, e.At)
		}
	}
}

// The period of the steady state, which the page ends with.
func TestPeriodOfTheHandMadeTimeline(t *testing.T) {
	r := newRig(t, servers(1, 2))
	run := allReduce("ring", one, r.fabric.All(), 128<<10)
	run.Iterations, run.Launch = 3, 8*us
	r.run(run)
	line := fmt.Sprintf("the period is %s ps", grouped(int64(r.outcome.Period(0, &run, 1))))
	if p := readPage(t); !strings.Contains(p.text, line) {
		t.Errorf("the page does not say that %s", line)
	}
}

// row prints a record as a row of the page, without the reason.
func (r *rig) row(x *emu.Record) string {
	step := "–"
	if x.Step >= 0 {
		step = strconv.Itoa(int(x.Step))
	}
	return strings.Join([]string{grouped(int64(x.Start)), grouped(int64(x.Duration)), strconv.Itoa(int(x.Rank)), step,
		timeline.Kind(x.Kind), strconv.Itoa(int(x.Peer)), r.fabric.PortName(x.Port), grouped(int64(x.Bytes))}, " | ")
}
