package catalog

import (
	"fmt"
	"math"
	"strings"
)

// Shape is a way to join servers. emu/network builds it.
type Shape struct {
	Name  string
	Short string // as in --fabric SHAPE-LINK; empty: as Name
	About string
	// Tiers is the number of switch tiers a folded Clos shape may grow to, 0 for
	// others.
	Tiers int
}

var shapes = []Shape{
	{Name: "rail-optimized", Short: "rail", About: "NIC i of every server of a unit meets at leaf i; spines join the units",
		Tiers: 3}, // leaf, spine and, from 512 servers on, core [pod]
	{Name: "rail-only", About: "as rail-optimized, but rails never meet: other rails are reached over NVLink",
		Tiers: 3}, // as rail-optimized [assumed]
	{Name: "single", About: "every NIC on one switch",
		Tiers: 1}, // by definition [assumed]
	{Name: "fat-tree", Short: "ft", About: "NICs in order on leaves, spines above, cores above those",
		Tiers: 3}, // more have no use here [assumed]
	{Name: "dragonfly", Short: "df", About: "groups of switches, each joined to all of its group; every group joined to all"},
	{Name: "dragonfly+", About: "groups of leaves and spines; spines join the groups"},
	{Name: "torus", About: "a switch a server, a ring in every dimension"},
}

// Shapes returns every fabric shape in listing order.
func Shapes() []Shape { return append([]Shape(nil), shapes...) }

// LookupShape returns the shape with the given name, long or short.
func LookupShape(name string) (Shape, error) {
	for _, s := range shapes {
		if name != "" && s.Short == name {
			return s, nil
		}
	}
	return lookup("fabric", name, shapes, func(s Shape) string { return s.Name })
}

// ParseFabric reads SHAPE-LINK, for example "rail-ndr". Both may contain hyphens;
// the longest shape that fits is meant.
func ParseFabric(s string) (shape, link string, err error) {
	best := ""
	for _, sh := range shapes {
		for _, name := range []string{sh.Name, sh.Short} {
			if name != "" && strings.HasPrefix(s, name+"-") && len(name) > len(best) {
				best, shape = name, sh.Name
			}
		}
	}
	if best == "" {
		if _, err := LookupShape(s); err == nil {
			return "", "", noLink(s)
		}
		if l, err := LookupLink(s); err == nil {
			return "", "", fmt.Errorf("fabric %q: must be SHAPE-LINK, and this is a link alone, for example rail-%s", s, l.Name)
		}
		i := strings.LastIndexByte(s, '-')
		if i < 0 {
			return "", "", fmt.Errorf("fabric %q: must be SHAPE-LINK, for example rail-ndr", s)
		}
		_, err = LookupShape(s[:i])
		return "", "", err
	}
	if _, whole := LookupShape(s); whole == nil { // rail-only, which is no rail of "only"
		return "", "", noLink(s)
	}
	l, err := LookupLink(s[len(best)+1:])
	if err != nil {
		return "", "", err
	}
	return shape, l.Name, nil
}

func noLink(shape string) error {
	return fmt.Errorf("fabric %q: must be SHAPE-LINK, and this is a shape alone, for example %s-ndr", shape, shape)
}

// MaxNICs returns how many NICs a fabric of switches with the given radix can
// join without oversubscription: radix^tiers / 2^(tiers−1), as in a fat tree. What
// other shapes join depends on more; emu/network says so.
func (s Shape) MaxNICs(radix int) int {
	if s.Tiers == 0 {
		return math.MaxInt
	}
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
