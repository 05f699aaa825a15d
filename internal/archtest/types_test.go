package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// typed is a package with types: its own code from source, everything that is
// not ours from the compiler's export data.
type typed struct {
	pkg    *types.Package
	files  []*file
	info   *types.Info
	errors []error
}

// checker type-checks packages of a tree on demand, each once.
type checker struct {
	tree    *tree
	foreign types.Importer
	done    map[string]*typed
}

// types returns the tree's checker, made when the first rule asks for it.
func (t *tree) types() (*checker, error) {
	if t.checker == nil {
		c, err := newChecker(t)
		if err != nil {
			return nil, err
		}
		t.checker = c
	}
	return t.checker, nil
}

// newChecker gets the export data of all that the tree's pure packages import.
func newChecker(t *tree) (*checker, error) {
	outside := map[string]bool{}
	for _, p := range t.packages {
		if r := t.row(p.path); r == nil || r.level != pure {
			continue
		}
		for _, f := range p.code() {
			for _, i := range f.imports() {
				if _, ok := ours(i.path); !ok {
					outside[i.path] = true
				}
			}
		}
	}
	exports, err := exportData(slices.Sorted(maps.Keys(outside)))
	if err != nil {
		return nil, err
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data for %s", path)
		}
		return os.Open(exports[path])
	}
	return &checker{
		tree:    t,
		foreign: importer.ForCompiler(t.fset, "gc", lookup),
		done:    map[string]*typed{},
	}, nil
}

var exported sync.Map // import path → file, shared by the self-tests' many small trees

// exportData asks the go command where the compiled packages are. It builds
// what is missing; what does not build is left out and noticed by the checker.
func exportData(paths []string) (map[string]string, error) {
	files := map[string]string{}
	var missing []string
	for _, p := range paths {
		if f, ok := exported.Load(p); ok {
			files[p] = f.(string)
		} else {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return files, nil
	}
	args := append([]string{"list", "-e", "-export", "-f", "{{.ImportPath}}\t{{.Export}}", "--"}, missing...)
	cmd := exec.Command("go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w\n%s", err, stderr.String())
	}
	for line := range strings.Lines(string(out)) {
		name, f, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[name] = f
		exported.Store(name, f)
	}
	return files, nil
}

// Import makes the checker a types.Importer for the packages it checks.
func (c *checker) Import(importPath string) (*types.Package, error) {
	name, ok := ours(importPath)
	if !ok {
		return c.foreign.Import(importPath)
	}
	p := c.tree.find(name)
	if p == nil {
		return nil, fmt.Errorf("no package %s", name)
	}
	return c.check(p).pkg, nil
}

// check type-checks a package's code as built on this machine. Errors are kept
// with it: a package that does not compile is judged as far as it goes.
func (c *checker) check(p *pkg) *typed {
	if d := c.done[p.path]; d != nil {
		return d
	}
	d := &typed{
		pkg: types.NewPackage(module+"/"+p.path, ""), // what an import cycle sees
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{},
			Defs:  map[*ast.Ident]types.Object{},
			Uses:  map[*ast.Ident]types.Object{},
		},
	}
	c.done[p.path] = d
	var syntax []*ast.File
	for _, f := range p.code() {
		if f.built() {
			d.files = append(d.files, f)
			syntax = append(syntax, f.syntax)
		}
	}
	conf := types.Config{
		Importer: c,
		Error:    func(err error) { d.errors = append(d.errors, err) },
		Sizes:    types.SizesFor("gc", runtime.GOARCH),
	}
	// The error is the first of those that Error has collected.
	d.pkg, _ = conf.Check(module+"/"+p.path, c.tree.fset, syntax, d.info)
	return d
}

// built reports whether a file's name and constraints admit it on this machine.
func (f *file) built() bool {
	ctx := build.Default
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.src)), nil }
	ok, err := ctx.MatchFile(path.Dir(f.path), path.Base(f.path))
	return err == nil && ok
}

// isMap reports whether a value may be a map: by type, or by a type parameter
// whose constraint admits one.
func isMap(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Map:
		return true
	case *types.Interface:
		return slices.ContainsFunc(terms(u), isMap)
	}
	return false
}

// isFloat reports whether a value is a typed float. Untyped constants are not:
// the compiler computes them exactly.
func isFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&(types.IsFloat|types.IsComplex) != 0 && u.Info()&types.IsUntyped == 0
	case *types.Interface:
		return slices.ContainsFunc(terms(u), isFloat)
	}
	return false
}

// terms lists the types of a constraint, embedded ones included.
func terms(i *types.Interface) []types.Type {
	var all []types.Type
	for k := range i.NumEmbeddeds() {
		switch e := i.EmbeddedType(k).(type) {
		case *types.Union:
			for j := range e.Len() {
				all = append(all, e.Term(j).Type())
			}
		default:
			all = append(all, e)
		}
	}
	return all
}

// fromPackage returns the name under which a called function stands in the
// given package, or nothing.
func (d *typed) fromPackage(call *ast.CallExpr, importPath string) string {
	fun := ast.Unparen(call.Fun)
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	obj := d.info.Uses[sel.Sel]
	if obj == nil || obj.Pkg() == nil || obj.Pkg().Path() != importPath {
		return ""
	}
	return obj.Name()
}

// lineOf returns a node's line.
func (t *tree) lineOf(pos token.Pos) int { return t.fset.Position(pos).Line }
