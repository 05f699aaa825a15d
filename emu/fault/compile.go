package fault

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// Fabric returns the fabric of a cluster that is to bear some faults: fabric.New's,
// with the ports that they strike, and without the GPUDirect that they take. Every
// participant of a session must use it, for the same faults. What is wrong with the
// faults themselves is Compile's to say.
func Fabric(c emu.Cluster, faults []emu.Fault) (*fabric.Fabric, error) {
	var o fabric.Options
	for i := range faults {
		k, err := Lookup(faults[i].Type)
		o.Pools = o.Pools || err == nil && (k.strikes(Switch) || k.strikes(Link)) && !inside(faults[i].Target)
	}
	f, err := fabric.NewWith(c, o)
	if err != nil {
		return nil, err
	}
	all := &compiler{f: f, s: New(c.Seed)}
	for i := range faults {
		k, err := Lookup(faults[i].Type)
		if err != nil || k.Word != gdrLost.Word || faults[i].Off {
			continue
		}
		parts, err := all.resolve(i, faults[i].Target, k)
		for _, p := range parts {
			if err == nil {
				o.NoGDR = append(o.NoGDR, p.node)
			}
		}
	}
	if o.NoGDR == nil {
		return f, nil
	}
	return fabric.NewWith(c, o)
}

// Compile returns what faults do to the parts of a fabric that Fabric made, or all
// that is wrong with them at once, an error a line: which fault, which of its
// fields, its value, what is allowed. Draws depend on seed, the position of the
// fault and nothing else. A fault that repeats without end does so until horizon.
func Compile(f *fabric.Fabric, faults []emu.Fault, seed uint64, horizon shaping.Duration) (*Schedule, error) {
	c := &compiler{f: f, horizon: horizon, outages: map[fabric.PortID][]outage{}, taken: map[fabric.PortID]int{}, s: New(seed)}
	for i := range faults {
		if !faults[i].Off {
			c.strike(i, &faults[i])
		}
	}
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	c.settle()
	return c.s, nil
}

// compiler makes one schedule.
type compiler struct {
	f       *fabric.Fabric
	horizon shaping.Duration
	s       *Schedule
	errs    []error
	outages map[fabric.PortID][]outage
	taken   map[fabric.PortID]int // NVLinks of a port that faults before this one took
	parts   []part                // all there are, once asked for
}

// strike is one fault at work.
type strike struct {
	*compiler
	*emu.Fault
	kind  *Kind
	index int
	hit   []part
	spans []Span
	of    map[fabric.PortID]string // the part for which a port suffers
}

// Name is what reports call a fault: its own name, or its position and type.
func Name(f *emu.Fault, index int) string {
	if f.Name != "" {
		return fmt.Sprintf("faults[%d] (%s)", index, suggest.Clip(f.Name))
	}
	return fmt.Sprintf("faults[%d]", index)
}

// say reports what is wrong with a field of the fault.
func (s *strike) say(field, format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf("%s.%s: %s", Name(s.Fault, s.index), field, fmt.Sprintf(format, args...)))
}

func (c *compiler) strike(i int, f *emu.Fault) {
	own := *f
	s := &strike{compiler: c, Fault: &own, index: i, of: map[fabric.PortID]string{}}
	k, err := Lookup(f.Type)
	if err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s.%w", Name(f, i), err))
		return
	}
	s.kind = k
	if k.fill != nil {
		k.fill(&own)
	}
	before := len(c.errs)
	s.checkParams()
	if s.hit, err = c.resolve(i, f.Target, k); err != nil {
		s.say("target", "%v", err)
	}
	s.checkWhen()
	if len(c.errs) > before {
		return
	}
	if s.waits() {
		c.s.waiting = append(c.s.waiting, i)
		s.rehearse()
		return
	}
	s.spans = s.instants()
	if len(c.errs) == before {
		s.note()
		k.compile(s)
	}
}

// rehearse says what is wrong with a fault whose instant is not known, while whoever
// reads a file still knows its lines: it strikes a schedule that nobody keeps.
func (s *strike) rehearse() {
	all := s.compiler
	s.compiler = &compiler{f: all.f, horizon: all.horizon, parts: all.parts, s: New(all.s.seed),
		outages: map[fabric.PortID][]outage{}, taken: map[fabric.PortID]int{}}
	if s.spans = s.instants(); len(s.errs) == 0 {
		s.kind.compile(s)
	}
	all.errs = append(all.errs, s.errs...)
}

// note keeps when the fault strikes what.
func (s *strike) note() {
	if !s.kind.reads("at") {
		return
	}
	var names []string
	for _, p := range s.hit {
		names = append(names, p.name)
	}
	for _, span := range s.spans {
		s.s.struck = append(s.s.struck, Struck{s.index, span.from, span.to, names})
	}
}

// checkParams reports parameters that the type does not read, that it needs, or
// that are out of any range.
func (s *strike) checkParams() {
	read := map[any]bool{} // fields that the type reads, by address
	ps, needed := s.kind.Params()
	for i, p := range ps {
		read[p.at(s.Fault)] = true
		if why := p.bad(s.Fault); why != "" {
			s.say(p.Word, "%s", why)
		} else if needed[i] && p.text(s.Fault) == "" {
			s.say(p.Word, "is missing: %s", p.Means)
		}
	}
	for i := range params {
		p := &params[i]
		if at := p.at(s.Fault); !read[at] && p.text(s.Fault) != "" {
			read[at] = true // one field, one line
			s.say(p.Word, "%s: %s does not read it; it has %s", p.text(s.Fault), s.kind.Word, s.kind.paramWords())
		}
	}
}

// outage is a span in which some of a port's parallel links are gone.
type outage struct {
	Span
	first, lost, of int
	// replays: the port never drops; with no link left it stands still.
	replays bool
}

// lose takes the links of hits away, in every span of the fault.
func (s *strike) lose(hits []fabric.Hit, replays bool) {
	for _, h := range hits {
		s.blame(h.Port)
	}
	for _, span := range s.spans {
		for _, h := range hits {
			s.outages[h.Port] = append(s.outages[h.Port], outage{span, h.First, h.Lost, h.Of, replays})
		}
	}
}

// suffer gives ports a state, in every span of the fault.
func (s *strike) suffer(hits []fabric.Hit, state func(fabric.Hit) State) {
	for _, h := range hits {
		if st := state(h); st.Loss+st.Corrupt > 0 {
			s.blame(h.Port)
		}
		l := s.s.Touch(h.Port)
		for _, span := range s.spans {
			l.Add(span.from, span.to, state(h))
		}
	}
}

// settle makes lines of outages and brings lists in order.
func (c *compiler) settle() {
	for _, id := range slices.Sorted(maps.Keys(c.outages)) {
		settleOutages(c.s.Touch(id), c.outages[id])
	}
	slices.SortStableFunc(c.s.stops, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.GPU, b.GPU))
	})
	slices.SortStableFunc(c.s.flips, func(a, b Flip) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(c.s.calls, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.GPU, b.GPU))
	})
}

// settleOutages adds to a port's line how many of its links are left between any
// two instants. A link that several faults take is gone once.
func settleOutages(l *Line, all []outage) {
	type turn struct {
		at shaping.Time
		by int
		*outage
	}
	var turns []turn
	for i := range all {
		turns = append(turns, turn{all[i].from, 1, &all[i]}, turn{all[i].to, -1, &all[i]})
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	of := all[0].of
	by, gone := make([]int, of), 0
	for i, t := range turns {
		for k := t.first; k < t.first+t.lost; k++ {
			was := by[k] > 0
			if by[k] += t.by; by[k] > 0 != was {
				gone += t.by
			}
		}
		if i+1 == len(turns) || turns[i+1].at == t.at || gone == 0 {
			continue
		}
		state := State{Share: Whole * int64(of-gone) / int64(of)}
		if gone == of && !t.replays {
			state = State{Share: Whole, Down: true}
		}
		l.Add(t.at, turns[i+1].at, state)
	}
}

// hits returns the ports of what the fault strikes: of a NIC or cable both
// directions; of a switch all that lead to it and, unless into is set, away.
func (s *strike) hits(into bool) []fabric.Hit {
	var all []fabric.Hit
	for _, p := range s.hit {
		if s.Links > 0 && p.class != Link {
			s.say("links", "%d: %s is a %s, and only a link has several", s.Links, p.name, p.class)
		}
		for _, h := range s.portsOf(p) {
			s.belongs(h.Port, p.name)
			if !into || h.Into {
				all = append(all, h)
			}
		}
	}
	return all
}

func (s *strike) portsOf(p part) []fabric.Hit {
	switch p.class {
	case NIC:
		return s.f.NICHits(p.node, p.index)
	case Switch:
		return s.f.SwitchHits(p.plane, p.index)
	case Link:
		cables := s.f.Network().Trunks()[p.index].Cables
		if s.Links > 0 {
			if s.Links > cables {
				s.say("links", "%d: %s has %d", s.Links, p.name, cables)
			}
			cables = min(s.Links, cables)
		}
		return s.f.TrunkHits(p.plane, p.index, cables)
	}
	panic("fault: a part without ports: " + p.name)
}

// gpus returns the GPUs that the fault strikes: those named, and those of nodes
// named.
func (s *strike) gpus() []int {
	var all []int
	for _, p := range s.hit {
		first, n := s.f.GPURange(p.node)
		if p.class == GPU {
			first, n = first+p.index, 1
		}
		for gpu := first; gpu < first+n; gpu++ {
			if !slices.Contains(all, gpu) {
				all = append(all, gpu)
			}
		}
	}
	return all
}

// withNVLink returns the GPUs that the fault strikes, if each has NVLinks: those of
// TPUs, ICI, are no target yet.
func (s *strike) withNVLink() []int {
	all := s.gpus()
	for _, gpu := range all {
		switch {
		case s.f.OfICI(gpu):
			s.say("target", "%s is a TPU, whose links are ICI; %s strikes NVLinks alone", gpuName(s.f, gpu), s.kind.Word)
		case len(s.f.NVLinks(gpu)) == 0:
			s.say("target", "%s has no NVLink", gpuName(s.f, gpu))
		default:
			continue
		}
		return nil
	}
	return all
}

// stop stops GPUs, in every span of the fault.
func (s *strike) stop(how How) {
	for _, span := range s.spans {
		for _, gpu := range s.gpus() {
			s.s.stops = append(s.s.stops, Stop{At: span.from, Until: span.to, GPU: gpu, How: how, Fault: s.index})
		}
	}
}

// call makes ranks call in another way, at each of the operations.
func (s *strike) call(c Call) {
	c.Fault = s.index
	for i := range max(s.When.Times, 1) {
		if s.drawn(i) {
			for _, c.GPU = range s.gpus() {
				c.Op = s.When.AfterOps + i
				s.s.calls = append(s.s.calls, c)
			}
		}
	}
}

// left returns what is left of a port when share is left of some of its links.
func left(h fabric.Hit, share int64) State {
	return State{Share: Whole - int64(h.Lost)*(Whole-share)/int64(h.Of)}
}

// part of a chance that a packet takes one of the links struck.
func passing(h fabric.Hit, chance int64) int64 { return chance * int64(h.Lost) / int64(h.Of) }

func list(words []string) string {
	const most = 12
	if len(words) > most {
		return strings.Join(words[:most-1], ", ") + fmt.Sprintf(" … %s (%d in all)", words[len(words)-1], len(words))
	}
	return strings.Join(words, ", ")
}
