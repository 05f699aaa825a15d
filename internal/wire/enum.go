package wire

import (
	"fmt"
	"strings"
)

// enum pairs the constants of a core type with those of the contract. Their
// numbers are independent on purpose: reordering constants of the core must not
// change the wire.
type enum[C comparable, P protoEnum] struct {
	field string // as errors name it
	pairs []pair[C, P]
}

type pair[C, P any] struct {
	core C
	wire P
}

type protoEnum interface {
	comparable
	~int32
	fmt.Stringer
}

// encode returns the contract's constant. A core constant without one is a bug
// of this package and panics.
func (e *enum[C, P]) encode(c C) P {
	for i := range e.pairs {
		if e.pairs[i].core == c {
			return e.pairs[i].wire
		}
	}
	panic(fmt.Sprintf("wire: %s %v has no place in the contract", e.field, c))
}

// decode returns the core's constant, or an error that lists what is allowed.
func (e *enum[C, P]) decode(p P) (C, error) {
	for i := range e.pairs {
		if e.pairs[i].wire == p {
			return e.pairs[i].core, nil
		}
	}
	var none C
	var known []string
	for i := range e.pairs {
		known = append(known, e.pairs[i].wire.String())
	}
	return none, fmt.Errorf("%s %v: unknown; allowed are %s", e.field, p, strings.Join(known, ", "))
}
