package fault

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/suggest"
)

// Class is a kind of part. Where a type does not strike what is named, that stands
// for its parts: a group for its nodes, a node for its GPUs or NICs, a rail for
// its NICs.
type Class uint8

// The classes of parts.
const (
	Node Class = iota
	GPU
	NIC
	NVSwitch
	Switch
	Link
	Sides
	Coordinator
	numClasses
)

var classNames = [numClasses]string{"node", "gpu", "nic", "nvswitch", "switch", "link", "sides", "coordinator"}

// String returns the class's word.
func (c Class) String() string { return classNames[c] }

// How parts of a class are written, for messages and tables.
var classForms = [numClasses]string{"node1 or node0-3", "node1/gpu3 or gpu11", "node1/nic0 or rail0", "node1/nvswitch0", "spine0",
	"link:leaf0-spine1", "node0-3 | node4-7", "coordinator"}

// part is something that a fault strikes.
type part struct {
	class Class
	name  string
	node  int
	index int // of the GPU, NIC or NVSwitch in its node; of the switch or trunk in its plane
	plane int
	sides []int // of each node; -1: of none
}

var (
	deviceForm = regexp.MustCompile(`^node(\d{1,6})(?:-(\d{1,6}))?(?:/(gpu|nic|nvswitch)(\d{1,6})(?:-(\d{1,6}))?)?$`)
	otherForm  = regexp.MustCompile(`^(gpu|rail|group)(\d{1,6})(?:-(\d{1,6}))?$`)
)

// resolve returns the parts that a target names, or why there are none.
func (c *compiler) resolve(fault int, target string, k *Kind) ([]part, error) {
	target = strings.TrimSpace(target)
	word, class, _ := strings.Cut(target, " ")
	switch {
	case k.strikes(Coordinator):
		if target != "" && target != "coordinator" {
			return nil, fmt.Errorf("%q: %s strikes the coordinator alone; leave it out", suggest.Clip(target), k.Word)
		}
		return []part{{class: Coordinator, name: "coordinator"}}, nil
	case target == "":
		return nil, fmt.Errorf("is missing; %s", c.allowed(k))
	case word == "random":
		return c.random(fault, strings.TrimSpace(class), k)
	case k.strikes(Sides):
		return c.sides(target)
	}
	var all []part
	seen := map[string]bool{}
	for _, text := range strings.Split(target, ",") {
		parts, err := c.named(strings.TrimSpace(text), k)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if !seen[p.name] {
				seen[p.name] = true
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// inside reports whether a target names devices of nodes alone, by their numbers.
func inside(target string) bool {
	for _, text := range strings.Split(target, ",") {
		if text = strings.TrimSpace(text); !deviceForm.MatchString(text) && !otherForm.MatchString(text) {
			return false
		}
	}
	return true
}

// allowed says what a type may strike.
func (c *compiler) allowed(k *Kind) string {
	var all []string
	for _, class := range k.Strikes {
		all = append(all, class.String()+" ("+classForms[class]+")")
	}
	if k.strikes(Sides) || k.strikes(Coordinator) {
		return "allowed is " + strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s strikes %s, or random", k.Word, strings.Join(all, ", "))
}

// named returns the parts of one name.
func (c *compiler) named(text string, k *Kind) ([]part, error) {
	if p, ok := c.byName(text); ok {
		return c.widen(text, p, k)
	}
	if m := deviceForm.FindStringSubmatch(text); m != nil {
		return c.device(text, m, k)
	}
	if m := otherForm.FindStringSubmatch(text); m != nil {
		return c.other(text, m, k)
	}
	return nil, fmt.Errorf("%q: there is no such part; %s%s%s", suggest.Clip(text), c.allowed(k), c.there(k), suggest.Hint(text, c.names(k)))
}

// there lists switches and links, whose names a user must be told.
func (c *compiler) there(k *Kind) string {
	text := ""
	for _, class := range []Class{Switch, Link} {
		if k.strikes(class) {
			var names []string
			for _, p := range c.all() {
				if p.class == class {
					names = append(names, p.name)
				}
			}
			plural := map[Class]string{Switch: "switches", Link: "links"}[class]
			text += fmt.Sprintf("; %s are %s", plural, cmp.Or(list(names), "none"))
		}
	}
	return text
}

// names lists all that a type may strike.
func (c *compiler) names(k *Kind) []string {
	var names []string
	for _, p := range c.all() {
		if k.strikes(p.class) {
			names = append(names, p.name)
		}
	}
	return names
}

func (c *compiler) byName(name string) (part, bool) {
	if i := slices.IndexFunc(c.all(), func(p part) bool { return (p.class == Switch || p.class == Link) && p.name == name }); i >= 0 {
		return c.all()[i], true
	}
	ends, ok := strings.CutPrefix(name, "link:")
	for i := 0; ok && i < len(ends); i++ { // names have hyphens too; either end may be first
		if ends[i] != '-' {
			continue
		}
		turned := "link:" + ends[i+1:] + "-" + ends[:i]
		if i := slices.IndexFunc(c.all(), func(p part) bool { return p.class == Link && p.name == turned }); i >= 0 {
			return c.all()[i], true
		}
	}
	return part{}, false
}

// between reads "3" and "5" as 3 to 5, and "3" alone as 3.
func between(first, last string, most int, what string) (from, to int, err error) {
	from, _ = strconv.Atoi(first)
	to = from
	if last != "" {
		to, _ = strconv.Atoi(last)
	}
	switch {
	case most == 0:
		return 0, 0, fmt.Errorf("there is no %s", what)
	case to >= most:
		return 0, 0, fmt.Errorf("there are %s0 to %s%d", what, what, most-1)
	case from > to:
		return 0, 0, fmt.Errorf("%s%d to %s%d is backwards", what, from, what, to)
	}
	return from, to, nil
}

// device returns the parts of a target such as node1/gpu3-4.
func (c *compiler) device(text string, m []string, k *Kind) ([]part, error) {
	from, to, err := between(m[1], m[2], c.f.Nodes(), "node")
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	var all []part
	for node := from; node <= to; node++ {
		if m[3] == "" {
			parts, err := c.widen(text, part{class: Node, name: fmt.Sprintf("node%d", node), node: node}, k)
			if err != nil {
				return nil, err
			}
			all = append(all, parts...)
			continue
		}
		class := Class(slices.Index(classNames[:], m[3]))
		first, last, err := between(m[4], m[5], c.count(node, class), m[3])
		if err != nil {
			return nil, fmt.Errorf("%q: on node%d %w", text, node, err)
		}
		for i := first; i <= last; i++ {
			parts, err := c.widen(text, c.deviceAt(node, class, i), k)
			if err != nil {
				return nil, err
			}
			all = append(all, parts...)
		}
	}
	return all, nil
}

func (c *compiler) deviceAt(node int, class Class, i int) part {
	return part{class: class, name: fmt.Sprintf("node%d/%s%d", node, class, i), node: node, index: i}
}

// count returns how many devices of a class a node has.
func (c *compiler) count(node int, class Class) int {
	switch class {
	case GPU:
		_, n := c.f.GPURange(node)
		return n
	case NIC:
		return c.f.NICs(node)
	default:
		return c.f.NVSwitches(node)
	}
}

// other returns the parts of gpu17, of a rail, or of a group.
func (c *compiler) other(text string, m []string, k *Kind) ([]part, error) {
	rails := 0
	for node := range c.f.Nodes() {
		rails = max(rails, c.f.NICs(node))
	}
	most := map[string]int{"gpu": c.f.GPUs(), "rail": rails, "group": len(c.f.Cluster.Groups)}[m[1]]
	from, to, err := between(m[2], m[3], most, m[1])
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	var named []part
	for i := from; i <= to; i++ {
		for node := range c.f.Nodes() {
			first, n := c.f.GPURange(node)
			switch {
			case m[1] == "gpu" && i >= first && i < first+n:
				named = append(named, c.deviceAt(node, GPU, i-first))
			case m[1] == "rail" && i < c.f.NICs(node):
				named = append(named, c.deviceAt(node, NIC, i))
			case m[1] == "group" && c.f.Group(node) == i:
				named = append(named, part{class: Node, name: fmt.Sprintf("node%d", node), node: node})
			}
		}
	}
	var all []part
	for _, p := range named {
		parts, err := c.widen(text, p, k)
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}

// widen returns a part, or what it stands for where the type does not strike it.
func (c *compiler) widen(text string, p part, k *Kind) ([]part, error) {
	if k.strikes(p.class) {
		return []part{p}, nil
	}
	var all []part
	for _, class := range []Class{GPU, NIC} {
		if p.class == Node && k.strikes(class) && len(all) == 0 {
			for i := range c.count(p.node, class) {
				all = append(all, c.deviceAt(p.node, class, i))
			}
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%q: is a %s; %s", suggest.Clip(text), p.class, c.allowed(k))
	}
	return all, nil
}

// all lists every part that has a name of its own.
func (c *compiler) all() []part {
	if c.parts != nil {
		return c.parts
	}
	for node := range c.f.Nodes() {
		c.parts = append(c.parts, part{class: Node, name: fmt.Sprintf("node%d", node), node: node})
		for _, class := range []Class{GPU, NIC, NVSwitch} {
			for i := range c.count(node, class) {
				c.parts = append(c.parts, c.deviceAt(node, class, i))
			}
		}
	}
	net := c.f.Network()
	if net == nil || !c.f.Pools() {
		return c.parts
	}
	trunks := net.Trunks()
	for plane := range net.Planes {
		at := ""
		if net.Planes > 1 {
			at = fmt.Sprintf("plane%d/", plane)
		}
		for i, s := range net.Switches {
			c.parts = append(c.parts, part{class: Switch, name: at + s.Name, index: i, plane: plane})
		}
		for i, t := range trunks {
			name := fmt.Sprintf("link:%s%s-%s", at, net.Switches[t.A].Name, net.Switches[t.B].Name)
			c.parts = append(c.parts, part{class: Link, name: name, index: i, plane: plane})
		}
	}
	return c.parts
}

// random draws one part of all that the type may strike, or of one class.
func (c *compiler) random(fault int, class string, k *Kind) ([]part, error) {
	if k.strikes(Sides) {
		return c.randomSides(fault)
	}
	var from []part
	for _, p := range c.all() {
		if k.strikes(p.class) && (class == "" || p.class.String() == class) {
			from = append(from, p)
		}
	}
	switch {
	case class != "" && !slices.ContainsFunc(k.Strikes, func(c Class) bool { return c.String() == class }):
		return nil, fmt.Errorf("\"random %s\": %s strikes %s", suggest.Clip(class), k.Word, k.Targets())
	case len(from) == 0:
		return nil, errors.New("random: this cluster has no part that " + k.Word + " strikes")
	}
	return []part{from[c.pick(uint64(len(from)), drawTarget, uint64(fault))]}, nil
}

// sides reads the sides of a partition: "node0-3 | node4-7".
func (c *compiler) sides(target string) ([]part, error) {
	p := part{class: Sides, name: target, sides: make([]int, c.f.Nodes())}
	for i := range p.sides {
		p.sides[i] = -1
	}
	nodes := &Kind{Word: "a side", Strikes: []Class{Node}}
	texts := strings.Split(target, "|")
	if len(texts) < 2 {
		return nil, fmt.Errorf("%q: a partition has two sides or more, with | between them, such as node0-3 | node4-7", suggest.Clip(target))
	}
	for side, text := range texts {
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }) {
			parts, err := c.named(name, nodes)
			if err != nil {
				return nil, err
			}
			for _, q := range parts {
				if other := p.sides[q.node]; other >= 0 && other != side {
					return nil, fmt.Errorf("%q: %s is on two sides", suggest.Clip(target), q.name)
				}
				p.sides[q.node] = side
			}
		}
		if !slices.Contains(p.sides, side) {
			return nil, fmt.Errorf("%q: side %d has no node", suggest.Clip(target), side+1)
		}
	}
	return []part{p}, nil
}

// randomSides parts the first nodes from the others.
func (c *compiler) randomSides(fault int) ([]part, error) {
	n := c.f.Nodes()
	if n < 2 {
		return nil, errors.New("random: a partition needs two nodes, and there is one")
	}
	k := 1 + int(c.pick(uint64(n-1), drawSides, uint64(fault)))
	return c.sides(fmt.Sprintf("node0-%d | node%d-%d", k-1, k, n-1))
}
