package survey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// Options are what a cluster needs beyond a description.
type Options struct {
	// Name of the cluster.
	Name string
	// System is what the hosts are. Empty: what the file's words for them
	// suggest, else Default.
	System, Default string
	// Rate is that of links whose rate the file does not say; 0: the fabric
	// link's own.
	Rate  shaping.Rate
	Known emu.Known
	// Links are those of the catalog, to tell by the rate which a host has.
	Links []KnownLink
}

// KnownLink is a link of the catalog.
type KnownLink struct {
	Name string
	Rate shaping.Rate // as sold
}

// builder makes a cluster of a survey.
type builder struct {
	*Survey
	o       Options
	ports   [][]int  // switches that the NICs of each host hang on
	nics    []int    // NICs in use of each host
	rates   [][]Link // the links of each host
	in      []bool   // hosts that are taken
	cables  []Link   // between switches
	groups  []emu.Group
	systems map[Host]emu.KnownSystem // what was taken for hosts of one description
}

// Cluster makes a cluster of the description. Notes on what it had to assume are
// added to those of the survey.
func (s *Survey) Cluster(o Options) (emu.Cluster, error) {
	b := builder{Survey: s, o: o, systems: map[Host]emu.KnownSystem{}}
	if err := b.edgeHosts(); err != nil {
		return emu.Cluster{}, err
	}
	b.unlinked()
	b.choose()
	if err := b.wires(); err != nil {
		return emu.Cluster{}, err
	}
	b.oneNetwork()
	link, err := b.link()
	if err == nil {
		err = b.slow(link)
	}
	if err == nil {
		err = b.hosts()
	}
	c := emu.Cluster{Name: o.Name, Groups: b.groups}
	if err != nil {
		return emu.Cluster{}, err
	}
	if len(s.Switches) == 0 {
		if len(s.Hosts) > 1 {
			s.Say(Assumed, "the file names no switch: the hosts are joined by the fabric that their system ships with")
		}
		return c, nil
	}
	c.Fabric = emu.Fabric{Kind: emu.KindCustom, Link: link}
	if s.Logical {
		b.count()
	}
	b.fill(&c)
	return c, nil
}

// edgeHosts puts servers where a file has only switches: on those with the
// fewest links.
func (b *builder) edgeHosts() error {
	if len(b.Hosts) > 0 {
		return nil
	}
	degree := make([]int, len(b.Switches))
	for _, l := range b.Links {
		degree[l.A.Index] += l.Count
		degree[l.B.Index] += l.Count
	}
	least := slices.Min(degree)
	edge := 0
	for i, d := range degree {
		if d != least {
			continue
		}
		edge++
		p, err := b.add(fmt.Sprintf("server%d (assumed)", i), false)
		if err != nil {
			return err
		}
		if err := b.join(p, Place{true, i}, 0, 0); err != nil {
			return err
		}
	}
	b.Logical = b.Logical || len(b.Links) == edge
	b.Say(Assumed, "the file has switches only: a server with one NIC in use hangs on each of the %d with the fewest links", edge)
	return nil
}

// linked returns which hosts a link leads to.
func (b *builder) linked() []bool {
	is := make([]bool, len(b.Hosts))
	for _, l := range b.Links {
		for _, end := range []Place{l.A, l.B} {
			if !end.Switch {
				is[end.Index] = true
			}
		}
	}
	return is
}

// unlinked leaves out all switches where no link leads to any host.
func (b *builder) unlinked() {
	if len(b.Switches) > 0 && !slices.Contains(b.linked(), true) {
		b.Say(Odd, "no link leads to a host: the %d switches are left out", len(b.Switches))
		b.Switches, b.Links = nil, nil
	}
}

// choose takes the largest part of a network that falls into several: a
// collective cannot run across what nothing joins.
func (b *builder) choose() {
	b.in = make([]bool, len(b.Hosts))
	islands, linked := b.Islands(), b.linked()
	for i, hosts := range islands { // a host alone is no network
		if !linked[islands[0][0]] && linked[hosts[0]] {
			islands[0], islands[i] = islands[i], islands[0]
		}
	}
	if len(b.Switches) == 0 {
		for i := range b.in {
			b.in[i] = true
		}
		return
	}
	for _, h := range islands[0] {
		b.in[h] = true
	}
	if left := len(b.Hosts) - len(islands[0]); left > 0 {
		b.Say(Missing, "nothing can run across parts that no link joins: taken is the largest, of %d hosts from %s on; %d hosts are left out", len(islands[0]), clip(b.Hosts[islands[0][0]].Name), left)
	}
}

// wires tells the links of hosts from those between switches. Two hosts that are
// joined directly get a switch between them that is as good as a wire.
func (b *builder) wires() error {
	b.ports, b.rates, b.nics = make([][]int, len(b.Hosts)), make([][]Link, len(b.Hosts)), make([]int, len(b.Hosts))
	direct := 0
	for _, l := range b.Links {
		if l.A.Switch && l.B.Switch {
			b.cables = append(b.cables, l)
			continue
		}
		via := l.B
		if !l.A.Switch && !l.B.Switch {
			var err error
			if via, err = b.add("wire "+b.Name(l.A)+" "+b.Name(l.B), true); err != nil {
				return err
			}
			direct++
		} else if l.A.Switch {
			via = l.A
		}
		for _, end := range []Place{l.A, l.B} {
			for range l.Count {
				if !end.Switch {
					b.ports[end.Index] = append(b.ports[end.Index], via.Index)
					b.rates[end.Index] = append(b.rates[end.Index], l)
				}
			}
		}
	}
	if direct > 0 {
		b.Say(Assumed, "%d links join two hosts directly: a switch of two ports stands for each, one hop more than the wire has", direct)
	}
	return nil
}

// hosts makes groups of like hosts, in order.
func (b *builder) hosts() error {
	clipped, unplugged := 0, 0
	for i, h := range b.Hosts {
		if !b.in[i] {
			continue
		}
		sys, err := b.system(h)
		if err != nil {
			return err
		}
		if len(b.ports[i]) > sys.NICs {
			clipped++
			b.ports[i] = b.ports[i][:sys.NICs]
		} else if !b.Logical && len(b.Switches) > 0 && h.NICs > len(b.ports[i]) {
			unplugged++
		}
		g := b.like(i, h, sys)
		b.group(g)
	}
	if clipped > 0 {
		b.Say(Missing, "%d hosts have more links than their system has NICs: the first ones count; name another with --system", clipped)
	}
	if unplugged > 0 {
		b.Say(Odd, "%d hosts have NICs that nothing is plugged into; those are left out", unplugged)
	}
	return nil
}

// like returns a group of one host.
func (b *builder) like(i int, h Host, sys emu.KnownSystem) emu.Group {
	g := emu.Group{Count: 1, System: sys.Name}
	gpus, ports := sys.GPUs, b.ports[i]
	if h.GPUs > 0 && h.GPUs < sys.GPUs {
		gpus, g.GPUs = h.GPUs, h.GPUs
	}
	usual := min(sys.NICs, gpus) // in use where nothing is said
	nics := usual
	if len(ports) > 0 && !b.Logical {
		nics = len(ports)
	} else if h.NICs > 0 {
		nics = min(h.NICs, sys.NICs)
	}
	if nics != usual {
		g.NICs = nics
	}
	if b.nics[i] = nics; b.Logical && len(ports) > 1 { // NICs take turns
		turns := make([]int, nics)
		for k := range turns {
			turns[k] = ports[k%len(ports)]
		}
		ports = turns
	}
	g.Switches = b.names(ports)
	return g
}

// names returns the switches' names; one when all are the same.
func (b *builder) names(ports []int) []string {
	var all []string
	same := true
	for _, p := range ports {
		all = append(all, b.Switches[p].Name)
		same = same && p == ports[0]
	}
	if same && len(all) > 1 {
		return all[:1]
	}
	return all
}

// group adds a host to the last group, or begins another.
func (b *builder) group(g emu.Group) {
	if n := len(b.groups); n > 0 {
		last := &b.groups[n-1]
		if last.System == g.System && last.GPUs == g.GPUs && last.NICs == g.NICs && slices.Equal(last.Switches, g.Switches) {
			last.Count++
			return
		}
	}
	b.groups = append(b.groups, g)
}

// system returns what a host is: what the user said, what the file's word for it
// suggests, or the default.
func (b *builder) system(h Host) (emu.KnownSystem, error) {
	h.Name, h.NICs = "", 0
	if s, ok := b.systems[h]; ok {
		return s, nil
	}
	name := b.o.System
	if name == "" {
		name = b.suggested(h)
	}
	var found emu.KnownSystem
	for _, s := range b.o.Known.Systems {
		if s.Name == name {
			found = s
		}
	}
	if found.GPUs < h.GPUs {
		return found, fmt.Errorf("the file has hosts of %d GPUs and %s has %d; name a system of as many with --system", h.GPUs, name, found.GPUs)
	}
	b.systems[h] = found
	return found, nil
}

// suggested returns the system whose name has the file's word in it.
func (b *builder) suggested(h Host) string {
	if word := strings.ToLower(h.Model); word != "" {
		for _, s := range b.o.Known.Systems {
			if (hasWord(s.Name, word) || hasWord(word, s.Name)) && s.GPUs >= h.GPUs {
				b.Say(Assumed, "hosts of %q are %s servers; name another with --system", clip(h.Model), s.Name)
				return s.Name
			}
		}
	}
	b.Say(Assumed, "the file does not say what servers the hosts are: taken is %s; name another with --system", b.o.Default)
	return b.o.Default
}

// hasWord reports whether a word stands in a text, and not within a longer one:
// gh200 is no h20.
func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !alnum(text[i-1])) && (end == len(text) || !alnum(text[end])) {
			return true
		}
		from = i + 1
	}
}

func alnum(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
