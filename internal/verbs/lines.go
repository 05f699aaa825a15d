package verbs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/railyard/railyard/emu/timeline"
	"github.com/railyard/railyard/internal/wire"
)

// record is a file that takes what happened as it happens: --timeline, or --trace.
type record struct {
	flag    string
	file    *os.File
	lines   *lines
	trace   *timeline.Trace // nil: lines go as they are
	release func() bool     // ends the watch on the context
}

// openRecord opens a file for what happens. Nothing is opened for an empty name.
func openRecord(ctx context.Context, flag, name, json string, trace bool) (*record, error) {
	if name == json {
		return nil, wire.Failf(wire.Config, "%s %s: -J writes there already; name two files", flag, name)
	}
	// Write only, or a pipe would have this process for a reader and never
	// break; and not waiting for a reader, which may never come.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return nil, wire.Failf(wire.Config, "%s %s: %v", flag, name, err)
	}
	r := &record{flag: flag, file: f, lines: &lines{flag: flag, w: f}}
	if trace {
		r.trace = timeline.NewTrace(r.lines)
	}
	// A pipe that nobody reads must not hold up the end.
	r.release = context.AfterFunc(ctx, func() { _ = f.Close() })
	return r, nil
}

// Write takes a piece of a timeline.
func (r *record) Write(b []byte) (int, error) {
	if r.trace != nil {
		return r.trace.Write(b)
	}
	return r.lines.Write(b)
}

// close writes what is left, and the end.
func (r *record) close() error {
	if !r.release() {
		return nil
	}
	var err error
	if r.trace != nil {
		err = r.trace.Close()
	}
	err = cmp.Or(err, r.lines.flush())
	if e := r.file.Close(); err == nil && e != nil {
		err = fmt.Errorf("%s: %w", r.flag, e)
	}
	return err
}

// lines is the buffer of a timeline. It lets go of whole lines only, so that what
// a crash leaves of a file can be read.
type lines struct {
	flag string
	w    io.Writer
	buf  []byte
	err  error // stays
}

// held is how many bytes are gathered before they are written.
const held = 1 << 20

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.buf = append(l.buf, b...)
	if end := bytes.LastIndexByte(l.buf, '\n') + 1; end >= held {
		l.put(end)
	}
	return len(b), l.err
}

// flush writes all that is held.
func (l *lines) flush() error {
	l.put(len(l.buf))
	return l.err
}

func (l *lines) put(n int) {
	if l.err == nil && n > 0 {
		if _, err := l.w.Write(l.buf[:n]); err != nil {
			l.err = fmt.Errorf("%s: %w", l.flag, err)
		}
	}
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
}
