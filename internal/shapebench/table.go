package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// kind says when a promise counts.
type kind int

const (
	timing kind = iota // on an idle host
	rate               // on one that does nothing else, idle or beside a process of our own that is busy
	always             // whatever the host does
	report             // never: a figure to compare others with
)

// line is one figure.
type line struct {
	what, got, promise string
	kind               kind
	kept               bool
}

// round is what was measured in one state of the host.
type round struct {
	title string
	lines []line
}

func (r *round) add(l line) { r.lines = append(r.lines, l) }

// broken counts the promises of a kind that were not kept.
func (r *round) broken(k kind) (n int) {
	for _, l := range r.lines {
		if l.kind == k && !l.kept {
			n++
		}
	}
	return n
}

// write prints the round. Of promises that are not judged in it, it says nothing.
func (r *round) write(w io.Writer, judged ...kind) {
	fmt.Fprintf(w, "\n%s\n", r.title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHAT\tMEASURED\tPROMISED\t")
	for _, l := range r.lines {
		verdict := ""
		switch {
		case !slices.Contains(judged, l.kind):
		case l.kept:
			verdict = "kept"
		default:
			verdict = "BROKEN"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", l.what, l.got, l.promise, verdict)
	}
	_ = t.Flush() // w keeps its own error
}
