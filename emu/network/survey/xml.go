package survey

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// What an XML file may have.
const (
	maxElements = 200_000
	maxDepth    = 64
	maxAttrs    = 64
)

// element is an element of an XML file with what is in it.
type element struct {
	name     string
	attrs    []xml.Attr
	children []*element
	line     int
}

// attr returns an attribute, empty when there is none.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

// child returns the first element in e with a name, nil when there is none.
func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// within returns the elements of a name in the first child with another.
func (e *element) within(section, name string) []*element {
	var all []*element
	if s := e.child(section); s != nil {
		for _, c := range s.children {
			if c.name == name {
				all = append(all, c)
			}
		}
	}
	return all
}

// parseXML reads a file into its root element.
func parseXML(data []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // what counts is ASCII
	var root *element
	var open []*element
	for count := 0; ; {
		t, err := d.Token()
		line, _ := d.InputPos()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: not XML: %s", line, oneLine(err.Error()))
		}
		switch t := t.(type) {
		case xml.Directive:
			if bytes.ContainsAny(t, "[") {
				return nil, fmt.Errorf("line %d: document types that declare something are not read", line)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.StartElement:
			if count++; count > maxElements || len(open) >= maxDepth || len(t.Attr) > maxAttrs {
				return nil, fmt.Errorf("line %d: more than %d elements, %d deep or %d attributes in one, the most that are read", line, maxElements, maxDepth, maxAttrs)
			}
			e := &element{name: t.Name.Local, attrs: xml.CopyToken(t).(xml.StartElement).Attr, line: line}
			if len(open) > 0 {
				open[len(open)-1].children = append(open[len(open)-1].children, e)
			} else if root == nil {
				root = e
			}
			open = append(open, e)
		}
	}
	if root == nil {
		return nil, errors.New("holds no XML element")
	}
	return root, nil
}
