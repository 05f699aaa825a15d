package survey

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// YAML is cheap to split into tokens and dear to parse: the parser's time grows
// with the square of nesting. So tokens are counted first.
const (
	maxYAMLBytes = 2 << 20
	maxTokens    = 60_000 // some 5,000 links
	maxNesting   = 16     // brackets and dashes; the deepest file has 4
)

// value is a node of a YAML tree. Exactly one of text, list and pairs counts.
type value struct {
	line  int
	text  string
	list  []*value
	pairs []pair
	size  int // values in it, those of aliases counted each time
}

type pair struct {
	key   string
	value *value
}

// get returns the value of a key; nil when there is none, or v is no mapping.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for _, p := range v.pairs {
		if p.key == key {
			return p.value
		}
	}
	return nil
}

// str returns the text of a key, empty when there is none.
func (v *value) str(key string) string {
	if w := v.get(key); w != nil {
		return w.text
	}
	return ""
}

// names returns names under a key as one list, whether the file has them in one
// text or each for itself.
func (v *value) names(key string) string {
	items := v.get(key).items()
	if items == nil {
		return v.str(key)
	}
	var all []string
	for _, w := range items {
		all = append(all, w.text)
	}
	return strings.Join(all, ",")
}

// items returns the entries of a list, nil when there is none.
func (v *value) items() []*value {
	if v == nil {
		return nil
	}
	return v.list
}

// entries returns the entries of a mapping, nil when there is none.
func (v *value) entries() []pair {
	if v == nil {
		return nil
	}
	return v.pairs
}

// number returns a whole number of a key, from 0 to most; otherwise when the key
// is missing.
func (v *value) number(key string, otherwise, most int) (int, error) {
	w := v.get(key)
	if w == nil {
		return otherwise, nil
	}
	n, err := strconv.Atoi(w.text)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("line %d: %s: %q must be a whole number from 0 to %d", w.line, key, clip(w.text), most)
	}
	return n, nil
}

// refused are parts of YAML that no description needs.
var refused = map[token.Type]string{
	token.TagType: "tags (!name)", token.DirectiveType: "directives (%NAME)", token.MappingKeyType: "complex keys (?)",
}

// parseYAML reads the first document of a file.
func parseYAML(data []byte) (*value, error) {
	if len(data) > maxYAMLBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes, the most YAML that is read", maxYAMLBytes)
	}
	tokens := lexer.Tokenize(string(data))
	if err := acceptable(tokens); err != nil {
		return nil, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return nil, syntax(err)
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			b := treeBuilder{anchors: map[string]*value{}}
			root := b.tree(doc.Body)
			return root, b.err
		}
	}
	return nil, errors.New("the file is empty")
}

// acceptable says why tokens are not worth parsing.
func acceptable(tokens token.Tokens) error {
	if len(tokens) > maxTokens {
		return fmt.Errorf("the file has %d YAML tokens; at most %d are read", len(tokens), maxTokens)
	}
	depth, dashes := 0, 0
	for _, t := range tokens {
		if what, ok := refused[t.Type]; ok {
			return fmt.Errorf("line %d: %s are not read; write the value out", t.Position.Line, what)
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if t.Type == token.SequenceEntryType {
			dashes++
		} else {
			dashes = 0
		}
		if max(depth, dashes) > maxNesting {
			return fmt.Errorf("line %d: brackets or dashes are nested more than %d deep", t.Position.Line, maxNesting)
		}
	}
	return nil
}

// syntax puts an error of the parser on one line.
func syntax(err error) error {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.GetToken() != nil {
		return fmt.Errorf("line %d: not YAML: %s", e.GetToken().Position.Line, oneLine(e.GetMessage()))
	}
	return errors.New("not YAML: " + oneLine(err.Error()))
}

// oneLine makes foreign text fit for a message.
func oneLine(s string) string {
	q := strconv.Quote(clip(s))
	return q[1 : len(q)-1]
}

// treeBuilder makes values of a syntax tree.
type treeBuilder struct {
	anchors map[string]*value
	err     error // the first
}

func (b *treeBuilder) tree(n ast.Node) *value {
	if n == nil || n.GetToken() == nil {
		return &value{size: 1}
	}
	t := n.GetToken()
	v := &value{line: t.Position.Line, size: 1}
	switch m := n.(type) {
	case *ast.MappingNode:
		b.mapping(v, m.Values)
	case *ast.MappingValueNode:
		b.mapping(v, []*ast.MappingValueNode{m})
	case *ast.SequenceNode:
		for _, e := range m.Values {
			w := b.tree(e)
			v.list, v.size = append(v.list, w), v.size+w.size
		}
	case *ast.AnchorNode:
		w := b.tree(m.Value)
		b.anchors[m.Name.GetToken().Value] = w
		return w
	case *ast.AliasNode:
		return b.alias(m)
	case *ast.NullNode:
	case *ast.LiteralNode:
		v.text = m.Value.Value
	default:
		v.text = t.Value
	}
	if v.size > maxTokens {
		b.fail(v.line, fmt.Errorf("aliases (*name) make more than %d values of the file", maxTokens))
		return &value{line: v.line, size: 1}
	}
	return v
}

func (b *treeBuilder) fail(line int, err error) {
	if b.err == nil {
		b.err = fmt.Errorf("line %d: %w", line, err)
	}
}

// alias returns the value that an alias stands for. It is shared, not copied.
func (b *treeBuilder) alias(m *ast.AliasNode) *value {
	name := m.Value.GetToken().Value
	v, ok := b.anchors[name]
	if !ok {
		b.fail(m.GetToken().Position.Line, fmt.Errorf("alias *%s: no anchor &%s stands before it", clip(name), clip(name)))
		return &value{size: 1}
	}
	return v
}

// mapping fills v with entries; what a merge key (<<) brings in is weaker than
// what the mapping says itself.
func (b *treeBuilder) mapping(v *value, entries []*ast.MappingValueNode) {
	var merged []*value
	for _, e := range entries {
		p := b.entry(e)
		if _, merge := e.Key.(*ast.MergeKeyNode); !merge {
			v.pairs, v.size = append(v.pairs, p), v.size+p.value.size
		} else if merged = append(merged, p.value); p.value.list != nil {
			merged = p.value.list
		}
	}
	for _, m := range merged {
		for _, p := range m.pairs {
			if v.size <= maxTokens && v.get(p.key) == nil {
				v.pairs, v.size = append(v.pairs, p), v.size+p.value.size
			}
		}
	}
}

func (b *treeBuilder) entry(e *ast.MappingValueNode) pair {
	p := pair{value: b.tree(e.Value)}
	if e.Key != nil && e.Key.GetToken() != nil {
		p.key = e.Key.GetToken().Value
		if p.value.line == 0 {
			p.value.line = e.Key.GetToken().Position.Line
		}
	}
	return p
}
