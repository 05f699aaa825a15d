package wire

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// faults gathers everything that is wrong with a message, so that its sender
// learns it all at once.
type faults []error

// within notes a value that lies outside [low, high].
func within[T cmp.Ordered](f *faults, field string, v, low, high T) {
	if v < low || v > high {
		*f = append(*f, fmt.Errorf("%s %v: allowed are %v to %v", field, v, low, high))
	}
}

// note adds an error unless it is nil.
func (f *faults) note(err error) {
	if err != nil {
		*f = append(*f, err)
	}
}

// in returns all faults, each after the name of what they were found in; nil
// for none.
func (f faults) in(format string, args ...any) error {
	if len(f) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), errors.Join(f...))
}

// u32 narrows a number of the core, where a negative or larger one is a bug.
func u32(field string, v int) uint32 {
	if v < 0 || v > math.MaxInt32 {
		panic(fmt.Sprintf("wire: %s %d has no place in the contract", field, v))
	}
	return uint32(v)
}
