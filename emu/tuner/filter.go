package tuner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
)

// Filter says which algorithms, or which protocols, may be used for an
// operation: what NCCL_ALGO and NCCL_PROTO hold. The zero value allows all.
//
//	ring,tree                          these
//	^nvls,nvlstree                     all but these
//	ring;allreduce:tree;broadcast:ring by operation, since NCCL 2.24
//
// Case does not count, nor do - and _ in names.
type Filter struct{ rules []rule }

type rule struct {
	op      string // folded; empty for every operation
	exclude bool
	names   []string
}

// Auto allows everything, as an empty text does.
const Auto = "auto"

// fold makes spellings of one name equal: AllReduce, all_reduce.
func fold(s string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// ParseFilter reads a filter over the known names. unknown makes the error for
// a name that is not among them.
func ParseFilter(text string, known []string, unknown func(name string, known []string) error) (Filter, error) {
	var f Filter
	if text == "" || fold(text) == Auto {
		return f, nil
	}
	for part := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		r, err := parseRule(part, known, unknown)
		if err != nil {
			return Filter{}, err
		}
		if slices.ContainsFunc(f.rules, func(o rule) bool { return o.op == r.op }) {
			return Filter{}, fmt.Errorf("%q: two lists for the same operation; join them", text)
		}
		f.rules = append(f.rules, r)
	}
	if len(f.rules) == 0 {
		return f, fmt.Errorf("%q: no name in it; allowed are %s", text, strings.Join(known, ", "))
	}
	return f, nil
}

func parseRule(part string, known []string, unknown func(string, []string) error) (rule, error) {
	var r rule
	if op, list, ok := strings.Cut(part, ":"); ok {
		ops := opNames()
		if r.op = fold(op); !slices.ContainsFunc(ops, func(o string) bool { return fold(o) == r.op }) {
			return r, fmt.Errorf("operation %w", unknown(strings.TrimSpace(op), ops))
		}
		part = list
	}
	part, r.exclude = strings.CutPrefix(strings.TrimSpace(part), "^")
	for word := range strings.SplitSeq(part, ",") {
		names := resolve(word, known)
		if names == nil {
			return r, unknown(strings.TrimSpace(word), known)
		}
		r.names = append(r.names, names...)
	}
	return r, nil
}

func opNames() []string {
	var all []string
	for _, o := range collective.Ops() {
		all = append(all, o.String())
	}
	return all
}

// resolve returns what a word means: one name, or both of CollNet, which was
// one up to NCCL 2.13.
func resolve(word string, known []string) []string {
	for _, k := range known {
		if fold(k) == fold(word) {
			return []string{k}
		}
	}
	if fold(word) == "collnet" && slices.Contains(known, CollNetDirect) {
		return []string{CollNetDirect, CollNetChain}
	}
	return nil
}

// rule returns what holds for an operation: its own rule, or that of all.
func (f Filter) rule(op collective.Op) (rule, bool) {
	var all rule
	found := false
	for _, r := range f.rules {
		switch r.op {
		case fold(op.String()):
			return r, true
		case "":
			all, found = r, true
		}
	}
	return all, found
}

// Allows reports whether a name may be used for an operation.
func (f Filter) Allows(op collective.Op, name string) bool {
	r, ok := f.rule(op)
	return !ok || slices.Contains(r.names, name) != r.exclude
}

// Named returns the names that were asked for by name, in that order; none
// where nothing was said, or names were excluded.
func (f Filter) Named(op collective.Op) []string {
	r, ok := f.rule(op)
	if !ok || r.exclude {
		return nil
	}
	return r.names
}
