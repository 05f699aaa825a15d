package timeline

import (
	"bufio"
	"io"
	"strconv"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// Writer writes records, one a line.
type Writer struct {
	w    *bufio.Writer
	port func(int32) string
	buf  []byte
}

// NewWriter returns a Writer that names ports as port does.
func NewWriter(w io.Writer, port func(int32) string) *Writer {
	return &Writer{w: bufio.NewWriterSize(w, 1<<16), port: port}
}

// Write adds a record. Errors are those of the underlying writer, and stay.
func (w *Writer) Write(r *emu.Record) error {
	w.buf = w.Append(w.buf[:0], r)
	_, err := w.w.Write(w.buf)
	return err
}

// Flush writes out what is buffered.
func (w *Writer) Flush() error { return w.w.Flush() }

// Append appends a record as one line of JSON.
func (w *Writer) Append(b []byte, r *emu.Record) []byte {
	b = number(b, `{"t_ps":`, int64(r.Start))
	b = number(b, `,"dur_ps":`, int64(r.Duration))
	b = number(b, `,"run":`, int64(r.Run))
	b = number(b, `,"rank":`, int64(r.Rank))
	b = number(b, `,"channel":`, int64(r.Channel))
	b = number(b, `,"block":`, int64(r.Block))
	b = number(b, `,"step":`, int64(r.Step))
	b = append(b, `,"kind":"`...)
	b = append(b, Kind(r.Kind)...)
	b = number(b, `","peer":`, int64(r.Peer))
	b = append(b, `,"port":"`...)
	b = append(b, w.port(r.Port)...) // names have nothing that JSON would escape
	b = number(b, `","bytes":`, int64(r.Bytes))
	return append(b, "}\n"...)
}

// Kind returns the name of a record's kind.
func Kind(k emu.RecordKind) string {
	if k == emu.Carry {
		return "carry"
	}
	return collective.StepKind(k).String()
}

func number(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(b, key...), n, 10)
}
