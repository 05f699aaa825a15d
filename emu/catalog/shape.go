package catalog

import (
	"fmt"
	"strings"
)

// Shape is a way to join servers.
type Shape struct {
	Name  string
	Short string // as in --fabric SHAPE-LINK
	About string
	// Tiers is the number of switch tiers the shape may grow to.
	Tiers int
}

var shapes = []Shape{{
	Name:  "rail-optimized",
	Short: "rail",
	About: "NIC i of every server of a unit meets at leaf i; spines join the units",
	Tiers: 3, // leaf, spine and, from 512 servers on, core [pod]
}}

// Shapes returns every fabric shape in listing order.
func Shapes() []Shape { return append([]Shape(nil), shapes...) }

// LookupShape returns the shape with the given name, long or short.
func LookupShape(name string) (Shape, error) {
	for _, s := range shapes {
		if s.Short == name {
			return s, nil
		}
	}
	return lookup("fabric", name, shapes, func(s Shape) string { return s.Name })
}

// ParseFabric reads SHAPE-LINK, for example "rail-ndr".
func ParseFabric(s string) (shape, link string, err error) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return "", "", fmt.Errorf("fabric %q: must be SHAPE-LINK, for example rail-ndr", s)
	}
	sh, err := LookupShape(s[:i])
	if err != nil {
		return "", "", err
	}
	l, err := LookupLink(s[i+1:])
	if err != nil {
		return "", "", err
	}
	return sh.Name, l.Name, nil
}

// MaxNICs returns how many NICs a fabric of switches with the given radix can
// join without oversubscription: radix^tiers / 2^(tiers−1), as in a fat tree.
func (s Shape) MaxNICs(radix int) int {
	n := radix
	for range s.Tiers - 1 {
		n *= radix / 2
	}
	return n
}

// UnknownError names a value that the catalog does not have.
type UnknownError struct {
	What, Name string
	Known      []string
}

// Error says what is unknown and what is allowed.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s %q: unknown; allowed are %s", e.What, e.Name, strings.Join(e.Known, ", "))
}

func lookup[T any](what, name string, table []T, key func(T) string) (T, error) {
	e := &UnknownError{What: what, Name: name}
	for _, v := range table {
		if key(v) == name {
			return v, nil
		}
		e.Known = append(e.Known, key(v))
	}
	var none T
	return none, e
}
