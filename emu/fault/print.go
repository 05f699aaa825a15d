package fault

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Text prints a schedule for people: part by part, what becomes of it and when.
func (s *Schedule) Text(f *fabric.Fabric) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(s.ports)) {
		s.ports[id].text(&b, f.PortName(id), func(o State) string { return o.Of(f.Port(id).Rate).String() })
	}
	for _, gpu := range slices.Sorted(maps.Keys(s.gpus)) {
		s.gpus[gpu].text(&b, gpuName(f, gpu)+" engines", func(o State) string { return percentOf(o.Share, Whole) })
	}
	for _, node := range slices.Sorted(maps.Keys(s.dead)) {
		fmt.Fprintf(&b, "node%d: killed at %v\n", node, s.dead[node])
	}
	for _, p := range s.stops {
		fmt.Fprintf(&b, "%s: %s at %v%s\n", gpuName(f, p.GPU), [...]string{"killed", "lost", "hung", "paused"}[p.How], p.At, until(p.Until))
	}
	for _, c := range s.calls {
		fmt.Fprintf(&b, "%s: in op %d it %s\n", gpuName(f, c.GPU), c.Op, c.text())
	}
	for _, x := range s.flips {
		at := gpuName(f, x.GPU)
		if x.GPU < 0 {
			at = f.PortName(x.Port)
		}
		fmt.Fprintf(&b, "%s: a bit flips at %v (element %s, bit %s)\n", at, x.At, orDrawn(x.Element), orDrawn(int64(x.Bit)))
	}
	for _, c := range s.cuts {
		fmt.Fprintf(&b, "nodes apart from %v%s: sides %v\n", c.from, until(c.to), c.side)
	}
	for _, w := range s.walls {
		fmt.Fprintf(&b, "coordinator: killed at %v\n", w.At)
	}
	for _, i := range s.waiting {
		fmt.Fprintf(&b, "faults[%d] waits for a rehearsal to find its instant\n", i)
	}
	return b.String()
}

func gpuName(f *fabric.Fabric, gpu int) string {
	if gpu < 0 {
		return ""
	}
	return fmt.Sprintf("node%d/gpu%d", f.NodeOf(gpu), f.Local(gpu))
}

func until(t shaping.Time) string {
	if t == shaping.Never {
		return ""
	}
	return " until " + t.String()
}

func orDrawn(n int64) string {
	if n < 0 {
		return "drawn"
	}
	return fmt.Sprint(n)
}

func (c *Call) text() string {
	switch c.Wrong {
	case Skips:
		return "does not call"
	case Late:
		return "calls " + c.Delay.String() + " late"
	case Retype:
		return "calls with " + c.Says
	case Swaps:
		return "calls the next operation first"
	}
	if c.Count < 0 {
		return "calls with one element more"
	}
	return fmt.Sprintf("calls with %d elements", c.Count)
}

func (l *Line) text(b *strings.Builder, name string, share func(State) string) {
	fmt.Fprintf(b, "%s:", name)
	for i, at := range l.Changes() {
		if i > 0 {
			b.WriteByte(',')
		}
		s, _ := l.At(at)
		fmt.Fprintf(b, " at %v %s", at, s.text(share))
	}
	b.WriteByte('\n')
}

func (s State) text(share func(State) string) string {
	if s == Sound {
		return "sound"
	}
	var all []string
	if s.Down {
		all = append(all, "down")
	}
	if s.Share != Whole {
		all = append(all, share(s))
	}
	if s.Extra > 0 {
		all = append(all, "+"+s.Extra.String())
	}
	if s.Jitter > 0 {
		all = append(all, "+0 to "+s.Jitter.String())
	}
	if s.Loss > 0 {
		all = append(all, "loses "+percentOf(s.Loss, Certain))
	}
	if s.Corrupt > 0 {
		all = append(all, "damages "+percentOf(s.Corrupt, Certain))
	}
	return strings.Join(all, " ")
}
