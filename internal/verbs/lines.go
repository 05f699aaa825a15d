package verbs

import (
	"bytes"
	"fmt"
	"io"
)

// lines is the buffer of a timeline. It lets go of whole lines only, so that what
// a crash leaves of a file can be read.
type lines struct {
	w   io.Writer
	buf []byte
	err error // stays
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
			l.err = fmt.Errorf("--timeline: %w", err)
		}
	}
	l.buf = l.buf[:copy(l.buf, l.buf[n:])]
}
