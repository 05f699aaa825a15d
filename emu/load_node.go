package emu

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/railyard/railyard/emu/suggest"
)

func line(n ast.Node) int {
	if n == nil || n.GetToken() == nil {
		return 0
	}
	return n.GetToken().Position.Line
}

// key is a key that a mapping may have. read may be called once.
type key struct {
	name     string
	required bool
	read     func(path string, n ast.Node)
}

// mapping reads a mapping with the given keys.
func (r *reader) mapping(n ast.Node, path string, keys []key) {
	entries, ok := entries(n)
	if !ok {
		r.add(n, path, fmt.Sprintf("must be a mapping with the keys %s", strings.Join(names(keys), ", ")))
		return
	}
	seen := map[string]bool{}
	for _, e := range entries {
		name := e.Key.GetToken().Value
		field := join(path, name)
		k := find(keys, name)
		switch {
		case k == nil:
			r.add(e.Key, join(path, suggest.Clip(name)), "unknown key; allowed are "+strings.Join(names(keys), ", ")+suggest.Hint(name, names(keys)))
		case seen[name]:
			r.add(e.Key, field, "is given twice")
		default:
			seen[name] = true
			r.lines[field] = line(e.Key)
			k.read(field, e.Value)
		}
	}
	for _, k := range keys {
		if k.required && !seen[k.name] {
			r.add(n, join(path, k.name), "is missing")
		}
	}
}

// entries returns the entries of a mapping.
func entries(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}, true
	}
	return nil, false
}

// peek returns the text of a top-level key, empty when there is none.
func peek(root ast.Node, name string) string {
	all, _ := entries(root)
	for _, e := range all {
		if s, ok := e.Value.(*ast.StringNode); ok && e.Key.GetToken().Value == name {
			return s.Value
		}
	}
	return ""
}

func find(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func names(keys []key) []string {
	all := make([]string, len(keys))
	for i, k := range keys {
		all[i] = k.name
	}
	return all
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// sequence reads a list; read is called with the path of each element.
func (r *reader) sequence(n ast.Node, path string, read func(path string, n ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		r.add(n, path, "must be a list: - {…}")
		return
	}
	for i, v := range s.Values {
		field := fmt.Sprintf("%s[%d]", path, i)
		r.lines[field] = line(v)
		read(field, v)
	}
}

// The functions below return what reads one kind of value into a place.

func (r *reader) text(to *string) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		s, ok := n.(*ast.StringNode)
		if !ok {
			r.add(n, path, fmt.Sprintf("%s must be a name; put it in quotes if it is one", shown(n)))
			return
		}
		*to = s.Value
	}
}

func (r *reader) constant(want string) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		if s, ok := n.(*ast.StringNode); !ok || s.Value != want {
			r.add(n, path, fmt.Sprintf("%s is unknown; allowed is %s", shown(n), want))
		}
	}
}

func (r *reader) count(to *int, most int) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		v, err := strconv.ParseInt(digits(n), 10, 64)
		if err != nil || v < 1 || v > int64(most) {
			r.add(n, path, fmt.Sprintf("%s must be a whole number from 1 to %d", shown(n), most))
			return
		}
		*to = int(v)
	}
}

func (r *reader) crossNIC(to *CrossNIC) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		c, ok := ParseCrossNIC(digits(n))
		if !ok {
			r.add(n, path, shown(n)+" must be 0 (never), 1 (always) or 2 (if that is faster)")
			return
		}
		*to = c
	}
}

func (r *reader) seed(to *uint64) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		v, err := strconv.ParseUint(digits(n), 10, 64)
		if err != nil {
			r.add(n, path, fmt.Sprintf("%s must be a whole number from 0 to 18446744073709551615", shown(n)))
			return
		}
		*to = v
	}
}

// digits returns the text of an unquoted scalar, empty for anything else:
// "8" in quotes is a name, not a number.
func digits(n ast.Node) string {
	if _, ok := n.(ast.ScalarNode); !ok {
		return ""
	}
	switch t := n.GetToken(); t.Type {
	case token.IntegerType, token.FloatType, token.StringType:
		return t.Value
	}
	return ""
}

// shown returns a value as an error prints it.
func shown(n ast.Node) string {
	switch n.(type) {
	case *ast.NullNode:
		return "an empty value"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	}
	return strconv.Quote(suggest.Clip(n.GetToken().Value))
}
