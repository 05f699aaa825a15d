package msccl

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// attrs are the attributes of one element. The first error stays.
type attrs struct {
	element string
	line    int
	list    []xml.Attr
	err     error
	cut     []string // attributes of which only the whole part was read
}

func newAttrs(t *xml.StartElement, line int) (*attrs, error) {
	a := &attrs{element: t.Name.Local, line: line, list: t.Attr}
	if len(t.Attr) > maxAttrs {
		return nil, bad(line, "<%s> has %d attributes; at most %d are read", word(a.element), len(t.Attr), maxAttrs)
	}
	for i, x := range t.Attr {
		if len(x.Value) > maxValue {
			return nil, bad(line, "%s of <%s> has %d bytes; at most %d are read", word(x.Name.Local), word(a.element), len(x.Value), maxValue)
		}
		for _, y := range t.Attr[:i] {
			if x.Name == y.Name {
				return nil, bad(line, "<%s> has %s twice", word(a.element), word(x.Name.Local))
			}
		}
	}
	return a, nil
}

func (a *attrs) fail(format string, args ...any) {
	if a.err == nil {
		a.err = bad(a.line, "<%s>: %s", a.element, fmt.Sprintf(format, args...))
	}
}

// text returns an attribute; ok is false if it is missing.
func (a *attrs) text(name string) (value string, ok bool) {
	for i := range a.list {
		if a.list[i].Name.Local == name {
			return a.list[i].Value, true
		}
	}
	return "", false
}

// number returns an attribute between two bounds, which it must have.
func (a *attrs) number(name string, least, most int) int {
	if _, ok := a.text(name); !ok {
		a.fail("%s is missing", name)
		return least
	}
	return a.optional(name, least, least, most)
}

// optional is number with a default. Like the runtimes, which read with C's
// strtol, it takes the whole part of a number that has more.
func (a *attrs) optional(name string, missing, least, most int) int {
	s, ok := a.text(name)
	if !ok {
		return missing
	}
	s = strings.TrimSpace(s)
	whole, fraction, cut := strings.Cut(s, ".")
	v, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || strings.Trim(fraction, "0123456789") != "" || v < int64(least) || v > int64(most) {
		a.fail("%s %q must be a whole number from %d to %d", name, word(s), least, most)
		return least
	}
	if cut {
		a.cut = append(a.cut, fmt.Sprintf("line %d: %s %q is read as %d, as the runtimes do", a.line, name, s, v))
	}
	return int(v)
}
