package survey

import (
	"fmt"
	"strconv"
	"strings"
)

// infraEnd is one end of a connection.
type infraEnd struct {
	instance string
	index    int
}

// infraEdge is a connection before it is expanded.
type infraEdge struct {
	line       int
	a, b       []infraEnd
	link       string
	manyToMany bool
	oneToOne   bool // said so, which InfraGraph takes as: as far as the shorter side goes
}

// expand calls join for every pair: of lists as long as each other one to one, of
// one end and many each with it, of many to many all with all.
func (e *infraEdge) expand(join func(a, b infraEnd) error) error {
	if n := min(len(e.a), len(e.b)); e.oneToOne {
		e.a, e.b = e.a[:n], e.b[:n]
	}
	switch {
	case e.manyToMany || len(e.a) == 1 || len(e.b) == 1:
		if len(e.a)*len(e.b) > maxLinks {
			return fmt.Errorf("%d ends with %d: more than %d links, the most that are read", len(e.a), len(e.b), maxLinks)
		}
		for _, a := range e.a {
			for _, b := range e.b {
				if err := join(a, b); err != nil {
					return err
				}
			}
		}
		return nil
	case len(e.a) != len(e.b):
		return fmt.Errorf("%d ends on one side and %d on the other cannot be joined one to one", len(e.a), len(e.b))
	}
	for i := range e.a {
		if err := join(e.a[i], e.b[i]); err != nil {
			return err
		}
	}
	return nil
}

// edges reads the connections between instances, in any of their forms:
//
//	connections: [host.0.nic.0.eth.leaf.0.port.0]
//	edges: [{ep1: {instance: "host[0:8]", component: "nic[0]"}, ep2: …, link: eth, scheme: many2many}]
func (r *infra) edges(root *value) ([]infraEdge, error) {
	var all []infraEdge
	total := 0
	for _, key := range []string{"connections", "edges"} {
		for _, c := range root.get(key).items() {
			e, err := r.connection(c)
			if err != nil {
				return nil, fmt.Errorf("line %d: connection: %w", c.line, err)
			}
			if e.oneToOne && len(e.a) != len(e.b) {
				r.Say(Odd, "line %d: %d ends on one side and %d on the other, one to one: the first %d are joined", c.line, len(e.a), len(e.b), min(len(e.a), len(e.b)))
			}
			if total += len(e.a) + len(e.b); total > 2*maxLinks {
				return nil, fmt.Errorf("line %d: more than %d links, the most that are read", c.line, maxLinks)
			}
			all = append(all, e)
		}
	}
	return all, nil
}

func (r *infra) connection(c *value) (infraEdge, error) {
	e := infraEdge{line: c.line}
	var err error
	if c.get("ep1") != nil {
		e.link = c.str("link")
		e.manyToMany = strings.EqualFold(c.str("scheme"), "many2many") || c.str("many2many") == "true"
		e.oneToOne = strings.EqualFold(c.str("scheme"), "one2one")
		if scheme := c.str("scheme"); scheme != "" && !e.oneToOne && !e.manyToMany {
			return e, fmt.Errorf("scheme %q is unknown; allowed are one2one and many2many", clip(scheme))
		}
		if e.a, err = r.endpoint(c.get("ep1")); err == nil {
			e.b, err = r.endpoint(c.get("ep2"))
		}
		return e, err
	}
	f := strings.Split(c.text, ".")
	if len(f) != 9 {
		return e, fmt.Errorf("%q must be instance.N.component.N.link.instance.N.component.N", clip(c.text))
	}
	e.link = f[4]
	if e.a, err = infraEnds(f[0], f[1], f[3]); err == nil {
		e.b, err = infraEnds(f[5], f[6], f[8])
	}
	return e, err
}

// endpoint reads {instance: "host[0:8]", component: "nic[0:4]"}. Components of
// components follow behind a dot: "cx5[0:4].port[0]".
func (r *infra) endpoint(v *value) ([]infraEnd, error) {
	name, _, _ := strings.Cut(v.str("instance"), "[")
	declared := r.declared[name]
	of, err := slice(v.str("instance"), max(declared.count, 1))
	if err != nil {
		return nil, err
	}
	parts, device := 1, declared.device
	for _, component := range strings.Split(v.str("component"), ".") {
		part, _, _ := strings.Cut(component, "[")
		count := 1
		if d := r.devices[device]; d != nil {
			count = max(d.counts[part], 1)
		}
		some, err := slice(component, count)
		if err != nil {
			return nil, err
		}
		if parts *= len(some); parts > maxLinks {
			break // too many anyhow
		}
		device = part
	}
	return ends(name, of, parts)
}

// slice reads the brackets behind a name as Python does: "host[2]", "host[0:8]",
// "host[:8]", "host[::2]"; without any, all of the count.
func slice(text string, count int) ([]int, error) {
	_, inside, ok := strings.Cut(text, "[")
	if inside = strings.TrimSuffix(inside, "]"); ok && !strings.Contains(inside, ":") {
		return indices(inside)
	}
	at := [3]int{0, count, 1} // from, to, step
	pieces := strings.Split(inside, ":")
	for i, p := range pieces {
		if p = strings.TrimSpace(p); p == "" || i >= len(at) {
			continue
		}
		n, err := strconv.Atoi(p)
		if at[i] = n; err != nil {
			at[2] = 0
		}
	}
	if len(pieces) > len(at) || at[0] < 0 || at[1] <= at[0] || at[1] > maxHosts || at[2] < 1 {
		return nil, fmt.Errorf("%q must be an index such as [3], or a slice such as [0:4]", clip(text))
	}
	var all []int
	for i := at[0]; i < at[1]; i += min(at[2], maxHosts) {
		all = append(all, i)
	}
	return all, nil
}

// infraEnds lists the ends of some instances' components, instance by instance.
func infraEnds(name, instances, components string) ([]infraEnd, error) {
	of, err := indices(instances)
	if err != nil {
		return nil, err
	}
	parts, err := indices(components)
	if err != nil {
		return nil, err
	}
	return ends(name, of, len(parts))
}

// ends lists a number of ends of each instance.
func ends(name string, of []int, each int) ([]infraEnd, error) {
	if len(of)*each > maxLinks {
		return nil, fmt.Errorf("%d ends; at most %d are read", len(of)*each, maxLinks)
	}
	var all []infraEnd
	for _, i := range of {
		for range each {
			all = append(all, infraEnd{name, i})
		}
	}
	return all, nil
}

// indices reads "3", "0-3" (3 included), "0:4" (4 not) and lists of these.
func indices(text string) ([]int, error) {
	var all []int
	for _, part := range strings.Split(strings.Trim(text, "[]"), ",") {
		low, high, isRange := strings.Cut(part, "-")
		extra := 0
		if l, h, ok := strings.Cut(part, ":"); ok {
			low, high, isRange, extra = l, h, true, -1
		}
		from, err := strconv.Atoi(strings.TrimSpace(low))
		to := from
		if err == nil && isRange {
			to, err = strconv.Atoi(strings.TrimSpace(high))
			to += extra
		}
		if err != nil || from < 0 || to < from || to >= maxHosts || len(all)+to-from >= maxHosts {
			return nil, fmt.Errorf("%q must be an index such as 3, or a range such as 0-3 or 0:4", clip(text))
		}
		for i := from; i <= to; i++ {
			all = append(all, i)
		}
	}
	return all, nil
}
