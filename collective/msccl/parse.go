package msccl

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// Parse reads a file. Text before <algo> and after </algo> is passed over with
// a note, since compilers print their verdicts there. Errors are *Error.
//
// A hostile file costs time and memory in proportion to its length, which is
// at most MaxText.
func Parse(text []byte) (*File, error) {
	if len(text) > MaxText {
		return nil, bad(0, "%d bytes; at most %d are read", len(text), MaxText)
	}
	r := &reader{text: text}
	err := r.read()
	if r.file == nil && err != nil && !r.refused {
		// Log text need not be XML: begin where the plan does.
		at := bytes.Index(text, []byte("<algo"))
		if at < 0 {
			return nil, bad(0, "no <algo> element: this is not an MSCCL plan")
		}
		r = &reader{text: text[at:], lines: bytes.Count(text[:at], []byte("\n")), skipped: true}
		err = r.read()
	}
	if err != nil {
		return nil, err
	}
	f := r.file
	if r.skipped {
		f.note("text before <algo> is passed over")
	}
	if err := r.rest(); err != nil {
		return nil, err
	}
	if err := f.validate(); err != nil {
		return nil, err
	}
	if f.more > 0 {
		f.Notes = append(f.Notes, plural(f.more, "more remark")+" of this kind")
	}
	return f, nil
}

// reader goes through the elements of a file.
type reader struct {
	text    []byte
	lines   int  // before text
	skipped bool // something came before the plan
	refused bool // what is wrong will not be right from <algo> on

	xml   *xml.Decoder
	stack []string // open elements
	file  *File
	steps int // in all
	// gpu and block are what the next element belongs to.
	gpu   *GPU
	block *Block
}

func (r *reader) line() int {
	line, _ := r.xml.InputPos()
	return r.lines + line
}

// read reads up to </algo>.
func (r *reader) read() error {
	r.xml = xml.NewDecoder(bytes.NewReader(r.text))
	for {
		token, err := r.xml.RawToken()
		if err != nil {
			return r.broken(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = r.start(&t)
		case xml.EndElement:
			err = r.end(t.Name.Local)
			if err == nil && len(r.stack) == 0 && r.file != nil {
				return nil
			}
		case xml.Directive:
			r.refused = true
			err = bad(r.line(), "a <!%s…> declaration; plans have none, and entities are not expanded", word(string(t)))
		case xml.CharData:
			err = r.words(t)
		}
		if err != nil {
			return err
		}
	}
}

func (r *reader) broken(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.Is(err, io.EOF) && len(r.stack) > 0:
		return bad(r.line(), "the file ends inside <%s>", r.stack[len(r.stack)-1])
	case errors.Is(err, io.EOF):
		return bad(0, "no <algo> element: this is not an MSCCL plan")
	case errors.As(err, &syntax):
		return bad(r.lines+syntax.Line, "%s", syntax.Msg)
	default:
		return bad(r.line(), "%v", err)
	}
}

func (r *reader) words(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	if r.file == nil {
		r.skipped = true
		return nil
	}
	return bad(r.line(), "text %q between elements", word(string(text)))
}

func (r *reader) start(t *xml.StartElement) error {
	line := r.line()
	parent := ""
	if n := len(r.stack); n > 0 {
		parent = r.stack[n-1]
	}
	if len(r.stack) == maxDepth {
		r.refused = true
		return bad(line, "elements %d deep; a plan's steps are 4 deep", maxDepth+1)
	}
	r.stack = append(r.stack, t.Name.Local)
	a, err := newAttrs(t, line)
	if err != nil {
		return err
	}
	return r.element(parent, t.Name.Local, a)
}

func (r *reader) end(name string) error {
	n := len(r.stack)
	if n == 0 || r.stack[n-1] != name {
		return bad(r.line(), "</%s> closes what is not open", word(name))
	}
	r.stack = r.stack[:n-1]
	return nil
}

// rest looks at what follows the plan.
func (r *reader) rest() error {
	tail := r.text[r.xml.InputOffset():]
	at := bytes.TrimSpace(tail)
	if len(at) == 0 {
		return nil
	}
	line := r.line() + bytes.Count(tail[:bytes.Index(tail, at[:1])], []byte("\n"))
	if bytes.Contains(tail, []byte("<algo")) {
		return bad(line, "a second <algo> follows the first; a file holds one plan")
	}
	if !bytes.HasPrefix(at, []byte("<!--")) {
		r.file.note("line %d: text after </algo> is passed over: %q", line, word(string(at)))
	}
	return nil
}

// word returns the beginning of a text, short enough for a message.
func word(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
