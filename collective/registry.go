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
	// Root is the rank a rooted operation starts from or ends at.
	Root int
	// BufferBytes is the size of a connection's buffer (NCCL_BUFFSIZE); zero:
	// the protocol's default. ChunkBytes caps the chunk; zero: the algorithm's.
	BufferBytes, ChunkBytes int64
}

// Use is what an algorithm is asked to do, as far as it decides whether it may.
type Use struct {
	Op       Op
	DType    DType
	RedOp    RedOp
	Protocol Protocol
}

// Algorithm is one way of doing one or more operations.
type Algorithm struct {
	Name  string
	Ops   []Op
	About string // one line for `plan list`
	// Protocols it can use; nil: all.
	Protocols []Protocol
	// When says in words when it is legal; empty: always. Legal reports why a
	// use on a shape is not, beyond Ops and Protocols; nil: it always is.
	When  string
	Legal func(u Use, s Shape) error
	// Paper is where the algorithm was published.
	Paper string
	// Steps returns how many steps of the busiest block of any rank send or
	// receive, a loop; one that does both counts once. Wire how many bytes all ranks
	// together put on links (a multicast counts once) for a message of S bytes,
	// the larger buffer of a rank, where everything divides. StepsText and
	// WireText are the same as formulas in n ranks, N nodes, g = n/N.
	Steps               func(op Op, s Shape) int
	Wire                func(op Op, s Shape, bytes int64) int64
	StepsText, WireText string
	// Build returns the plan for an operation on a shape, or says why there is
	// none.
	Build func(op Op, s Shape, o Options) (*Plan, error)
}

// algorithms is the registry; its order is the order of listings.
var algorithms = []Algorithm{
	ring, tree, nvls, nvlstree, collnetDirect, collnetChain,
	recursiveDoubling, halvingDoubling, bruck, pat, binomial,
	directExchange, pairwise, hierarchical,
}

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

// Build returns the plan of the named algorithm. It asks whether the plan can be
// made, not whether hardware or types allow it: that is Algorithm.Check's.
func Build(algorithm string, op Op, s Shape, o Options) (*Plan, error) {
	a, err := Lookup(algorithm)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(a.Ops, op) {
		return nil, fmt.Errorf("algorithm %q does not do %s; it does %s", algorithm, op, list(a.Ops))
	}
	if a.Protocols != nil && !slices.Contains(a.Protocols, o.Protocol) {
		return nil, fmt.Errorf("algorithm %q does not use protocol %s; it uses %s", algorithm, o.Protocol, list(a.Protocols))
	}
	if o.Channels < 1 {
		return nil, fmt.Errorf("channels %d: must be at least 1", o.Channels)
	}
	if n := s.NRanks(); o.Root < 0 || o.Root >= n {
		return nil, fmt.Errorf("root %d: the communicator has ranks 0 to %d", o.Root, n-1)
	}
	p, err := a.Build(op, s, o)
	if err != nil {
		return nil, err
	}
	p.Root = o.Root
	if o.BufferBytes > 0 {
		p.StepBytes = o.Protocol.StepOf(o.BufferBytes)
	}
	if o.ChunkBytes > 0 {
		p.ChunkBytes = o.ChunkBytes * int64(max(p.Heads, 1))
	}
	return p, nil
}

// Check reports why an algorithm may not be used so on a shape; nil: it may.
func (a *Algorithm) Check(u Use, s Shape) error {
	if !slices.Contains(a.Ops, u.Op) {
		return fmt.Errorf("algorithm %q does not do %s; it does %s", a.Name, u.Op, list(a.Ops))
	}
	if a.Protocols != nil && !slices.Contains(a.Protocols, u.Protocol) {
		return fmt.Errorf("algorithm %q does not use protocol %s; it uses %s", a.Name, u.Protocol, list(a.Protocols))
	}
	if a.Legal == nil {
		return nil
	}
	if err := a.Legal(u, s); err != nil {
		return fmt.Errorf("algorithm %q: %w", a.Name, err)
	}
	return nil
}

// list names things, separated by commas.
func list[T fmt.Stringer](all []T) string { return strings.Join(names(all), ", ") }

func names[T fmt.Stringer](all []T) []string {
	var out []string
	for _, v := range all {
		out = append(out, v.String())
	}
	return out
}
