package tuner

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
)

var someNames = []string{"ring", "tree", "collnetdirect", "collnetchain", "nvls", "nvlstree", "recursive-doubling"}

func parse(text string) (Filter, error) {
	return ParseFilter(text, someNames, func(name string, known []string) error {
		return fmt.Errorf("%q unknown; allowed are %s", name, strings.Join(known, ", "))
	})
}

func TestFilters(t *testing.T) {
	const ar, bc = collective.AllReduce, collective.Broadcast
	for _, tc := range []struct {
		text    string
		op      collective.Op
		allowed string
		named   string
	}{
		{"", ar, "ring tree collnetdirect collnetchain nvls nvlstree recursive-doubling", ""},
		{"AUTO", ar, "ring tree collnetdirect collnetchain nvls nvlstree recursive-doubling", ""},
		{"Ring,Tree", ar, "ring tree", "ring tree"},
		{"^NVLS", ar, "ring tree collnetdirect collnetchain nvlstree recursive-doubling", ""},
		{"^nvls,NVLSTree", ar, "ring tree collnetdirect collnetchain recursive-doubling", ""},
		{"NVLS_TREE", ar, "nvlstree", "nvlstree"},
		{"CollnetDirect", ar, "collnetdirect", "collnetdirect"},
		{"CollNet", ar, "collnetdirect collnetchain", "collnetdirect collnetchain"},
		{"recursivedoubling", ar, "recursive-doubling", "recursive-doubling"},
		{"allreduce:tree;broadcast:ring", ar, "tree", "tree"},
		{"allreduce:tree;broadcast:ring", bc, "ring", "ring"},
		{"AllReduce:^tree, nvls;", ar, "ring collnetdirect collnetchain nvlstree recursive-doubling", ""},
		{"allreduce:tree", bc, "ring tree collnetdirect collnetchain nvls nvlstree recursive-doubling", ""},
		{"ring;all_reduce:tree", ar, "tree", "tree"},
		{"ring;all_reduce:tree", bc, "ring", "ring"},
	} {
		f, err := parse(tc.text)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		var allowed []string
		for _, n := range someNames {
			if f.Allows(tc.op, n) {
				allowed = append(allowed, n)
			}
		}
		if !slices.Equal(allowed, strings.Fields(tc.allowed)) || !slices.Equal(f.Named(tc.op), strings.Fields(tc.named)) {
			t.Errorf("%q for %s: allows %v, names %v", tc.text, tc.op, allowed, f.Named(tc.op))
		}
	}
}

func TestBadFilters(t *testing.T) {
	for text, want := range map[string]string{
		"rign":               `"rign" unknown; allowed are ring`,
		"ring,,tree":         `"" unknown`,
		"^":                  `"" unknown`,
		"allreduce:":         `"" unknown`,
		"allredcue:ring":     `operation "allredcue" unknown; allowed are all_reduce`,
		"ring;tree":          "two lists for the same operation",
		";":                  "no name in it",
		"all_reduce:ring:up": `"ring:up" unknown`,
	} {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("^ring,tree;all_reduce:nvls")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parse(text)
		if err == nil && !slices.ContainsFunc(someNames, func(n string) bool { return g.Allows(collective.AllReduce, n) }) && !strings.Contains(text, "^") {
			t.Errorf("%q allows nothing", text)
		}
	})
}
