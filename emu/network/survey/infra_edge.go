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
}

// expand calls join for every pair: of lists as long as each other one to one, of
// one end and many each with it, of many to many all with all.
func (e *infraEdge) expand(join func(a, b infraEnd) error) error {
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
			e, err := infraConnection(c)
			if err != nil {
				return nil, fmt.Errorf("line %d: connection: %w", c.line, err)
			}
			if total += len(e.a) + len(e.b); total > 2*maxLinks {
				return nil, fmt.Errorf("line %d: more than %d links, the most that are read", c.line, maxLinks)
			}
			all = append(all, e)
		}
	}
	return all, nil
}

func infraConnection(c *value) (infraEdge, error) {
	e := infraEdge{line: c.line}
	var err error
	if c.get("ep1") != nil {
		e.link, e.manyToMany = c.str("link"), strings.EqualFold(c.str("scheme"), "many2many")
		if e.a, err = infraEndpoint(c.get("ep1")); err == nil {
			e.b, err = infraEndpoint(c.get("ep2"))
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

// infraEndpoint reads {instance: "host[0:8]", component: "nic[0:4]"}.
func infraEndpoint(v *value) ([]infraEnd, error) {
	name, of := cutIndex(v.str("instance"))
	_, parts := cutIndex(v.str("component"))
	return infraEnds(name, of, parts)
}

// cutIndex splits "host[0:8]"; without brackets it is all that starts at 0.
func cutIndex(text string) (name, index string) {
	name, index, ok := strings.Cut(text, "[")
	if !ok {
		return text, "0"
	}
	return name, strings.TrimSuffix(index, "]")
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
	if len(of)*len(parts) > maxLinks {
		return nil, fmt.Errorf("%d ends; at most %d are read", len(of)*len(parts), maxLinks)
	}
	var all []infraEnd
	for _, i := range of {
		for range parts {
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
