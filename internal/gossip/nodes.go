package gossip

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// MaxNode is the highest node index a member may claim. It bounds what a
// hostile peer's range can make us walk over; the largest clusters planned for
// have 10^5 GPUs.
const MaxNode = 1<<20 - 1

// Range is the node indexes First to Last, both included.
type Range struct{ First, Last int }

// Nodes is a set of node indexes: ranges in ascending order that neither touch
// nor overlap. The zero value is the empty set.
type Nodes []Range

// ParseNodes reads a set as users write it: "3", "0-7", "0-3,8". The empty
// string is the empty set. An index that is listed twice is an error: it is
// never what the user meant.
func ParseNodes(s string) (Nodes, error) {
	if s == "" {
		return nil, nil
	}
	var out Nodes
	for part := range strings.SplitSeq(s, ",") {
		r, err := parseRange(part)
		if err != nil {
			return nil, fmt.Errorf("nodes %q: %w", s, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Range) int { return cmp.Compare(a.First, b.First) })
	for i := 1; i < len(out); i++ {
		if out[i].First <= out[i-1].Last {
			return nil, fmt.Errorf("nodes %q: node %d is listed twice; list each once", s, out[i].First)
		}
	}
	return out.merged(), nil
}

func parseRange(s string) (Range, error) {
	first, last, ranged := strings.Cut(s, "-")
	if !ranged {
		last = first
	}
	r := Range{First: parseIndex(first), Last: parseIndex(last)}
	if r.First < 0 || r.Last < r.First {
		return Range{}, fmt.Errorf("%q is not a node; write an index or a range of indexes from 0 to %d, such as 3 or 0-7", s, MaxNode)
	}
	return r, nil
}

// parseIndex returns -1 for what is not an index.
func parseIndex(s string) int {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n > MaxNode {
		return -1
	}
	return int(n)
}

// merged joins ranges that touch, so that a set has one form only.
func (n Nodes) merged() Nodes {
	out := n[:1]
	for _, r := range n[1:] {
		if tail := &out[len(out)-1]; tail.Last+1 == r.First {
			tail.Last = r.Last
		} else {
			out = append(out, r)
		}
	}
	return out
}

// List returns the set of the given indexes, in any order, each once or more.
// It panics on an index outside 0..MaxNode.
func List(indexes ...int) Nodes {
	if len(indexes) == 0 {
		return nil
	}
	var out Nodes
	for _, i := range slices.Compact(slices.Sorted(slices.Values(indexes))) {
		if i < 0 || i > MaxNode {
			panic(fmt.Sprintf("gossip: node index %d outside 0..%d", i, MaxNode))
		}
		out = append(out, Range{i, i})
	}
	return out.merged()
}

// Contains reports whether node i is in the set.
func (n Nodes) Contains(i int) bool {
	return slices.ContainsFunc(n, func(r Range) bool { return r.First <= i && i <= r.Last })
}

// Len returns the number of nodes in the set.
func (n Nodes) Len() int {
	sum := 0
	for _, r := range n {
		sum += r.Last - r.First + 1
	}
	return sum
}

// All yields the nodes in ascending order.
func (n Nodes) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, r := range n {
			for i := r.First; i <= r.Last; i++ {
				if !yield(i) {
					return
				}
			}
		}
	}
}

// String returns the form that ParseNodes reads.
func (n Nodes) String() string {
	var parts []string
	for _, r := range n {
		if r.First == r.Last {
			parts = append(parts, strconv.Itoa(r.First))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r.First, r.Last))
		}
	}
	return strings.Join(parts, ",")
}
