package cli

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/catalog"
)

// figure is a figure of the catalog as its table has it.
type figure struct {
	Name   string `json:"name"`             // NVLink.Wire
	Value  string `json:"value"`            // with its unit
	Source string `json:"source,omitempty"` // what stands behind it
}

// tables are the catalog's tables, parsed: figures and their sources stand on
// the same lines, and only there.
type tables struct {
	set      *token.FileSet
	values   map[string]ast.Expr // of package variables
	comments map[string]string   // file:line → comment
	sources  []string            // tags and what they mean
}

func readTables() (*tables, error) {
	t := &tables{set: token.NewFileSet(), values: map[string]ast.Expr{}, comments: map[string]string{}}
	names, err := fs.Glob(catalog.Text, "*.go")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := catalog.Text.ReadFile(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(t.set, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		t.add(f)
	}
	return t, nil
}

func (t *tables) add(f *ast.File) {
	for _, g := range f.Comments {
		for _, c := range g.List {
			t.comments[t.line(c)] = strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
		}
	}
	for line := range strings.Lines(f.Doc.Text()) {
		text, n := strings.TrimSpace(line), len(t.sources)
		switch {
		case strings.HasPrefix(text, "["):
			t.sources = append(t.sources, text)
		case n > 0 && text != "" && line != strings.TrimLeft(line, " \t"): // goes on
			t.sources[n-1] += " " + text
		}
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				t.values[v.Names[0].Name] = v.Values[0]
			}
		}
	}
}

func (t *tables) line(n ast.Node) string {
	p := t.set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// system returns the figures of a system in the order of its table.
func (t *tables) system(name string) []figure {
	for _, v := range t.values {
		list, ok := v.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for _, e := range list.Elts {
			var all []figure
			t.walk(e, "", &all)
			if len(all) > 0 && all[0] == (figure{Name: "Name", Value: name, Source: all[0].Source}) {
				return all
			}
		}
	}
	return nil
}

// walk appends the figures of a literal, those of the variables it names too.
func (t *tables) walk(e ast.Expr, prefix string, all *[]figure) {
	if id, ok := e.(*ast.Ident); ok && t.values[id.Name] != nil {
		e = t.values[id.Name]
	}
	list, ok := e.(*ast.CompositeLit)
	if !ok {
		if value := t.value(e); value != "" {
			*all = append(*all, figure{prefix, value + thousandths(prefix), t.comments[t.line(e)]})
		}
		return
	}
	for _, elt := range list.Elts {
		if lit, ok := elt.(*ast.BasicLit); ok && prefix != "" {
			t.walk(lit, prefix, all) // of a list: a variable that the environment sets
		}
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			t.walk(kv.Value, strings.TrimPrefix(prefix+"."+kv.Key.(*ast.Ident).Name, "."), all)
		}
	}
}

// thousandths returns the unit of a share.
func thousandths(name string) string {
	if strings.HasSuffix(name, "Usable") {
		return " ‰"
	}
	return ""
}

var unitWords = strings.NewReplacer("shaping.GBps", "GB/s", "shaping.MBps", "MB/s", "us", "µs", "machine.", "", "*", "", "_", "")

// value prints an expression of a table: "450 GB/s", "Intel", "8".
func (t *tables) value(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
		return unitWords.Replace(e.Value)
	case *ast.BinaryExpr:
		if e.Op == token.ADD {
			return t.value(e.X) + t.value(e.Y)
		}
		return t.value(e.X) + " " + t.value(e.Y)
	case *ast.SelectorExpr:
		return unitWords.Replace(t.value(e.X) + "." + e.Sel.Name)
	case *ast.Ident:
		if known := t.values[e.Name]; known != nil && !unitName.MatchString(e.Name) {
			return t.value(known)
		}
		return unitWords.Replace(e.Name)
	}
	return ""
}

var unitName = regexp.MustCompile(`^(ns|us|shaping|machine)$`)
