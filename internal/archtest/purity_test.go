package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// pureCode visits the code of every pure package.
func (t *tree) pureCode(visit func(*pkg, *row)) {
	for _, p := range t.packages {
		if r := t.row(p.path); r != nil && r.level == pure {
			visit(p, r)
		}
	}
}

// noConcurrency finds what makes an order depend on a scheduler. The packages
// that do (sync, time, context …) are no matter of syntax: see pureStd.
func noConcurrency(t *tree) []finding {
	var found []finding
	t.pureCode(func(p *pkg, _ *row) {
		for _, f := range p.code() {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if what := concurrent(n); what != "" {
					found = append(found, finding{t.at(n.Pos()), what +
						" below the purity line: let effects leave as values and a host act on them"})
				}
				return true
			})
		}
	})
	return found
}

func concurrent(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "goroutine"
	case *ast.SelectStmt:
		return "select"
	case *ast.ChanType:
		return "channel type"
	case *ast.SendStmt:
		return "send on a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "receive from a channel"
		}
	}
	return ""
}

// compiles checks that the rules below have types to go by.
func compiles(t *tree) []finding {
	return t.pureTypes(func(p *pkg, _ *row, d *typed) []finding {
		if len(d.errors) == 0 {
			return nil
		}
		return []finding{{p.path, fmt.Sprintf("cannot judge what does not compile: %v", d.errors[0])}}
	})
}

func mapsOrdered(t *tree) []finding {
	return t.pureTypes(func(_ *pkg, _ *row, d *typed) []finding { return t.unordered(d) })
}

func noFloats(t *tree) []finding {
	return t.pureTypes(func(_ *pkg, r *row, d *typed) []finding {
		if r.floats != "" {
			return nil
		}
		return t.floats(d)
	})
}

// pureTypes judges every pure package by its types.
func (t *tree) pureTypes(judge func(*pkg, *row, *typed) []finding) []finding {
	c, err := t.types()
	if err != nil {
		return []finding{{".", err.Error()}}
	}
	var found []finding
	t.pureCode(func(p *pkg, r *row) { found = append(found, judge(p, r, c.check(p))...) })
	return found
}

// unordered finds iteration over maps that no comment justifies.
func (t *tree) unordered(d *typed) []finding {
	var found []finding
	for _, f := range d.files {
		excused := t.orderComments(f)
		sorted := d.sortedCalls(f)
		report := func(pos token.Pos, what string) {
			if !excused[t.lineOf(pos)] {
				found = append(found, finding{t.at(pos), what +
					" has no order: iterate over sorted keys, or say on the line why it cannot reach output (// order: …)"})
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.RangeStmt:
				if isMap(d.info.TypeOf(n.X)) {
					report(n.Pos(), "range over a map")
				}
			case *ast.CallExpr:
				switch name := d.fromPackage(n, "maps"); name {
				case "All", "Keys", "Values":
					if !sorted[n] {
						report(n.Pos(), "maps."+name)
					}
				}
			}
			return true
		})
	}
	return found
}

// sortedCalls returns the calls that are arguments of slices.Sorted and its
// relatives, which restore an order at once.
func (d *typed) sortedCalls(f *file) map[*ast.CallExpr]bool {
	sorted := map[*ast.CallExpr]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !strings.HasPrefix(d.fromPackage(call, "slices"), "Sorted") {
			return true
		}
		for _, arg := range call.Args {
			if inner, ok := arg.(*ast.CallExpr); ok {
				sorted[inner] = true
			}
		}
		return true
	})
	return sorted
}

// orderComments returns the lines that an "order:" comment with a reason
// excuses: its own last line, and the next one when it stands alone above it.
func (t *tree) orderComments(f *file) map[int]bool {
	lines := map[int]bool{}
	for _, group := range f.syntax.Comments {
		if reason, ok := strings.CutPrefix(group.Text(), "order:"); ok && strings.TrimSpace(reason) != "" {
			lines[t.lineOf(group.Pos())] = true
			lines[t.lineOf(group.End())+1] = true
		}
	}
	return lines
}

// floats finds typed floats, one finding a line: two processors may round them
// differently, and then the same run has two timelines.
func (t *tree) floats(d *typed) []finding {
	at := map[string]token.Pos{}
	note := func(pos token.Pos) {
		if !pos.IsValid() {
			return // go/types makes up expressions for type parameters; their parts are noted
		}
		if where := t.at(pos); at[where] == 0 || pos < at[where] {
			at[where] = pos
		}
	}
	for e, tv := range d.info.Types {
		if isFloat(tv.Type) {
			note(e.Pos())
		}
	}
	for id, obj := range d.info.Defs {
		if obj != nil && isFloat(obj.Type()) {
			note(id.Pos())
		}
	}
	var found []finding
	for where, pos := range at {
		if !t.generatedAt(pos, d) {
			found = append(found, finding{where, "float where instants are decided: use integers " +
				"(shaping.Rate, shaping.Duration), or give the package's row a reason"})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return cmp.Compare(at[a.where], at[b.where]) })
	return found
}

func (t *tree) generatedAt(pos token.Pos, d *typed) bool {
	return slices.ContainsFunc(d.files, func(f *file) bool {
		return f.generated && f.syntax.FileStart <= pos && pos < f.syntax.FileEnd
	})
}
