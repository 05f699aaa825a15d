package catalog_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// counts are the fields that have no unit. Every other figure of a table must
// be multiplied by one.
var counts = []string{"GPUs", "NICs", "Cards", "Compute", "Usable", "SMUsable", "Channels", "Radix", "Tiers", "Ports", "Percent", "Milliwatts",
	"Links", "Gen", "Sockets", "Switches", "Planes", "Domain", "Chips", "Slice", "Trees"}

// units are what figures are multiplied by.
var units = []string{"ns", "us", "metre", "shaping.MBps", "shaping.GBps", "shaping.Gbps"}

var tag = regexp.MustCompile(`\[([a-z]+)\]`)

// source is a parsed file of the catalog.
type source struct {
	set   *token.FileSet
	file  *ast.File
	tags  map[string]bool // sources that doc.go declares
	cited map[string]bool
	found []string
}

func parse(t *testing.T, name string, text any) *source {
	t.Helper()
	s := &source{set: token.NewFileSet(), cited: map[string]bool{}}
	var err error
	if s.file, err = parser.ParseFile(s.set, name, text, parser.ParseComments); err != nil {
		t.Fatal(err)
	}
	return s
}

// declared returns the sources listed in the package's documentation: lines that
// begin with a tag.
func declared(t *testing.T) map[string]bool {
	t.Helper()
	tags := map[string]bool{}
	for line := range strings.Lines(parse(t, "doc.go", nil).file.Doc.Text()) {
		if m := tag.FindStringSubmatchIndex(strings.TrimSpace(line)); m != nil && m[0] == 0 {
			tags[strings.TrimSpace(line)[m[2]:m[3]]] = true
		}
	}
	if len(tags) == 0 {
		t.Fatal("doc.go declares no sources")
	}
	return tags
}

// line returns the line of a position.
func (s *source) line(p token.Pos) int { return s.set.Position(p).Line }

func (s *source) say(p token.Pos, format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf("%s: %s", s.set.Position(p), fmt.Sprintf(format, args...)))
}

// comments returns the text of comments that end on a line.
func (s *source) comment(line int) string {
	for _, g := range s.file.Comments {
		for _, c := range g.List {
			if s.line(c.Pos()) == line {
				return c.Text
			}
		}
	}
	return ""
}

// check looks at every figure of the file: the numbers in tables and constants,
// which must cite a source on their line, and those that functions return, which
// may cite it in the function's comment.
func (s *source) check(tags map[string]bool) {
	s.tags = tags
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.VAR || d.Tok == token.CONST {
				s.table(d)
			}
		case *ast.FuncDecl:
			s.returns(d)
		}
	}
}

// table checks the numbers of a declaration.
func (s *source) table(d *ast.GenDecl) {
	var path []ast.Node
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind != token.STRING {
			s.cites(lit, s.comment(s.line(lit.Pos())))
			s.unit(lit, path)
		} else if ok && strings.HasPrefix(lit.Value, `"NCCL_`) {
			s.cites(lit, s.comment(s.line(lit.Pos()))) // a variable, whose value is as good as a figure
		}
		path = append(path, n)
		return true
	})
}

// cites checks that a comment names a source that the package declares.
func (s *source) cites(lit *ast.BasicLit, comment string) {
	all := tag.FindAllStringSubmatch(comment, -1)
	if len(all) == 0 {
		s.say(lit.Pos(), "%s has no source: end the line with one of doc.go's, in brackets", lit.Value)
	}
	for _, m := range all {
		s.cited[m[1]] = true
		if !s.tags[m[1]] {
			s.say(lit.Pos(), "source [%s] is not declared in doc.go", m[1])
		}
	}
}

// unit checks that a number is multiplied by a unit, or is a count by the name
// of its field.
func (s *source) unit(lit *ast.BasicLit, path []ast.Node) {
	for _, n := range slices.Backward(path) {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			y := n.Y
			if n.Op == token.MUL && n.X == lit && slices.Contains(units, expr(y)) {
				return
			}
		case *ast.KeyValueExpr:
			if !slices.Contains(counts, expr(n.Key)) {
				s.say(lit.Pos(), "%s %s has no unit: multiply it by one of %s", expr(n.Key), lit.Value, strings.Join(units, ", "))
			}
			return
		}
	}
	s.say(lit.Pos(), "%s has no name and no unit", lit.Value)
}

func expr(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return expr(e.X) + "." + e.Sel.Name
	}
	return ""
}

// returns checks the numbers that a function returns as they are.
func (s *source) returns(d *ast.FuncDecl) {
	ast.Inspect(d, func(n ast.Node) bool {
		r, ok := n.(*ast.ReturnStmt)
		if !ok {
			return true
		}
		for _, e := range r.Results {
			if lit, ok := e.(*ast.BasicLit); ok && lit.Kind != token.STRING {
				s.cites(lit, s.comment(s.line(lit.Pos()))+d.Doc.Text())
			}
		}
		return true
	})
}

// TestEveryFigureHasUnitAndSource reads the catalog as a reader does.
func TestEveryFigureHasUnitAndSource(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	tags, cited := declared(t), map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := parse(t, name, text)
		s.check(tags)
		for _, f := range s.found {
			t.Error(f)
		}
		maps.Copy(cited, s.cited)
	}
	for source := range tags {
		if !cited[source] {
			t.Errorf("doc.go declares the source [%s], which no figure cites", source)
		}
	}
}

// TestFiguresWithoutSourceAreFound: the reader above notices what is missing.
func TestFiguresWithoutSourceAreFound(t *testing.T) {
	tags := map[string]bool{"hw": true, "cal": true}
	for _, tc := range []struct {
		name, text string
		want       []string // beginnings, or nothing
	}{
		{"complete", "var t = []T{{\n\tGPUs: 8, // [hw]\n\tWire: 450 * shaping.GBps, Usable: 881, // 396 of 450 [cal]\n}}", nil},
		{"no comment", "var t = []T{{\n\tGPUs: 8,\n}}", []string{"x.go:3:8: 8 has no source"}},
		{"a comment that cites nothing", "var t = []T{{\n\tGPUs: 8, // eight of them\n}}", []string{"x.go:3:8: 8 has no source"}},
		{"a source above the table is not enough", "// All of it [hw].\nvar t = []T{{\n\tGPUs: 8,\n}}", []string{"x.go:4:8: 8 has no source"}},
		{"a source on the line before", "var t = []T{{\n\tNICs: 8, // [hw]\n\tGPUs: 8,\n}}", []string{"x.go:4:8: 8 has no source"}},
		{"a source nobody declared", "var t = []T{{\n\tGPUs: 8, // [web]\n}}", []string{"x.go:3:8: source [web] is not declared"}},
		{"two without source on a line", "var t = []T{{\n\tGPUs: 8, NICs: 4,\n}}", []string{"x.go:3:8: 8 has no source", "x.go:3:17: 4 has no source"}},
		{"no unit", "var t = []T{{\n\tWire: 450, // [hw]\n}}", []string{"x.go:3:8: Wire 450 has no unit"}},
		{"no unit inside", "var t = []T{{\n\tSteps: P{Simple: 3400, LL: 600 * ns}, // [hw]\n}}", []string{"x.go:3:19: Simple 3400 has no unit"}},
		{"a unit that is none", "var t = []T{{\n\tWire: 450 * many, // [hw]\n}}", []string{"x.go:3:8: Wire 450 has no unit"}},
		{"a variable without source", "var t = []string{\n\t\"NCCL_BUFFSIZE=8\",\n\t\"NCCL_ALGO=Ring\", // [hw]\n}", []string{"x.go:3:2: \"NCCL_BUFFSIZE=8\" has no source"}},
		{"a constant", "const c = 5 * us", []string{"x.go:2:11: 5 has no source"}},
		{"a unit's own name", "const us = shaping.Microsecond", nil},
		{"a bare number returned", "func e() int { return 950 }", []string{"x.go:2:23: 950 has no source"}},
		{"a number returned, with its source", "// e is measured [cal].\nfunc e() int { return 950 }", nil},
		{"arithmetic in a function is no figure", "func e(n int) int { return n / 1000 }", nil},
	} {
		s := parse(t, "x.go", "package x\n"+tc.text+"\n")
		s.check(tags)
		ok := len(s.found) == len(tc.want)
		for i := range min(len(s.found), len(tc.want)) {
			ok = ok && strings.HasPrefix(s.found[i], tc.want[i])
		}
		if !ok {
			t.Errorf("%s: found %q, want %q", tc.name, s.found, tc.want)
		}
	}
}
