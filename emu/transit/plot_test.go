package transit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/railyard/railyard/shaping"
)

// TestTransitPlots draws frames on ports that connections share. To rewrite the
// goldens, run the test with -rewrite.
//
//	path egress=(65.536GB/s) shared=65.536GB/s [last=65.536GB/s] [latency=1us] [tick=1us]
//	a conn=0 bytes=64K [at=0]      one message a line, in the order of sending
//
// Every connection has an egress of its own, at the rate given for it or at the
// last one, and all go on to the shared port, and from there to the last one if
// there is one. Times are in ticks. A row shows
// which message holds a port; what the shared port does is followed by a row for
// each message: = while it is on its way there, ~ while it waits there for its
// turn, and its letter while it has it.
func TestTransitPlots(t *testing.T) {
	datadriven.RunTest(t, "testdata/plots.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd != "path" {
			d.Fatalf(t, "unknown command %q", d.Cmd)
		}
		p := newPath(t, d)
		p.rig.run(shaping.Never)
		return p.plot()
	})
}

// Positions of the ports of a path.
const (
	shared  = 0
	behind  = 1 // the last one
	egress0 = 2 // the first connection's egress
)

// path is the rig of a plot.
type path struct {
	rig   *rig
	tick  shaping.Duration
	last  bool
	names [][]byte // of each connection's messages, in order
}

func newPath(t *testing.T, d *datadriven.TestData) *path {
	t.Helper()
	var egress []string
	d.ScanArgs(t, "egress", &egress)
	p := &path{tick: duration(t, d, "tick", "1us")}
	lists := p.messages(t, d)
	last := shaping.Rate(0)
	if p.last = d.HasArg("last"); p.last {
		last = rate(t, d, "last")
	}
	rates := []shaping.Rate{rate(t, d, "shared"), max(last, 1)}
	for i := range lists {
		r, err := shaping.ParseRate(egress[min(i, len(egress)-1)])
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		rates = append(rates, r)
	}
	p.rig = newRig(t, true, rates...)
	for i, list := range lists {
		ports, latency := []int{egress0 + i, shared}, []shaping.Duration{duration(t, d, "latency", "1us"), 0}
		if p.last {
			ports, latency = append(ports, behind), []shaping.Duration{latency[0], latency[0], 0}
		}
		p.rig.connect(len(list), 0, ports, latency...).each(list...)
	}
	return p
}

func (p *path) messages(t *testing.T, d *datadriven.TestData) (lists [][]message) {
	t.Helper()
	for line := range strings.Lines(d.Input) {
		var m message
		var conn, at int
		var size string
		if _, err := fmt.Sscanf(line, "%c conn=%d bytes=%s at=%d", &m.name, &conn, &size, &at); err != nil && at != 0 {
			d.Fatalf(t, "%q: %v", line, err)
		}
		b, err := shaping.ParseBytes(size)
		if err != nil || conn > len(lists) {
			d.Fatalf(t, "%q: connections in order, please; %v", line, err)
		}
		if conn == len(lists) {
			lists, p.names = append(lists, nil), append(p.names, nil)
		}
		m.bytes, m.at = b, shaping.Time(at)*shaping.Time(p.tick)
		lists[conn], p.names[conn] = append(lists[conn], m), append(p.names[conn], m.name)
	}
	return lists
}

func duration(t *testing.T, d *datadriven.TestData, key, otherwise string) shaping.Duration {
	t.Helper()
	d.MaybeScanArgs(t, key, &otherwise)
	v, err := shaping.ParseDuration(otherwise)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return v
}

func rate(t *testing.T, d *datadriven.TestData, key string) shaping.Rate {
	t.Helper()
	var text string
	d.ScanArgs(t, key, &text)
	r, err := shaping.ParseRate(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", key, err)
	}
	return r
}

// canvas is rows of one character a tick.
type canvas struct {
	tick  shaping.Duration
	order []string
	line  map[string][]byte
}

func (c *canvas) mark(row string, start, end shaping.Time, char byte) {
	if _, ok := c.line[row]; !ok {
		c.order = append(c.order, row)
	}
	b := c.line[row]
	for at := int(start / shaping.Time(c.tick)); shaping.Time(at)*shaping.Time(c.tick) < end; at++ {
		for len(b) <= at {
			b = append(b, ' ')
		}
		b[at] = char
	}
	c.line[row] = b
}

// turn is a span in which a message holds a port.
type turn struct {
	port       int
	name       byte
	start, end shaping.Time
}

// turns tells whose each record is: those of a connection at a port are in the
// order of its messages, and add up to their bytes.
func (p *path) turns() (all []turn) {
	type at struct{ port, conn int }
	done, left := map[at]int{}, map[at]shaping.Bytes{}
	for _, x := range p.rig.Records {
		k := at{int(x.Port), int(x.Rank)}
		c := p.rig.conns[k.conn]
		for left[k] == 0 { // messages without bytes leave no records
			left[k] = c.delivered[done[k]].bytes
			done[k]++
		}
		left[k] -= x.Bytes
		all = append(all, turn{k.port, p.names[k.conn][done[k]-1], x.Start, x.Start.Add(x.Duration)})
	}
	slices.SortStableFunc(all, func(a, b turn) int { return int(a.start - b.start) })
	return all
}

func (p *path) plot() string {
	c := &canvas{tick: p.tick, line: map[string][]byte{}}
	turns := p.turns()
	for i := range p.rig.conns {
		c.mark(fmt.Sprintf("egress %d", i), 0, 0, ' ')
	}
	c.mark("shared", 0, 0, ' ')
	for _, x := range turns {
		row := fmt.Sprintf("egress %d", x.port-egress0)
		if x.port < egress0 {
			row = []string{"shared", "last"}[x.port]
		}
		c.mark(row, x.start, x.end, x.name)
	}
	notes := map[string]string{}
	for i, conn := range p.rig.conns {
		for _, m := range conn.delivered {
			p.message(c, turns, i, m, notes)
		}
	}
	return c.print(notes)
}

// message draws the row of a message: on its way, waiting, having its turn.
func (p *path) message(c *canvas, turns []turn, conn int, m delivery, notes map[string]string) {
	row := string(m.name)
	tail := m.left.Add(p.rig.conns[conn].path.Latency[0])
	through := m.at // the shared port
	if p.last {
		through = tail
		for _, x := range turns {
			if x.name == m.name && x.port == shared {
				through = max(through, x.end)
			}
		}
	}
	c.mark(row, tail, through, '~')
	c.mark(row, m.left, tail, '=')
	for _, x := range turns {
		if x.name == m.name && x.port >= egress0 {
			c.mark(row, x.start, x.end, '=')
		}
	}
	for _, x := range turns {
		if x.name == m.name && x.port == shared {
			c.mark(row, x.start, x.end, m.name)
		}
	}
	notes[row] = fmt.Sprintf("%d B: tail comes %s, delivered %s", m.bytes, tail, m.at)
}

func (c *canvas) print(notes map[string]string) string {
	label, line := 0, 0
	for _, row := range c.order {
		label, line = max(label, len(row)), max(line, len(c.line[row]))
	}
	axis := ""
	for n := 0; n <= line; n += 10 {
		axis += fmt.Sprintf("%-10d", n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %s\n", label, c.tick, strings.TrimRight(axis, " "))
	for _, row := range c.order {
		text := fmt.Sprintf("%-*s  %-*s  %s", label, row, line, c.line[row], notes[row])
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(text, " "))
	}
	return b.String()
}
