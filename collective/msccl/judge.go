package msccl

import (
	"fmt"
	"strings"

	"github.com/railyard/railyard/collective"
)

// Verdict is what a proof says of a file in one layout of the buffers.
type Verdict struct {
	InPlace bool
	Root    int // of a rooted operation
	collective.Judgement
	// Text says it in words and in the file's own numbers, with lines.
	Text string
}

// Right reports whether the result is right.
func (v *Verdict) Right() bool { return v.Err == nil }

// Word returns the verdict in a word or two: "ok", "completes" for an operation
// that promises nothing, else the problem.
func (v *Verdict) Word(op collective.Op) string {
	switch {
	case v.Err != nil:
		return v.Err.Problem.String()
	case op == collective.Custom:
		return "completes"
	}
	return "ok"
}

// Judge proves the file in every layout it is meant for. If it names none, the
// layouts in which it is right count, or all when it is right in none.
func (f *File) Judge(root int) ([]Verdict, error) {
	p, err := f.Plan(root)
	if err != nil {
		return nil, err
	}
	var all, right []Verdict
	for _, inPlace := range f.Layouts() {
		v := Verdict{InPlace: inPlace, Root: p.Root, Judgement: collective.Judge(p, inPlace)}
		v.Text = f.text(&v)
		all = append(all, v)
		if v.Right() {
			right = append(right, v)
		}
	}
	if f.Unstated && len(right) > 0 {
		return right, nil
	}
	return all, nil
}

// Meant returns the layouts to run the file in: those it names or, if it names
// none, those in which it is right.
func (f *File) Meant() []bool {
	if !f.Unstated {
		return f.Layouts()
	}
	all, err := f.Judge(AnyRoot)
	if err != nil {
		return f.Layouts()
	}
	var in []bool
	for i := range all {
		in = append(in, all[i].InPlace)
	}
	return in
}

// text puts a verdict into words.
func (f *File) text(v *Verdict) string {
	var b strings.Builder
	b.WriteString(Layout(v.InPlace) + ": " + v.Word(f.Op))
	if e := v.Err; e != nil {
		fmt.Fprintf(&b, ": %s%s: %s", e.Place, f.where(e.Place), e.Detail)
		if n := len(e.Stuck); n > 0 {
			fmt.Fprintf(&b, "; in all %s, the first %s%s", verbed(n, "block is stuck", "blocks are stuck"), e.Stuck[0], f.where(e.Stuck[0]))
		}
		if e.Problem == collective.Deadlock {
			if why := f.inVain(e.Place); why != "" {
				b.WriteString("; " + why)
			}
		}
		if v.Wrong > 0 {
			fmt.Fprintf(&b, "; in all %s", verbed(v.Wrong, "chunk is wrong", "chunks are wrong"))
		}
	}
	if v.Races > 0 {
		fmt.Fprintf(&b, "; but for %s the order is left to chance, first %s%s: %s", plural(v.Races, "use")+" of a chunk", v.Race.Place, f.where(v.Race.Place), v.Race.Detail)
	}
	if v.Unseen > 0 {
		fmt.Fprintf(&b, "; %d more pairs of uses are too many to be looked at", v.Unseen)
	}
	return b.String()
}

// where returns the line of a place, for a text.
func (f *File) where(at collective.Place) string {
	if line := f.Line(at); line > 0 {
		return fmt.Sprintf(" (line %d)", line)
	}
	return ""
}

// Layout names a layout of the buffers.
func Layout(inPlace bool) string {
	if inPlace {
		return "in place"
	}
	return "out of place"
}

func verbed(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
