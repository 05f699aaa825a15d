package simtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/shaping"
)

// Cover counts what a number of played scenarios had in them, so that it can be seen
// whether they cover the space.
type Cover struct {
	Cases, Batches, Failed, Retries, Shrinks, Failovers int
	Redone, Repeated                                    shaping.Bytes
	Frames                                              uint64
	// By word: types of faults, how often each was drawn and struck; policies; causes
	// and hangs of attempts; verdicts of runs; algorithms; when faults strike.
	Words map[string]map[string]int
}

func (c *Cover) word(group, word string) {
	if c.Words == nil {
		c.Words = map[string]map[string]int{}
	}
	if c.Words[group] == nil {
		c.Words[group] = map[string]int{}
	}
	c.Words[group][word]++
}

// Add counts a scenario that was drawn, and what came of it.
func (c *Cover) Add(s *emu.Scenario, p *Played) {
	c.Cases++
	c.Batches += len(p.Batches)
	c.Failovers += p.Failovers
	c.Frames += p.Frames
	for i := range s.Faults {
		c.fault(&s.Faults[i])
	}
	for i := range p.Batches {
		c.Redone += p.Batches[i].Redone
		if p.Batches[i].Failure != nil {
			c.Failed++
		}
	}
	for i := range p.Report.Runs {
		c.run(&p.Report.Runs[i], &s.Phases[i])
	}
}

func (c *Cover) fault(f *emu.Fault) {
	c.word("fault", f.Type)
	c.word("target", className(f.Target))
	w := &f.When
	switch {
	case w.Step != nil:
		c.word("when", "at a step")
	case w.AfterOps > 0:
		c.word("when", "after operations")
	case w.At == 0:
		c.word("when", "at the start")
	default:
		c.word("when", "at an instant")
	}
	if w.Every > 0 {
		c.word("when", "every")
	}
	if w.Chance > 0 {
		c.word("when", "by chance")
	}
}

// className returns what kind of name a target is.
func className(target string) string {
	if strings.Contains(target, "|") {
		return "sides"
	}
	for _, c := range []string{"link:", "random", "group", "rail", "gpu", "nvswitch", "nic", "node"} {
		rest, ok := strings.CutPrefix(target[strings.LastIndex(target, "/")+1:], c)
		if c == "link:" || c == "random" {
			rest, ok = "", strings.HasPrefix(target, c)
		}
		if ok && strings.Trim(rest, "0123456789") == "" {
			return strings.TrimSuffix(c, ":")
		}
	}
	if target == "" {
		return "none"
	}
	return "switch"
}

func (c *Cover) run(r *experiment.Run, p *emu.Phase) {
	c.word("policy", string(p.OnFailure))
	c.word("verdict", string(r.Verdict))
	c.Repeated += r.Repeated
	for i := range r.Calls {
		c.word("algorithm", r.Calls[i].Algorithm)
	}
	for k, a := range r.Attempts {
		if f := a.Failure; f != nil {
			c.word("cause", string(f.Cause))
			if f.Hang != "" {
				c.word("hang", string(f.Hang))
			}
		}
		if k > 0 && p.OnFailure == emu.Shrink {
			c.Shrinks++
		} else if k > 0 {
			c.Retries++
		}
	}
}

// Missing lists what was never drawn, or never came about, of what must.
func (c *Cover) Missing() []string {
	var missing []string
	need := func(group string, words ...string) {
		for _, w := range words {
			if c.Words[group][w] == 0 {
				missing = append(missing, group+" "+w)
			}
		}
	}
	for _, k := range Drawable() {
		need("fault", k.Word)
	}
	need("target", "node", "gpu", "nic", "nvswitch", "rail", "group", "sides", "switch", "link", "random")
	need("when", "at a step", "after operations", "at the start", "at an instant", "every", "by chance")
	for _, p := range emu.Policies() {
		need("policy", string(p))
	}
	need("verdict", string(experiment.Done), string(experiment.Wrong), string(experiment.Failed))
	need("cause", string(emu.PeerLost), string(emu.LinkDown), string(emu.Timeout), string(emu.Mismatch))
	need("hang", string(emu.MissingEnter), string(emu.MissingExit), string(emu.SignatureMismatch))
	for _, n := range []struct {
		what string
		n    int
	}{{"failed batches", c.Failed}, {"retries", c.Retries}, {"shrinks", c.Shrinks}, {"failovers", c.Failovers}, {"bytes sent again", int(c.Redone)}, {"bytes of operations begun again", int(c.Repeated)}} {
		if n.n == 0 {
			missing = append(missing, n.what)
		}
	}
	return missing
}

// String prints the counts, a group a line.
func (c *Cover) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d cases: %d batches, %d failed; %d retries, %d shrinks, %d failovers; %v sent again, %v of operations begun again; %d frames crossed\n",
		c.Cases, c.Batches, c.Failed, c.Retries, c.Shrinks, c.Failovers, c.Redone, c.Repeated, c.Frames)
	for _, group := range slices.Sorted(maps.Keys(c.Words)) {
		fmt.Fprintf(&b, "  %s:", group)
		for _, w := range slices.Sorted(maps.Keys(c.Words[group])) {
			fmt.Fprintf(&b, " %s %d", w, c.Words[group][w])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
