package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	fileWall     = 500 // lines
	fileQuestion = 300
	funcWall     = 70
)

// handwritten visits every Go file that people maintain.
func (t *tree) handwritten(visit func(*pkg, *file)) {
	for _, p := range t.packages {
		for _, f := range p.files {
			if !f.generated {
				visit(p, f)
			}
		}
	}
}

func (f *file) lines() int { return bytes.Count(f.src, []byte("\n")) }

func fileSizes(t *tree) []finding {
	var found []finding
	t.handwritten(func(_ *pkg, f *file) {
		if n := f.lines(); n > fileWall {
			found = append(found, finding{f.path, fmt.Sprintf("%d lines; the wall is at %d: it holds two things, part them", n, fileWall)})
		}
	})
	return found
}

func funcSizes(t *tree) []finding {
	var found []finding
	t.handwritten(func(_ *pkg, f *file) {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name := ""
			switch n := n.(type) {
			case *ast.FuncDecl:
				name = n.Name.Name
			case *ast.FuncLit:
				name = "function literal"
			default:
				return true
			}
			if lines := t.lineOf(n.End()) - t.lineOf(n.Pos()) + 1; lines > funcWall {
				found = append(found, finding{t.at(n.Pos()), fmt.Sprintf("%s has %d lines; the wall is at %d: name its parts", name, lines, funcWall)})
			}
			return true
		})
	})
	return found
}

// packageDocs asks for exactly one package comment: the map has one place. A
// package of tests alone has it in one of them; generated files may add theirs.
func packageDocs(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		files := p.code()
		if len(files) == 0 {
			files = slices.DeleteFunc(p.tests(), func(f *file) bool { return f.external })
		}
		if len(files) == 0 {
			files = p.tests()
		}
		var hand, generated []string
		for _, f := range files {
			switch {
			case f.syntax.Doc == nil:
			case f.generated:
				generated = append(generated, f.path)
			default:
				hand = append(hand, f.path)
			}
		}
		switch {
		case len(hand) > 1:
			found = append(found, finding{p.path, "has package comments in " + list(hand) + ": keep one, in doc.go"})
		case len(hand)+len(generated) == 0:
			found = append(found, finding{p.path, "has no package comment: write its map in doc.go " +
				"(what is here, what is not, who may import it)"})
		}
	}
	return found
}

func noInit(t *tree) []finding {
	var found []finding
	t.handwritten(func(_ *pkg, f *file) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, finding{t.at(fn.Pos()), "init function: make the registry a table literal, or have main call it"})
			}
		}
	})
	return found
}

// noStdout keeps results in the hands of whoever prints them.
func noStdout(t *tree) []finding {
	var found []finding
	t.handwritten(func(p *pkg, f *file) {
		if r := t.row(p.path); f.test || r == nil || r.stdout {
			return
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if what := toStdout(n); what != "" {
				found = append(found, finding{t.at(n.Pos()), what + ": stdout carries results only, and internal/cli alone prints them; " +
					"write to an io.Writer that is passed in"})
			}
			return true
		})
	})
	return found
}

func toStdout(n ast.Node) string {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if !ok {
			return ""
		}
		switch name := x.Name + "." + n.Sel.Name; name {
		case "fmt.Print", "fmt.Printf", "fmt.Println", "os.Stdout":
			return name
		}
	case *ast.CallExpr:
		if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "print" || id.Name == "println") {
			return id.Name
		}
	}
	return ""
}

var (
	mark = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	// The leading class keeps URLs and relative paths out.
	machinePath = regexp.MustCompile(`(?m)(?:^|[^\w.})-])/(?:work|root|home|Users)/`)
)

// noMarks finds marks of unfinished work. An issue is where such a thing is
// found again; a comment is where it is forgotten.
func noMarks(t *tree) []finding {
	var found []finding
	t.handwritten(func(_ *pkg, f *file) {
		for _, group := range f.syntax.Comments {
			for _, c := range group.List {
				if m := mark.FindString(c.Text); m != "" {
					found = append(found, finding{t.at(c.Pos()), m + " left behind: do it, or open an issue"})
				}
			}
		}
	})
	for _, x := range t.texts {
		if markable(x.path) {
			found = append(found, matches(x, mark, "%s left behind: do it, or open an issue")...)
		}
	}
	return found
}

// markable tells files that are comments and commands from prose, which may
// speak of such marks, and from test data.
func markable(name string) bool {
	if strings.Contains(name, "testdata/") {
		return false
	}
	return slices.Contains([]string{".proto", ".sh", ".yaml", ".yml"}, path.Ext(name)) ||
		slices.Contains([]string{"Makefile", "Dockerfile", ".ci/run"}, name) || path.Base(name) == "Dockerfile"
}

// noMachinePaths finds directories that exist on one developer's machine only.
func noMachinePaths(t *tree) []finding {
	var found []finding
	for _, x := range t.texts {
		found = append(found, matches(x, machinePath, "%s is a path of somebody's machine: make it relative")...)
	}
	return found
}

// matches reports every line of a text on which a pattern occurs.
func matches(x text, pattern *regexp.Regexp, what string) []finding {
	var found []finding
	n := 0
	for line := range bytes.Lines(x.src) {
		n++
		if m := pattern.Find(bytes.TrimRight(line, "\n")); m != nil {
			found = append(found, finding{fmt.Sprintf("%s:%d", x.path, n), fmt.Sprintf(what, strings.TrimSpace(string(m)))})
		}
	}
	return found
}
