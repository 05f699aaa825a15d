package collective

import (
	"fmt"
	"slices"
	"strings"
)

// Options are the choices left to a caller when a plan is built. The zero
// value takes every default.
type Options struct {
	Protocol Protocol
	// Channels is the number of lanes; it must be at least 1.
	Channels int
	// Slices is how many slices the largest chunk falls into; 0 is the
	// algorithm's own (a ring has two).
	Slices int
}

// Algorithm is one way of doing one or more operations.
type Algorithm struct {
	Name  string
	Ops   []Op
	About string // one line for `plan list`
	// Build returns the plan for an operation on a shape, or says why there is
	// none.
	Build func(op Op, s Shape, o Options) (*Plan, error)
}

// algorithms is the registry; its order is the order of listings.
var algorithms = []Algorithm{ring, tree}

// Algorithms returns every algorithm in listing order.
func Algorithms() []Algorithm { return slices.Clone(algorithms) }

// Lookup returns the algorithm with the given name.
func Lookup(name string) (Algorithm, error) {
	var known []string
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
		known = append(known, a.Name)
	}
	return Algorithm{}, fmt.Errorf("algorithm %q: unknown; allowed are %s", name, strings.Join(known, ", "))
}

// Build returns the plan of the named algorithm.
func Build(algorithm string, op Op, s Shape, o Options) (*Plan, error) {
	a, err := Lookup(algorithm)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(a.Ops, op) {
		return nil, fmt.Errorf("algorithm %q does not do %s; it does %s", algorithm, op, opList(a.Ops))
	}
	if o.Channels < 1 {
		return nil, fmt.Errorf("channels %d: must be at least 1", o.Channels)
	}
	return a.Build(op, s, o)
}

func opList(ops []Op) string {
	var names []string
	for _, o := range ops {
		names = append(names, o.String())
	}
	return strings.Join(names, ", ")
}
