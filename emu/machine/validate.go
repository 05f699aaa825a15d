package machine

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/railyard/railyard/shaping"
)

// What a machine may have. The largest announced NVLink domain has 576 GPUs;
// the largest file of the field some hundreds of bridges.
const (
	MaxDevices = 1024   // GPUs, NICs, planes, NUMA nodes, each
	MaxBridges = 8192   //
	MaxNVLinks = 65_536 // bundles
	maxLinks   = 1024   // in a bundle
	maxNumber  = 1 << 31
	maxText    = 128                // bytes of a name
	maxRate    = shaping.Rate(1e15) // 1 PB/s: beyond any link, and far from overflow
)

// Problem is one thing that is wrong with a machine.
type Problem struct {
	Field  string // for example "gpus[3].at"
	Reason string // the value, what is allowed
}

// Error returns the problem as one line.
func (p *Problem) Error() string { return p.Field + ": " + p.Reason }

// Validate says what is wrong with a machine, all at once: the error joins
// values of type *Problem. Fields are named as in a cluster file.
func (m *Machine) Validate() error {
	var errs []error
	for _, p := range m.Problems() {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// Problems returns what Validate joins.
func (m *Machine) Problems() []*Problem {
	c := checker{m: m}
	if !c.counts() {
		return c.found
	}
	c.names()
	c.cpus()
	for i := range m.Bridges {
		c.bridge(i)
	}
	for i := range m.GPUs {
		c.gpu(i)
	}
	for i := range m.NICs {
		c.nic(i)
	}
	c.busIDs()
	c.links()
	c.told()
	return c.found
}

type checker struct {
	m     *Machine
	found []*Problem
}

func (c *checker) say(field, format string, args ...any) {
	c.found = append(c.found, &Problem{field, fmt.Sprintf(format, args...)})
}

// unless is say when a condition does not hold.
func (c *checker) unless(ok bool, field, format string, args ...any) {
	if !ok {
		c.say(field, format, args...)
	}
}

func (c *checker) number(field string, v int) {
	c.unless(v >= 0 && v < maxNumber, field, "%d must be a whole number from 0 to %d", v, maxNumber-1)
}

func (c *checker) rate(field string, r shaping.Rate) {
	c.unless(r >= 0 && r <= maxRate, field, "%d B/s must be from 0, unknown, to %v", int64(r), maxRate)
}

func (c *checker) text(field, s string) {
	ok := len(s) <= maxText && utf8.ValidString(s) && strings.TrimSpace(s) == s
	c.unless(ok && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }), field,
		"%q must be up to %d bytes of printable text", clip(s), maxText)
}

func (c *checker) list(field, s string) {
	if short, err := ParseList(s); err != nil {
		c.say(field, "%v", err)
	} else {
		c.unless(short == s, field, "list %q must be sorted and short: %q", clip(s), clip(short))
	}
}

func (c *checker) counts() bool {
	m := c.m
	for _, n := range []struct {
		field         string
		has, min, max int
	}{
		{"gpus", len(m.GPUs), 1, MaxDevices}, {"nics", len(m.NICs), 0, MaxDevices}, {"planes", len(m.Planes), 0, MaxDevices},
		{"numa", len(m.NUMA), 1, MaxDevices}, {"sockets", len(m.Sockets), 1, MaxDevices},
		{"bridges", len(m.Bridges), 0, MaxBridges}, {"nvlinks", len(m.NVLinks), 0, MaxNVLinks},
		{"socketLinks", len(m.SocketLinks), 0, MaxNVLinks}, {"told", len(m.Told), 0, MaxNVLinks},
	} {
		c.unless(n.has >= n.min && n.has <= n.max, n.field, "has %d entries; allowed are %d to %d", n.has, n.min, n.max)
	}
	return len(c.found) == 0
}

var nameForm = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,62}$`)

func (c *checker) names() {
	m := c.m
	c.unless(nameForm.MatchString(m.Name), "name", "%q must be 1 to 63 letters, digits and . _ -, a letter or digit first", clip(m.Name))
	c.unless(m.Domain == "" || nameForm.MatchString(m.Domain), "domain", "%q must be up to 63 letters, digits and . _ -, a letter or digit first", clip(m.Domain))
}

func (c *checker) cpus() {
	m := c.m
	for i, s := range m.Sockets {
		f := fmt.Sprintf("sockets[%d]", i)
		c.text(f+".arch", s.Arch)
		c.text(f+".vendor", s.Vendor)
		c.number(f+".family", s.Family)
		c.number(f+".model", s.Model)
	}
	seen := map[[2]int]bool{}
	for i, l := range m.SocketLinks {
		f := fmt.Sprintf("socketLinks[%d]", i)
		c.unless(l.A >= 0 && l.A < l.B && l.B < len(m.Sockets), f, "joins %d to %d; it must join two sockets, of 0 to %d, the lower first", l.A, l.B, len(m.Sockets)-1)
		c.unless(!seen[[2]int{l.A, l.B}], f, "joins sockets %d and %d again; write one link with the rate of all", l.A, l.B)
		seen[[2]int{l.A, l.B}] = true
		c.rate(f+".rate", l.Rate)
	}
	for i, n := range m.NUMA {
		f := fmt.Sprintf("numa[%d]", i)
		c.unless(n.Socket >= 0 && n.Socket < len(m.Sockets), f+".socket", "%d must be a socket, 0 to %d", n.Socket, len(m.Sockets)-1)
		c.list(f+".nodes", n.Nodes)
		c.list(f+".cpus", n.CPUs)
		c.rate(f+".dram", n.DRAM)
	}
}

func (c *checker) bridge(i int) {
	b, f := &c.m.Bridges[i], fmt.Sprintf("bridges[%d]", i)
	c.pci(f, &b.PCI, i)
	c.unless(b.BusID != "", f+".busid", "is missing")
	if b.Host {
		c.unless(!b.At.Bridge, f+".at", "%v: a host bridge hangs on a NUMA node", b.At)
		c.unless(b.Slot == Slot{} && b.Class == 0 && b.ID == "", f, "a host bridge has no slot, class or id")
	}
}

var (
	busIDForm = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$`)
	idForm    = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{4}(:[0-9a-f]{4}:[0-9a-f]{4})?$`)
)

// pci checks what all devices have; bridges counts those it may hang on.
func (c *checker) pci(field string, p *PCI, bridges int) {
	c.unless(p.BusID == "" || busIDForm.MatchString(p.BusID), field+".busid", "%q must be domain:bus:device.function in lower case, as in 0000:1b:00.0", clip(p.BusID))
	c.unless(p.ID == "" || idForm.MatchString(p.ID), field+".id", "%q must be vendor:device or vendor:device:subvendor:subdevice in hexadecimal, as in 10de:2330", clip(p.ID))
	c.unless(p.Class < 1<<24, field+".class", "%#x must have 24 bits", p.Class)
	c.unless(p.Slot.valid(), field+".slot", "%q must have a generation from 1 to %d and 1, 2, 4, 8, 12, 16 or 32 lanes", p.Slot, MaxGen)
	most := len(c.m.NUMA)
	if p.At.Bridge {
		most = bridges
	}
	c.unless(p.At.Index >= 0 && p.At.Index < most, field+".at", "%v does not exist, or comes later", p.At)
}

func (s Slot) valid() bool {
	return s.Gen >= 0 && s.Gen <= MaxGen && slices.Contains(laneCounts, s.Lanes)
}

func (c *checker) gpu(i int) {
	g, f := &c.m.GPUs[i], fmt.Sprintf("gpus[%d]", i)
	c.pci(f, &g.PCI, len(c.m.Bridges))
	c.unless(g.BusID != "", f+".busid", "is missing")
	c.text(f+".model", g.Model)
	c.text(f+".arch", g.Arch)
	c.number(f+".units", g.Units)
	c.list(f+".numa", g.NUMA)
	c.unless(g.GDR <= Yes, f+".gdr", "%d must be yes, no, or left out", g.GDR)
	c.unless(g.C2C.Count >= 0 && g.C2C.Count <= maxLinks, f+".c2c.count", "%d must be from 1 to %d", g.C2C.Count, maxLinks)
	c.unless(g.C2C.Count > 0 || g.C2C.Rate == 0, f+".c2c.count", "is missing")
	c.rate(f+".c2c.rate", g.C2C.Rate)
}

func (c *checker) nic(i int) {
	n, f := &c.m.NICs[i], fmt.Sprintf("nics[%d]", i)
	c.pci(f, &n.PCI, len(c.m.Bridges))
	if n.BusID == "" {
		c.unless(n.PCI == PCI{At: n.At} && !n.At.Bridge, f+".busid", "is missing; only a virtual device has none, and it hangs on a NUMA node and has no slot")
	}
	c.text(f+".name", n.Name)
	c.rate(f+".speed", n.Speed)
	c.number(f+".port", n.Port)
	c.number(f+".maxConn", n.MaxConn)
	c.unless(n.Latency >= 0 && n.Latency <= shaping.Second, f+".latency", "%v must be from 0 to 1s", n.Latency)
	c.unless(n.GDR <= Yes && n.Reduces <= Yes, f, "gdr and reduces must be yes, no, or left out")
}

// busIDs checks that a bus id is one device: ports of a NIC share theirs, and
// all that comes with it.
func (c *checker) busIDs() {
	type owner struct {
		field string
		pci   *PCI
		nic   bool
	}
	seen := map[string]owner{}
	add := func(field string, p *PCI, nic bool) {
		o, again := seen[p.BusID]
		switch {
		case p.BusID == "":
		case !again:
			seen[p.BusID] = owner{field, p, nic}
		case !nic || !o.nic:
			c.say(field+".busid", "%s is that of %s; each device has its own", p.BusID, o.field)
		case *p != *o.pci:
			c.say(field, "%s is a port of the same card as %s and must have the same place, slot, class and id", p.BusID, o.field)
		}
	}
	for i := range c.m.Bridges {
		add(fmt.Sprintf("bridges[%d]", i), &c.m.Bridges[i].PCI, false)
	}
	for i := range c.m.GPUs {
		add(fmt.Sprintf("gpus[%d]", i), &c.m.GPUs[i].PCI, false)
	}
	for i := range c.m.NICs {
		add(fmt.Sprintf("nics[%d]", i), &c.m.NICs[i].PCI, true)
	}
	for i, p := range c.m.Planes {
		f := fmt.Sprintf("planes[%d]", i)
		c.unless(busIDForm.MatchString(p.BusID), f, "%q must be domain:bus:device.function in lower case", clip(p.BusID))
		add(f, &PCI{BusID: p.BusID}, false)
	}
}

func (c *checker) links() {
	m := c.m
	seen := map[[3]int]bool{}
	for i, l := range m.NVLinks {
		f := fmt.Sprintf("nvlinks[%d]", i)
		key := [3]int{l.GPU, l.To, 0}
		if l.Plane {
			key[2] = 1
			c.unless(l.To >= 0 && l.To < len(m.Planes), f+".to", "plane%d does not exist", l.To)
		} else {
			c.unless(l.To > l.GPU && l.To < len(m.GPUs), f+".to", "gpu%d must be another GPU, with a higher number", l.To)
		}
		c.unless(l.GPU >= 0 && l.GPU < len(m.GPUs), f+".from", "gpu%d does not exist", l.GPU)
		c.unless(l.Count >= 1 && l.Count <= maxLinks, f+".count", "%d must be from 1 to %d", l.Count, maxLinks)
		c.unless(!seen[key], f, "joins the same two again; write one entry with the count of all")
		seen[key] = true
		c.rate(f+".rate", l.Rate)
	}
}

func (c *checker) told() {
	exists := func(d Device) bool {
		if d.NIC {
			return d.Index >= 0 && d.Index < len(c.m.NICs)
		}
		return d.Index >= 0 && d.Index < len(c.m.GPUs)
	}
	seen := map[[2]Device]bool{}
	for i, t := range c.m.Told {
		f := fmt.Sprintf("told[%d]", i)
		c.unless(exists(t.A) && exists(t.B) && t.A.Before(t.B), f, "%v and %v must be two devices of the machine, GPUs before NICs and lower numbers first", t.A, t.B)
		c.unless(t.Is >= PIX && t.Is <= SYS, f+".is", "must be PIX, PXB, PHB, NODE or SYS")
		c.unless(!seen[[2]Device{t.A, t.B}], f, "%v and %v are there already", t.A, t.B)
		seen[[2]Device{t.A, t.B}] = true
	}
}
