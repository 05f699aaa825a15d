package cli

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress says on stderr how far a run is: a bar with the time left on a
// terminal, a line for each step elsewhere, nothing when quiet.
type progress struct {
	w     io.Writer
	quiet bool
	bar   *progressbar.ProgressBar // nil when not on a terminal
	last  string                   // the line printed last
}

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet}
	if f, ok := file(w); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.bar = newBar(w)
	}
	return p
}

func newBar(w io.Writer) *progressbar.ProgressBar {
	return progressbar.NewOptions(1,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetWidth(24),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)
}

// show says what is being done; total 0 says that nobody knows how much it is.
func (p *progress) show(done, total int, what string) {
	switch {
	case p.quiet:
	case p.bar != nil:
		p.bar.Describe(what)
		if total > 0 {
			p.bar.ChangeMax(total)
		}
		_ = p.bar.Set(min(done, p.bar.GetMax()))
	default:
		p.line(done, total, what)
	}
}

// line prints a step, but not the same twice.
func (p *progress) line(done, total int, what string) {
	s := what
	if total > 0 {
		s = fmt.Sprintf("%d of %d: %s", done, total, what)
	}
	if s != p.last {
		fmt.Fprintf(p.w, "coordinator: %s\n", s)
		p.last = s
	}
}

// clear takes the bar off the screen, so that a row can be printed. The next
// show draws it anew.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
