package survey

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// slurmKinds are the keys of a topology in topology.yaml, one of which it has.
var slurmKinds = []string{"tree", "block", "ring", "torus3d", "flat"}

// isSlurmYAML tells topology.yaml by its form: a list of mappings that have a
// topology's name, or one such mapping.
func isSlurmYAML(root *value) bool {
	if len(root.list) > 0 {
		root = root.list[0]
	} else if !slices.ContainsFunc(slurmKinds, func(k string) bool { return root.get(k) != nil }) {
		return false
	}
	return root.str("topology") != ""
}

// readSlurmYAML reads the topology of the list that is the cluster's default,
// the first when none is.
func readSlurmYAML(root *value) (*Survey, error) {
	s := &Survey{Kind: "Slurm topology.yaml"}
	all := root.list
	if all == nil {
		all = []*value{root}
	}
	chosen, marked := all[0], false
	for _, t := range all {
		if t.str("cluster_default") == "true" && !marked {
			chosen, marked = t, true
		}
	}
	if len(all) > 1 {
		s.Say(Odd, "the file has %d topologies of the same nodes; taken is %q", len(all), clip(chosen.str("topology")))
	}
	var rows []slurmRow
	switch {
	case chosen.get("tree") != nil:
		for _, w := range chosen.get("tree").get("switches").items() {
			rows = append(rows, slurmRow{line: w.line, name: w.str("switch"), switches: w.names("children"), nodes: w.names("nodes")})
		}
	case chosen.get("block") != nil:
		for _, w := range chosen.get("block").get("blocks").items() {
			rows = append(rows, slurmRow{line: w.line, name: w.str("block"), nodes: w.names("nodes"), block: true})
		}
	case chosen.get("ring") != nil:
		return s, s.slurmRings(chosen.get("ring"))
	case chosen.get("torus3d") != nil:
		return s, s.slurmTori(chosen.get("torus3d"))
	case chosen.get("flat") != nil:
		return nil, errors.New("Slurm's flat topology names no node and no switch; take --system and --nodes with a fabric instead")
	default:
		return nil, fmt.Errorf("line %d: topology %q has none of %s", chosen.line, clip(chosen.str("topology")), strings.Join(slurmKinds, ", "))
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("line %d: topology %q is empty", chosen.line, clip(chosen.str("topology")))
	}
	return s, s.slurm(rows)
}

// slurmRings joins the nodes of each ring in order, by a switch each, as on a
// torus.
func (s *Survey) slurmRings(v *value) error {
	for _, r := range v.get("rings").items() {
		names, err := hostlist(r.names("nodes"))
		if err == nil {
			err = s.torus(names, []int{len(names)}, 0, 0)
		}
		if err != nil {
			return fmt.Errorf("line %d: ring %q: %w", r.line, clip(r.str("ring")), err)
		}
	}
	return nil
}

// slurmTori joins the nodes of each torus; x runs fastest.
func (s *Survey) slurmTori(v *value) error {
	for _, t := range v.get("toruses").items() {
		names, err := hostlist(t.names("nodes"))
		var dims []int
		of := t.get("dims")
		for _, axis := range []string{"x", "y", "z"} {
			n, err := of.number(axis, 1, maxHosts)
			if err != nil {
				return err
			}
			dims = append(dims, n)
		}
		if err == nil {
			err = s.torus(names, dims, 0, 0)
		}
		if err != nil {
			return fmt.Errorf("line %d: torus %q: %w", t.line, clip(t.str("torus")), err)
		}
	}
	return nil
}

// torus puts each host on a switch of its own (in a torus every server forwards)
// and joins those in rings along each dimension.
func (s *Survey) torus(names []string, dims []int, rate shaping.Rate, latency shaping.Duration) error {
	need := 1
	for _, d := range dims {
		if need *= d; need > maxSwitches {
			return fmt.Errorf("more than %d nodes, the most that are read", maxSwitches)
		}
	}
	if need != len(names) || need == 0 {
		return fmt.Errorf("%d nodes do not fill %s", len(names), strings.Trim(fmt.Sprint(dims), "[]"))
	}
	places := make([]Place, len(names))
	for i, name := range names {
		host, err := s.add(name, false)
		if err != nil {
			return err
		}
		if places[i], err = s.add("router-"+name, true); err != nil {
			return err
		}
		if err := s.join(host, places[i], rate, latency); err != nil {
			return err
		}
	}
	step := 1
	for _, d := range dims {
		for i := range places {
			at := i / step % d
			next := i + step
			if at == d-1 {
				next = i - at*step
			}
			if d < 2 || d == 2 && at == 1 { // two are joined once
				continue
			}
			if err := s.join(places[i], places[next], rate, latency); err != nil {
				return err
			}
		}
		step *= d
	}
	s.Say(Assumed, "every node of the torus forwards: it stands as a host on a router of its own")
	if rate == 0 {
		s.Say(Missing, "the file says nothing of the links' rates and latencies")
	}
	return nil
}
