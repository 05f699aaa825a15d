package emu

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

// A file is cheap to refuse and dear to parse: the parser's time grows with
// the square of what it is given (2 s for 60,000 tokens of nested braces). The
// lexer's does not, so tokens are counted before anything is parsed.
const (
	maxFileBytes = 1 << 20
	maxTokens    = 20_000  // some 1,300 groups of nodes
	maxListed    = 100_000 // with the names in lists, which are cheap: 0.3 s; 256 leaves on 128 spines are 66,000
	maxNesting   = 16      // a cluster needs 4
)

// reader walks the syntax tree of one file and collects what is wrong with it.
// It reads the tree, not decoded values, because only the tree knows lines and
// a decoder stops at the first problem.
type reader struct {
	file     string
	problems problems
	lines    map[string]int  // field → line, for problems found later
	bad      map[string]bool // fields that already have a problem
}

func newReader(file string) *reader {
	return &reader{file: file, lines: map[string]int{}, bad: map[string]bool{}}
}

func (r *reader) add(n ast.Node, field, reason string) {
	r.report(line(n), field, reason)
}

func (r *reader) report(line int, field, reason string) {
	r.bad[field] = true
	r.problems = append(r.problems, &Problem{File: r.file, Line: line, Field: field, Reason: reason})
}

// addAll adds problems found in the values, with the lines of their fields. A
// field that could not be read, or lies in one, has no value to complain about.
func (r *reader) addAll(ps problems) {
	for _, p := range ps {
		if !r.unread(p.Field) {
			r.report(r.lineOf(p.Field), p.Field, p.Reason)
		}
	}
}

// lineOf returns the line of a field, or of the nearest it lies in.
func (r *reader) lineOf(field string) int {
	for field != "" {
		if n, ok := r.lines[field]; ok {
			return n
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return 0
}

func (r *reader) unread(field string) bool {
	for !r.bad[field] {
		if field == "" {
			return false
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return true
}

// document parses the one document of a file, nil when there is none.
func (r *reader) document(data []byte) ast.Node {
	if len(data) > maxFileBytes {
		r.report(0, "", fmt.Sprintf("the file is larger than %d bytes, the most that is read", maxFileBytes))
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	if !r.acceptable(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(err)
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			r.add(doc.Body, "", "a second document begins here; a cluster file holds one")
			return nil
		default:
			root = doc.Body
		}
	}
	if root == nil {
		r.report(0, "", "the file is empty; it must begin with apiVersion: "+APIVersion)
	}
	return root
}

// refused are parts of YAML that a cluster file has no use for. Aliases can
// make a small file expand without bound.
var refused = map[token.Type]string{
	token.AnchorType:     "anchors (&name) are",
	token.AliasType:      "aliases (*name) are",
	token.MergeKeyType:   "merge keys (<<) are",
	token.TagType:        "tags (!name) are",
	token.DirectiveType:  "directives (%NAME) are",
	token.MappingKeyType: "complex keys (?) are",
}

// dear counts tokens without the entries of flow lists but their first: ", leaf7"
// costs the parser no more than its length. In a flow mapping it costs more.
func dear(tokens token.Tokens) int {
	n := len(tokens)
	var open []token.Type
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open = append(open, t.Type)
		case token.SequenceEndType, token.MappingEndType:
			open = open[:max(len(open)-1, 0)]
		case token.CollectEntryType:
			if i+1 < len(tokens) && len(open) > 0 && open[len(open)-1] == token.SequenceStartType && isText(tokens[i+1]) {
				n -= 2
			}
		}
	}
	return n
}

func isText(t *token.Token) bool {
	return t.Type == token.StringType || t.Type == token.DoubleQuoteType
}

// acceptable reports whether the tokens are worth parsing.
func (r *reader) acceptable(tokens token.Tokens) bool {
	if n := dear(tokens); n > maxTokens || len(tokens) > maxListed {
		r.report(0, "", fmt.Sprintf("the file has %d YAML tokens, %d of them other than names in lists; at most %d and %d are read: use counts instead of listing like nodes",
			len(tokens), n, maxListed, maxTokens))
		return false
	}
	depth, dashes := 0, 0
	for _, t := range tokens {
		if what, ok := refused[t.Type]; ok {
			r.report(t.Position.Line, "", what+" not allowed; write the value out")
			return false
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if t.Type == token.SequenceEntryType {
			dashes++ // "- - -" is a list in a list in a list
		} else {
			dashes = 0
		}
		if max(depth, dashes) > maxNesting {
			r.report(t.Position.Line, "", fmt.Sprintf("brackets or dashes are nested more than %d deep", maxNesting))
			return false
		}
	}
	return true
}

// syntax reports an error of the parser in one line.
func (r *reader) syntax(err error) {
	var e *yaml.SyntaxError
	if errors.As(err, &e) && e.GetToken() != nil {
		r.report(e.GetToken().Position.Line, "", "not YAML: "+oneLine(e.GetMessage()))
		return
	}
	r.report(0, "", "not YAML: "+oneLine(err.Error()))
}

// oneLine escapes what would not print: messages of the parser quote the file.
func oneLine(s string) string {
	if len(s) > 200 {
		s = s[:200] + "…"
	}
	q := strconv.Quote(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
