package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// importsKeepTable checks what the code of each package imports.
func importsKeepTable(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		r := t.row(p.path)
		if r == nil {
			found = append(found, finding{p.path, "package has no row in the import table: " +
				"add a row with a reason to internal/archtest/table_test.go"})
			continue
		}
		for _, f := range p.code() {
			for _, i := range f.imports() {
				if why := r.refuses(i.path); why != "" {
					found = append(found, finding{t.at(i.pos), why})
				}
			}
		}
	}
	return found
}

// refuses says why a package may not import a path, or nothing.
func (r *row) refuses(path string) string {
	if path == "C" {
		return "imports C: binaries are static, no cgo"
	}
	if name, ok := ours(path); ok {
		if !slices.Contains(r.imports, name) {
			return fmt.Sprintf("%s may not import %s; allowed are %s (%s)", r.path, name, list(r.imports), r.reason)
		}
		return ""
	}
	if standard(path) {
		if r.level == pure && !slices.Contains(pureStd, path) && !slices.Contains(r.std, path) {
			return fmt.Sprintf("%s is below the purity line and may not import %q: "+
				"pass in what it needs as a value, or do it in a host", r.path, path)
		}
		return ""
	}
	if !within(path, r.modules) {
		return fmt.Sprintf("%s may not import %s; of other people's modules it may use %s", r.path, path, list(r.modules))
	}
	return ""
}

// testsKeepLevel checks what tests import: of ours what their level allows, and
// of other people's modules what their package may use, or a test library.
func testsKeepLevel(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		r := t.row(p.path)
		if r == nil {
			continue // importsKeepTable says so
		}
		for _, f := range p.tests() {
			for _, i := range f.imports() {
				if why := t.refusesTest(r, i.path); why != "" {
					found = append(found, finding{t.at(i.pos), why})
				}
			}
		}
	}
	return found
}

func (t *tree) refusesTest(r *row, path string) string {
	if name, ok := ours(path); ok {
		if to := t.row(name); to != nil && to.level > r.level && to.level != support {
			return fmt.Sprintf("a test of %s may not import %s, which lies above it: move the test there", r.path, name)
		}
		return ""
	}
	if standard(path) || within(path, r.modules) || within(path, testModules) || r.level == support {
		return ""
	}
	return fmt.Sprintf("a test of %s may not import %s; allowed are %s",
		r.path, path, list(append(slices.Clone(r.modules), testModules...)))
}

// neverReached follows imports to the packages that a row rules out for good.
func neverReached(t *tree) []finding {
	var found []finding
	for _, r := range t.table {
		for _, target := range r.never {
			if chain := t.chain(r.path, target, map[string]bool{}); chain != nil {
				found = append(found, finding{r.path, fmt.Sprintf("reaches %s: %s (%s)",
					target, strings.Join(chain, " → "), r.reason)})
			}
		}
	}
	return found
}

// chain returns a way from a package to another along imports of code.
func (t *tree) chain(from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	p := t.find(from)
	if p == nil || seen[from] {
		return nil
	}
	seen[from] = true
	for _, f := range p.code() {
		for _, i := range f.imports() {
			name, ok := ours(i.path)
			if !ok {
				continue
			}
			if rest := t.chain(name, to, seen); rest != nil {
				return append([]string{from}, rest...)
			}
		}
	}
	return nil
}

// tableOrdered checks the table itself: a row imports rows above it, of no
// higher level, names what exists, says why, and does not contradict itself.
func tableOrdered(t *tree) []finding {
	var found []finding
	above := map[string]level{}
	for _, r := range t.table {
		if _, twice := above[r.path]; twice {
			found = append(found, finding{r.path, "has two rows"})
		}
		if r.reason == "" {
			found = append(found, finding{r.path, "has no reason"})
		}
		for _, name := range r.imports {
			l, ok := above[name]
			if !ok {
				found = append(found, finding{r.path, name + " does not stand above it in the table"})
			}
			if l > r.level || l == support && r.level != support {
				found = append(found, finding{r.path, name + " lies above it: imports point the other way"})
			}
			if slices.Contains(r.never, name) {
				found = append(found, finding{r.path, name + " is both allowed and ruled out"})
			}
		}
		above[r.path] = r.level
	}
	for _, r := range t.table {
		for _, name := range r.never {
			if _, ok := above[name]; !ok {
				found = append(found, finding{r.path, name + " is ruled out but has no row: the rule would hold for ever"})
			}
		}
	}
	return found
}

// tableUsed finds permissions that no file needs: what is not asked for should
// not be there to be taken. Tests need a row's word for modules alone.
func tableUsed(t *tree) []finding {
	var found []finding
	for _, r := range t.table {
		p := t.find(r.path)
		if p == nil {
			continue // a row may come before its package
		}
		code, all := pathsOf(p.code()), pathsOf(slices.Concat(p.code(), p.tests()))
		for _, name := range r.imports {
			if !slices.Contains(code, module+"/"+name) {
				found = append(found, finding{r.path, "may import " + name + " and does not: take it out of its row"})
			}
		}
		for _, m := range r.modules {
			if !slices.ContainsFunc(all, func(path string) bool { return within(path, []string{m}) }) {
				found = append(found, finding{r.path, "may use " + m + " and does not: take it out of its row"})
			}
		}
		for _, path := range r.std {
			if !slices.Contains(code, path) {
				found = append(found, finding{r.path, fmt.Sprintf("may import %q and does not: take it out of its row", path)})
			}
		}
	}
	return found
}

// pathsOf returns the paths that files import.
func pathsOf(files []*file) (paths []string) {
	for _, f := range files {
		for _, i := range f.imports() {
			paths = append(paths, i.path)
		}
	}
	return paths
}

// standard reports whether a path belongs to the standard library, by the go
// command's own rule: other people's first element has a dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func within(path string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return path == m || strings.HasPrefix(path, m+"/")
	})
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
