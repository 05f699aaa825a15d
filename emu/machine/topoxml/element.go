package topoxml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What a file may have. Dumps of the largest servers have some hundreds of
// elements, 10 deep.
const (
	maxBytes    = 2_000_000
	maxElements = 65_536
	maxDepth    = 64
	maxAttrs    = 64
)

// element is an element of a file with what is in it.
type element struct {
	name     string
	attrs    []xml.Attr
	children []*element
	line     int
	text     bool // stray text is in it
}

// attr returns an attribute, empty when there is none. Of two the first counts,
// as in NCCL.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

func (e *element) has(name string) bool {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return true
		}
	}
	return false
}

// all returns the children with one of the names.
func (e *element) all(names ...string) []*element {
	var found []*element
	for _, c := range e.children {
		for _, n := range names {
			if c.name == n {
				found = append(found, c)
			}
		}
	}
	return found
}

// parse reads a file into its root elements: mostly one, more where files were put
// together.
func parse(data []byte) ([]*element, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes, the most that is read", maxBytes)
	}
	p := parser{decoder: xml.NewDecoder(bytes.NewReader(data))}
	// All that a topology says is ASCII, whatever the encoding.
	p.decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		t, err := p.decoder.Token()
		switch {
		case errors.Is(err, io.EOF):
			if p.roots == nil {
				return nil, errors.New("holds no XML element; a topology begins with <system version=\"1\">")
			}
			return p.roots, nil
		case err != nil:
			return nil, p.syntax(err)
		}
		if err := p.token(t); err != nil {
			line, _ := p.decoder.InputPos()
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

type parser struct {
	decoder *xml.Decoder
	roots   []*element
	open    []*element
	count   int
}

func (p *parser) syntax(err error) error {
	var s *xml.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("line %d: not XML: %s", s.Line, clip(s.Msg))
	}
	return fmt.Errorf("not XML: %s", clip(err.Error()))
}

func (p *parser) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		p.open = p.open[:len(p.open)-1]
	case xml.CharData:
		if len(p.open) > 0 && len(bytes.TrimSpace(t)) > 0 {
			p.open[len(p.open)-1].text = true
		}
	case xml.Directive:
		if bytes.ContainsAny(t, "[") || !bytes.HasPrefix(t, []byte("DOCTYPE")) {
			return errors.New("document types that declare something and entities (<!…>) are not read; a topology has no use for them")
		}
	}
	return nil
}

func (p *parser) start(t xml.StartElement) error {
	p.count++
	switch {
	case p.count > maxElements:
		return fmt.Errorf("more than %d elements", maxElements)
	case len(p.open) == maxDepth:
		return fmt.Errorf("elements are nested more than %d deep", maxDepth)
	case len(t.Attr) > maxAttrs:
		return fmt.Errorf("<%s> has more than %d attributes", clip(t.Name.Local), maxAttrs)
	}
	line, _ := p.decoder.InputPos()
	e := &element{name: t.Name.Local, attrs: t.Attr, line: line}
	switch {
	case len(p.open) > 0:
		top := p.open[len(p.open)-1]
		top.children = append(top.children, e)
	default:
		p.roots = append(p.roots, e)
	}
	p.open = append(p.open, e)
	return nil
}

// clip shortens what a file says, so that an error stays one line.
func clip(s string) string {
	const most = 64
	s = strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
