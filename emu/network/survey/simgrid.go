package survey

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// readSimGrid reads the clusters of a platform. Platforms that list their routes
// one by one tell ways, not cables; they are refused.
func readSimGrid(root *element) (*Survey, error) {
	s := &Survey{Kind: "SimGrid platform"}
	found, routed := 0, false
	var walk func(e *element) error
	walk = func(e *element) error {
		for _, c := range e.children {
			switch c.name {
			case "cluster":
				found++
				if err := s.simgridCluster(c); err != nil {
					return fmt.Errorf("line %d: cluster %q: %w", c.line, clip(c.attr("id")), err)
				}
			case "route":
				routed = true
			}
			if err := walk(c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return nil, err
	}
	switch {
	case found == 0 && routed:
		return nil, fmt.Errorf("SimGrid platform: it lists routes between hosts, which tell ways and not cables; only <cluster> elements are read")
	case found == 0:
		return nil, fmt.Errorf("SimGrid platform: it has no <cluster>, the only part that is read")
	case found > 1 || routed:
		s.Say(Missing, "the file joins its %d clusters by routes, which are not read: they stand apart", found)
	}
	s.Say(Odd, "speeds of hosts are the business of the system; ignored")
	return s, nil
}

// simgridCluster reads one cluster by its topology.
func (s *Survey) simgridCluster(c *element) error {
	names, err := hostlist("[" + c.attr("radical") + "]")
	if err != nil {
		return fmt.Errorf("radical: %w", err)
	}
	for i, n := range names {
		names[i] = c.attr("prefix") + n + c.attr("suffix")
	}
	switch topology := strings.ToUpper(c.attr("topology")); topology {
	case "", "FLAT":
		return s.simgridFlat(c, names)
	case "FAT_TREE":
		return s.simgridFatTree(c, names)
	case "TORUS":
		return s.simgridTorus(c, names)
	default:
		return fmt.Errorf("topology %s is not read; read are FLAT, FAT_TREE and TORUS", clip(topology))
	}
}

// simgridFlat joins all hosts with one switch.
func (s *Survey) simgridFlat(c *element, names []string) error {
	for _, n := range names {
		if err := s.simgridLink(c, n, false, c.attr("id")+"-backbone", 1); err != nil {
			return err
		}
	}
	return nil
}

// simgridTorus joins hosts in "x,y,z".
func (s *Survey) simgridTorus(c *element, names []string) error {
	var dims []int
	for _, d := range strings.Split(c.attr("topo_parameters"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(d))
		if err != nil || n < 1 || n > maxSwitches {
			return fmt.Errorf("topo_parameters %q must be sizes such as 3,2,2", clip(c.attr("topo_parameters")))
		}
		dims = append(dims, n)
	}
	rate, latency, err := simgridRate(c)
	if err != nil {
		return err
	}
	return s.torus(names, dims, rate, latency)
}

// simgridFatTree builds "levels;down;up;links", each list from the hosts on. A
// switch of level l differs from those that it shares children with by its
// number among the parents.
func (s *Survey) simgridFatTree(c *element, names []string) error {
	var p [4][]int
	for i, part := range strings.Split(c.attr("topo_parameters"), ";") {
		for _, w := range strings.Split(part, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(w))
			if err != nil || n < 1 || n > maxParallel || i > 3 {
				return fmt.Errorf("topo_parameters %q must be levels;down radix;up radix;links, such as 2;4,4;1,2;1,2", clip(c.attr("topo_parameters")))
			}
			p[i] = append(p[i], n)
		}
	}
	if len(p[0]) != 1 || len(p[1]) != p[0][0] || len(p[2]) != p[0][0] || len(p[3]) != p[0][0] {
		return fmt.Errorf("topo_parameters %q: every list must have as many numbers as there are levels", clip(c.attr("topo_parameters")))
	}
	return s.xgft(c, names, p[1], p[2], p[3])
}

// xgft builds an extended generalised fat tree: a node below has up[l] parents,
// one above down[l] children. A node is the group of the level it is in and its
// position among the roots of that group.
func (s *Survey) xgft(c *element, names []string, down, up, links []int) error {
	groups, roots := len(names), 1 // of the level below
	for l := range down {
		if groups%down[l] != 0 {
			return fmt.Errorf("level %d: %d below do not fill groups of %d", l+1, groups, down[l])
		}
		for g := range groups {
			for r := range roots {
				below := fmt.Sprintf("%s-l%d-%d", c.attr("id"), l, g*roots+r)
				if l == 0 {
					below = names[g]
				}
				for k := range up[l] {
					parent := g/down[l]*roots*up[l] + r*up[l] + k
					if err := s.simgridLink(c, below, l > 0, fmt.Sprintf("%s-l%d-%d", c.attr("id"), l+1, parent), links[l]); err != nil {
						return err
					}
				}
			}
		}
		if groups, roots = groups/down[l], roots*up[l]; roots > maxSwitches {
			return fmt.Errorf("more than %d switches, the most that are read", maxSwitches)
		}
	}
	return nil
}

// simgridRate returns the rate and latency of a cluster's links.
func simgridRate(c *element) (rate shaping.Rate, latency shaping.Duration, err error) {
	if rate, err = parseRate(c.attr("bw")); err != nil {
		return 0, 0, fmt.Errorf("bw: %w", err)
	}
	if latency, err = parseTime(c.attr("lat")); err != nil {
		return 0, 0, fmt.Errorf("lat: %w", err)
	}
	return rate, latency, nil
}

func (s *Survey) simgridLink(c *element, below string, isSwitch bool, above string, count int) error {
	rate, latency, err := simgridRate(c)
	if err != nil {
		return err
	}
	a, err := s.add(below, isSwitch)
	if err != nil {
		return err
	}
	b, err := s.add(above, true)
	for range count {
		if err == nil {
			err = s.join(a, b, rate, latency)
		}
	}
	return err
}
