package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/railyard/railyard"

// tree is a module as the rules see it.
type tree struct {
	fset     *token.FileSet
	table    []row
	packages []*pkg
	texts    []text
	checker  *checker // see types
}

// pkg is one directory of Go files. Its path is relative to the module.
type pkg struct {
	path  string
	files []*file
}

type file struct {
	path      string
	src       []byte
	syntax    *ast.File
	test      bool // ends in _test.go
	external  bool // belongs to package x_test
	generated bool
}

// text is any file that is not binary, Go included.
type text struct {
	path string
	src  []byte
}

// finding is a place where a rule is broken.
type finding struct {
	where string
	what  string
}

func (f finding) String() string { return f.where + ": " + f.what }

// rule judges a tree.
type rule func(*tree) []finding

var (
	// goSkip are directories whose Go files belong to no package of ours.
	goSkip = []string{"testdata", "vendor"}
	// textSkip are directories that hold what the program makes, see .gitignore.
	textSkip = []string{"bin", "store"}
	// dotted are ours although a dot begins their name; all others belong to
	// git, editors and tools.
	dotted = []string{".ci", ".github"}
)

// load reads a module and parses all Go files, whatever their build tags.
func load(fsys fs.FS, table []row) (*tree, error) {
	t := &tree{fset: token.NewFileSet(), table: table}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if foreign(name, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || name == ".git" {
			return nil // a checkout of git worktree has a file of that name
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return t.add(name, src)
	})
	return t, err
}

// foreign reports whether a directory holds nothing of the project.
func foreign(name, base string) bool {
	if name != "." && strings.HasPrefix(base, ".") {
		return !slices.Contains(dotted, name)
	}
	return slices.Contains(textSkip, name)
}

func (t *tree) add(name string, src []byte) error {
	if bytes.IndexByte(src[:min(len(src), 8<<10)], 0) >= 0 {
		return nil // binary
	}
	t.texts = append(t.texts, text{name, src})
	if !strings.HasSuffix(name, ".go") || inGoSkip(name) {
		return nil
	}
	syntax, err := parser.ParseFile(t.fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("cannot judge what does not parse: %w", err)
	}
	p := t.dir(path.Dir(name))
	p.files = append(p.files, &file{
		path:      name,
		src:       src,
		syntax:    syntax,
		test:      strings.HasSuffix(name, "_test.go"),
		external:  strings.HasSuffix(syntax.Name.Name, "_test"),
		generated: ast.IsGenerated(syntax),
	})
	return nil
}

func inGoSkip(name string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool {
		return slices.Contains(goSkip, dir)
	})
}

// dir returns the package of a directory. WalkDir goes in lexical order, in
// which a directory's files may lie on both sides of its subdirectories.
func (t *tree) dir(name string) *pkg {
	if p := t.find(name); p != nil {
		return p
	}
	p := &pkg{path: name}
	t.packages = append(t.packages, p)
	return p
}

func (t *tree) find(name string) *pkg {
	for _, p := range t.packages {
		if p.path == name {
			return p
		}
	}
	return nil
}

// row returns the table's row for a package, or nil.
func (t *tree) row(name string) *row {
	for i := range t.table {
		if t.table[i].path == name {
			return &t.table[i]
		}
	}
	return nil
}

func (t *tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// imported is one import of a file.
type imported struct {
	path string
	pos  token.Pos
}

func (f *file) imports() []imported {
	var all []imported
	for _, s := range f.syntax.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			panic(fmt.Sprintf("archtest: the parser let %s pass", s.Path.Value))
		}
		all = append(all, imported{p, s.Pos()})
	}
	return all
}

// code returns the files that are no tests.
func (p *pkg) code() []*file {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *file) bool { return f.test })
}

// tests returns the files that are.
func (p *pkg) tests() []*file {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *file) bool { return !f.test })
}

// ours strips the module from an import path.
func ours(importPath string) (string, bool) {
	return strings.CutPrefix(importPath, module+"/")
}
