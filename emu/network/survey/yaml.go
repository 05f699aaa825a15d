package survey

import (
	"errors"
	"fmt"
	"strconv"

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

// refused are parts of YAML that no description needs. Aliases can make a small
// file expand without bound.
var refused = map[token.Type]string{
	token.AnchorType: "anchors (&name)", token.AliasType: "aliases (*name)", token.MergeKeyType: "merge keys (<<)",
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
			return tree(doc.Body), nil
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

// tree makes values of a syntax tree.
func tree(n ast.Node) *value {
	if n == nil || n.GetToken() == nil {
		return &value{}
	}
	t := n.GetToken()
	v := &value{line: t.Position.Line}
	switch m := n.(type) {
	case *ast.MappingNode:
		for _, e := range m.Values {
			v.pairs = append(v.pairs, entry(e))
		}
	case *ast.MappingValueNode:
		v.pairs = []pair{entry(m)}
	case *ast.SequenceNode:
		for _, e := range m.Values {
			v.list = append(v.list, tree(e))
		}
	case *ast.NullNode:
	case *ast.LiteralNode:
		v.text = m.Value.Value
	default:
		v.text = t.Value
	}
	return v
}

func entry(e *ast.MappingValueNode) pair {
	p := pair{value: tree(e.Value)}
	if e.Key != nil && e.Key.GetToken() != nil {
		p.key = e.Key.GetToken().Value
		if p.value.line == 0 {
			p.value.line = e.Key.GetToken().Position.Line
		}
	}
	return p
}
