package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/emu/window"
	"github.com/railyard/railyard/shaping"
)

// TestConductor plays rounds of the virtual clock. To rewrite the golden, run
// the test with -rewrite. A case is a conductor of n participants, and what is
// said to it, one thing a line:
//
//	play n=2 [shared] [limit=100]
//	report 0 next=10 out=20 [now=5] [events=3]
//	  sent to=1 count=4 stamp=30 induced=40     of the report above
//	  shared seq=1 tail=10 bytes=64K            of the report above, by way of the fabric
//	round                                       says who is granted what
//	await                                       a batch begins: all owe a report
//	state                                       says who owes, and the counts
//
// Times are nanoseconds, "-" is never. With a fabric, participants 0 and 1 are
// two nodes that share an uplink each way of 64 KiB a microsecond.
func TestConductor(t *testing.T) {
	datadriven.RunTest(t, "testdata/conductor.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "play" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		p := newPlay(t, d)
		var lines []string
		for line := range strings.Lines(d.Input) {
			lines = append(lines, strings.TrimRight(line, "\n"))
		}
		for len(lines) > 0 {
			n := 1
			for n < len(lines) && strings.HasPrefix(lines[n], "  ") {
				n++
			}
			p.say(t, d, lines[:n])
			lines = lines[n:]
		}
		return p.out.String()
	})
}

type play struct {
	*window.Conductor
	n   int
	out strings.Builder
}

func newPlay(t *testing.T, d *datadriven.TestData) *play {
	t.Helper()
	p := &play{}
	d.ScanArgs(t, "n", &p.n)
	var shared *transit.Shared
	if d.HasArg("shared") {
		shared = uplinks(t)
	}
	p.Conductor = window.New(p.n, shared)
	var limit int64
	d.MaybeScanArgs(t, "limit", &limit)
	p.Limit = shaping.Duration(limit) * shaping.Nanosecond
	return p
}

func uplinks(t *testing.T) *transit.Shared {
	t.Helper()
	f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}, {Count: 1, System: "dgx-h100"}},
		Fabric: emu.Fabric{Oversubscription: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for id := range int32(f.Ports()) {
		if f.Port(id).Node == fabric.Shared {
			f.SetRate(id, 65_536*shaping.MBps)
		}
	}
	return transit.NewShared(f, transit.Owners{Node: []int{0, 1}, Shared: 2}, false)
}

// say carries out one thing, told in one or more lines.
func (p *play) say(t *testing.T, d *datadriven.TestData, lines []string) {
	t.Helper()
	words := strings.Fields(lines[0])
	defer func() {
		if why := recover(); why != nil {
			fmt.Fprintf(&p.out, "%s: panics: %v\n", words[0], why)
		}
	}()
	switch words[0] {
	case "report":
		from, r := parse(t, d, lines)
		p.Report(from, r)
	case "round":
		p.round()
	case "await":
		p.Await()
	case "state":
		p.state()
	default:
		d.Fatalf(t, "%q: not a thing to say to a conductor", lines[0])
	}
}

func parse(t *testing.T, d *datadriven.TestData, lines []string) (from int, r window.Report) {
	t.Helper()
	words := strings.Fields(lines[0])
	if _, err := fmt.Sscan(words[1], &from); err != nil {
		d.Fatalf(t, "%q: %v", lines[0], err)
	}
	v := values(t, d, words[2:])
	r.Next, r.Out, r.Now, r.Events = at(v["next"]), at(v["out"]), at(v["now"]), uint64(v["events"])
	for _, line := range lines[1:] {
		words := strings.Fields(line)
		v := values(t, d, words[1:])
		if words[0] == "sent" {
			r.Sent = append(r.Sent, window.Sent{To: int(v["to"]), Count: uint64(v["count"]), Stamp: at(v["stamp"]), Induced: at(v["induced"])})
			continue
		}
		to := int32(8 * (1 - from)) // GPU 0 of the other node
		r.Shared = append(r.Shared, transit.Header{Source: uint32(from), Conn: uint32(from), Seq: uint32(v["seq"]), At: 3,
			Head: at(v["tail"]), Tail: at(v["tail"]), Bytes: shaping.Bytes(v["bytes"]), From: 8 - to, To: to})
	}
	return from, r
}

func at(ns int64) shaping.Time {
	if ns < 0 {
		return shaping.Never
	}
	return shaping.Time(ns) * shaping.Time(shaping.Nanosecond)
}

func values(t *testing.T, d *datadriven.TestData, words []string) map[string]int64 {
	t.Helper()
	v := map[string]int64{}
	for _, w := range words {
		key, text, _ := strings.Cut(w, "=")
		n, err := shaping.ParseBytes(text)
		if text == "-" {
			n, err = -1, nil
		}
		if err != nil {
			d.Fatalf(t, "%q: %v", w, err)
		}
		v[key] = int64(n)
	}
	return v
}

func (p *play) round() {
	grants := p.Round()
	fmt.Fprintf(&p.out, "round: horizon %s", instant(p.Horizon()))
	if len(grants) == 0 {
		p.out.WriteString(", nobody has anything to do")
	}
	p.out.WriteString("\n")
	for _, g := range grants {
		fmt.Fprintf(&p.out, "  p%d may run up to %s", g.To, instant(g.Until))
		for _, e := range g.Expect {
			fmt.Fprintf(&p.out, ", with %d frames of p%d", e.Count, e.From)
		}
		for _, h := range g.Shared {
			fmt.Fprintf(&p.out, ", and the fabric's frame of p%d at %s", h.Source, instant(h.Tail))
		}
		p.out.WriteString("\n")
	}
}

func instant(at shaping.Time) string {
	if at == shaping.Never {
		return "-"
	}
	return at.String()
}

func (p *play) state() {
	var due []string
	for i := range p.n {
		if p.Due(i) {
			due = append(due, fmt.Sprint(i))
		}
	}
	fmt.Fprintf(&p.out, "state: waiting %v for [%s], first for %d; now %s; rounds %d, grants %d, frames %d, events %d\n",
		p.Waiting(), strings.Join(due, " "), p.Owes(), p.Now(), p.Rounds, p.Grants, p.Frames(), p.Events())
}
