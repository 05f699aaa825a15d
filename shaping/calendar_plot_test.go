package shaping

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestCalendarPlots draws ports under load. To rewrite the goldens, run the
// test with -rewrite.
//
//	port [rate=1GB/s] [span=1us] [tick=1ns]
//	a head=4 bytes=10 [tail=4] [now=4]       one transfer a line, in the order of booking
//
// draws who holds the port at which tick, and a row for each transfer: its
// letter while it holds the port, ~ while it waits there with its head, - while
// it holds nothing and waits for its tail. Tail is head, and now is tail, unless
// given. All times are ticks.
//
//	chain rates=(1GB/s,2GB/s) [latency=0] [tick=1ns]
//	a head=0 bytes=10 [tail=0]
//
// draws one transfer on free ports, one behind the other.
func TestCalendarPlots(t *testing.T) {
	datadriven.Walk(t, "testdata/calendar", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p := plot{tick: scanDuration(t, d, "tick", "1ns")}
			switch d.Cmd {
			case "port":
				p.port(t, d)
			case "chain":
				p.chain(t, d)
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return p.String()
		})
	})
}

func scanDuration(t *testing.T, d *datadriven.TestData, key, otherwise string) Duration {
	t.Helper()
	d.MaybeScanArgs(t, key, &otherwise)
	v, err := ParseDuration(otherwise)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return v
}

func scanRate(t *testing.T, d *datadriven.TestData, text string) Rate {
	t.Helper()
	r, err := ParseRate(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return r
}

// transfer is a line of input.
type transfer struct {
	name            string
	now, head, tail Time
	bytes           Bytes
}

func (p *plot) transfers(t *testing.T, d *datadriven.TestData) []transfer {
	t.Helper()
	var all []transfer
	for line := range strings.Lines(d.Input) {
		fields := strings.Fields(line)
		x := transfer{name: fields[0]}
		given := map[string]Time{}
		for _, f := range fields[1:] {
			key, text, _ := strings.Cut(f, "=")
			var v Time
			if _, err := fmt.Sscan(text, &v); err != nil || !strings.Contains(" now head tail bytes ", " "+key+" ") {
				d.Fatalf(t, "field %q: not one of now, head, tail, bytes with a number", f)
			}
			given[key] = v
		}
		x.head, x.bytes = p.at(given["head"]), Bytes(given["bytes"])
		x.tail, x.now = x.head, x.head
		if v, ok := given["tail"]; ok {
			x.tail, x.now = p.at(v), p.at(v)
		}
		if v, ok := given["now"]; ok {
			x.now = p.at(v)
		}
		all = append(all, x)
	}
	return all
}

// plot is rows under a common time axis.
type plot struct {
	tick Duration
	rows []row
}

type row struct{ label, line, note string }

func (p *plot) at(ticks Time) Time { return ticks * Time(p.tick) }

// ticks prints an instant in ticks, with what is left over in picoseconds.
func (p *plot) ticks(at Time) string {
	n, rest := at/Time(p.tick), at%Time(p.tick)
	if rest != 0 {
		return fmt.Sprintf("%d+%dps", n, rest)
	}
	return fmt.Sprint(int64(n))
}

// mark writes c over the ticks of a line that a span covers.
func (p *plot) mark(line string, start, end Time, c byte) string {
	if start == end {
		return line
	}
	from, to := int(start/Time(p.tick)), int((end+Time(p.tick)-1)/Time(p.tick))
	b := []byte(line + strings.Repeat(" ", max(0, to-len(line))))
	for i := from; i < to; i++ {
		b[i] = c
	}
	return string(b)
}

func (p *plot) port(t *testing.T, d *datadriven.TestData) {
	rate := "1GB/s"
	d.MaybeScanArgs(t, "rate", &rate)
	c := NewCalendar(scanRate(t, d, rate), scanDuration(t, d, "span", "1us"))
	c.Trace()
	p.rows = append(p.rows, row{label: "port"})
	for _, x := range p.transfers(t, d) {
		why := panics(t, func() { p.book(&c, x) })
		if why != "" {
			p.rows = append(p.rows, row{label: x.label(), note: "panics: " + why})
		}
	}
	p.rows[0].line = strings.ReplaceAll(p.rows[0].line, " ", ".")
}

func (x *transfer) label() string { return fmt.Sprintf("%s %d B", x.name, x.bytes) }

// book books a transfer and draws it, in a row of its own and in the port's,
// which is the first.
func (p *plot) book(c *Calendar, x transfer) (head, tail Time) {
	k := c.Book(x.now, x.head, x.tail, x.bytes)
	r := row{label: x.label()}
	r.line = p.mark(r.line, x.head, k.Start, '~')
	end := k.Start
	for _, piece := range c.Pieces() {
		r.line = p.mark(r.line, end, piece.Start, '~')
		r.line = p.mark(r.line, piece.Start, piece.End, x.name[0])
		p.rows[0].line = p.mark(p.rows[0].line, piece.Start, piece.End, x.name[0])
		end = piece.End
	}
	r.line = p.mark(r.line, end, k.End, '-')
	head = c.Head(k.Start, k.End, x.head, x.tail, x.bytes)
	r.note = fmt.Sprintf("head %s, tail %s: begins %s, leaves %s; on with head %s",
		p.ticks(x.head), p.ticks(x.tail), p.ticks(k.Start), p.ticks(k.End), p.ticks(head))
	p.rows = append(p.rows, r)
	return head, k.End
}

func (p *plot) chain(t *testing.T, d *datadriven.TestData) {
	var rates []string
	d.ScanArgs(t, "rates", &rates)
	latency := scanDuration(t, d, "latency", "0s")
	for _, x := range p.transfers(t, d) {
		for _, text := range rates {
			c := NewCalendar(scanRate(t, d, text), Millisecond)
			c.Trace()
			q := plot{tick: p.tick, rows: []row{{}}}
			x.head, x.tail = q.book(&c, x)
			x.head, x.tail = x.head.Add(latency), x.tail.Add(latency)
			x.now = x.tail
			q.rows[1].label = text
			p.rows = append(p.rows, q.rows[1])
		}
	}
}

// String lays the rows out under an axis.
func (p *plot) String() string {
	label, line := 0, 0
	for _, r := range p.rows {
		label, line = max(label, len(r.label)), max(line, len(r.line))
	}
	axis := ""
	for n := 0; n <= line; n += 10 {
		axis += fmt.Sprintf("%-10d", n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %s\n", label, Time(p.tick), strings.TrimRight(axis, " "))
	for _, r := range p.rows {
		text := fmt.Sprintf("%-*s  %-*s  %s", label, r.label, line, r.line, r.note)
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(text, " "))
	}
	return b.String()
}
