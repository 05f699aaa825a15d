package timeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// Trace turns a timeline into Chrome's trace format, which Perfetto and
// chrome://tracing open: a process for each rank, with a row for each block, and one
// for the ports, with a row for each. Lines of a Writer go in, at any pace; Close
// ends the file. Records and their order are the timeline's, so it is as exact.
//
// Format: "Trace Event Format", complete events (ph X), instants in microseconds.
type Trace struct {
	w    io.Writer
	rest []byte // of a line that is not whole yet
	buf  bytes.Buffer
	rows map[row]bool
	// ports are numbered in the order in which they come.
	ports map[string]int
	begun bool
}

// row is a line of the picture: of a process and a thread, as Chrome calls them.
type row struct{ pid, tid int }

// portsPID is the process of the ports; that of rank r is r+1.
const portsPID = 0

// blocksOfChannel spaces the rows of a rank: the blocks of a channel stand together.
const blocksOfChannel = 1 << 10

// NewTrace returns a Trace that writes to w.
func NewTrace(w io.Writer) *Trace {
	return &Trace{w: w, rows: map[row]bool{}, ports: map[string]int{}}
}

// line is a record as Writer prints it.
type line struct {
	Start    int64  `json:"t_ps"`
	Duration int64  `json:"dur_ps"`
	Run      int    `json:"run"`
	Rank     int    `json:"rank"`
	Channel  int    `json:"channel"`
	Block    int    `json:"block"`
	Step     int    `json:"step"`
	Kind     string `json:"kind"`
	Peer     int    `json:"peer"`
	Port     string `json:"port"`
	Bytes    int64  `json:"bytes"`
}

// Write takes a piece of a timeline.
func (t *Trace) Write(p []byte) (int, error) {
	t.rest = append(t.rest, p...)
	for {
		i := bytes.IndexByte(t.rest, '\n')
		if i < 0 {
			break
		}
		var l line
		if err := json.Unmarshal(t.rest[:i], &l); err != nil {
			return 0, fmt.Errorf("trace: a record %q: %w", t.rest[:i], err)
		}
		t.rest = t.rest[i+1:]
		t.add(&l)
	}
	return len(p), t.flush()
}

// Close ends the file. What a Trace writes to stays open.
func (t *Trace) Close() error {
	t.open()
	t.buf.WriteString("\n]}\n")
	return t.flush()
}

func (t *Trace) flush() error {
	_, err := t.w.Write(t.buf.Bytes())
	t.buf.Reset()
	return err
}

// open begins the file, or what follows an event.
func (t *Trace) open() {
	if !t.begun {
		t.buf.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	}
	t.begun = true
}

func (t *Trace) event(format string, args ...any) {
	if t.begun {
		t.buf.WriteByte(',')
	}
	t.open()
	t.buf.WriteByte('\n')
	fmt.Fprintf(&t.buf, format, args...)
}

func (t *Trace) add(l *line) {
	if l.Kind == "carry" {
		tid, ok := t.ports[l.Port]
		if !ok {
			tid = len(t.ports)
			t.ports[l.Port] = tid
		}
		t.name(row{portsPID, tid}, "ports", l.Port)
		t.event(`{"ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"name":"gpu%d to gpu%d","cat":"port","args":{"bytes":%d,"channel":%d}}`,
			portsPID, tid, micro(l.Start), micro(l.Duration), l.Rank, l.Peer, l.Bytes, l.Channel)
		return
	}
	r := row{l.Rank + 1, l.Channel*blocksOfChannel + l.Block}
	t.name(r, "rank "+strconv.Itoa(l.Rank), fmt.Sprintf("channel %d block %d", l.Channel, l.Block))
	t.event(`{"ph":"X","pid":%d,"tid":%d,"ts":%s,"dur":%s,"name":%q,"cat":"step","args":{"run":%d,"step":%d,"peer":%d,"bytes":%d,"port":%q}}`,
		r.pid, r.tid, micro(l.Start), micro(l.Duration), l.Kind, l.Run, l.Step, l.Peer, l.Bytes, l.Port)
}

// name says what a row is called, when it comes first.
func (t *Trace) name(r row, process, thread string) {
	if t.rows[r] {
		return
	}
	t.rows[r] = true
	t.event(`{"ph":"M","pid":%d,"name":"process_name","args":{"name":%q}}`, r.pid, process)
	t.event(`{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":%q}}`, r.pid, r.tid, thread)
}

// micro returns picoseconds as microseconds, exactly.
func micro(ps int64) string {
	const us = 1_000_000
	return fmt.Sprintf("%d.%06d", ps/us, ps%us)
}
