package survey

import (
	"fmt"
	"strings"
)

// isTopograph tells a cluster model by its two keys.
func isTopograph(root *value) bool {
	blocks := root.get("blocks")
	return root.get("switches") != nil && (blocks != nil || root.get("nodes") != nil || root.get("capacity_blocks") != nil) && root.get("topology") == nil
}

// readTopograph reads a model: switches with those below them, and blocks of
// nodes, each on a switch and in an NVLink domain.
func readTopograph(root *value) (*Survey, error) {
	s := &Survey{Kind: "topograph model", Logical: true}
	switches := topographSwitches(root.get("switches"))
	for _, p := range switches {
		if _, err := s.add(p.key, true); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.value.line, err)
		}
	}
	for _, p := range switches {
		if err := s.topographSwitch(p.key, p.value); err != nil {
			return nil, fmt.Errorf("line %d: switch %q: %w", p.value.line, clip(p.key), err)
		}
	}
	blocks := root.get("blocks")
	if blocks == nil {
		blocks = root.get("capacity_blocks")
	}
	for _, b := range blocks.items() {
		if err := s.topographBlock(b); err != nil {
			return nil, fmt.Errorf("line %d: block: %w", b.line, err)
		}
	}
	s.Say(Missing, "the model says nothing of links: how many there are between two switches, their rates and latencies")
	return s, nil
}

// topographSwitches returns the switches by name, a list or a mapping.
func topographSwitches(v *value) []pair {
	all := v.entries()
	for _, w := range v.items() {
		all = append(all, pair{w.str("name"), w})
	}
	return all
}

func (s *Survey) topographSwitch(name string, v *value) error {
	at, _ := s.find(name)
	for _, isSwitch := range []bool{true, false} {
		key := "nodes"
		if isSwitch {
			key = "switches"
		}
		for _, w := range v.get(key).items() {
			names, err := hostlist(w.text)
			if err != nil {
				return err
			}
			for _, n := range names {
				if err := s.below(n, isSwitch, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// below joins a switch or host with the switch above it.
func (s *Survey) below(name string, isSwitch bool, at Place) error {
	p, err := s.add(name, isSwitch)
	if err != nil {
		return err
	}
	return s.join(p, at, 0, 0)
}

// topographBlock reads one block. Its domain stands in an annotation whose key
// ends in /domain, or is the value of nvlink.
func (s *Survey) topographBlock(b *value) error {
	var names []string
	for _, w := range b.get("nodes").items() {
		some, err := hostlist(w.text)
		if err != nil {
			return err
		}
		if names = append(names, some...); len(names) > maxHosts {
			return fmt.Errorf("more than %d nodes, the most that are read", maxHosts)
		}
	}
	if name := b.str("switch"); name != "" {
		at, err := s.add(name, true)
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := s.below(n, false, at); err != nil {
				return err
			}
		}
	}
	domain := b.str("nvlink")
	for _, p := range b.get("annotations").entries() {
		if strings.HasSuffix(p.key, "/domain") {
			domain = p.value.text
		}
	}
	if domain == "" {
		s.Say(Missing, "line %d: a block of %d nodes names no NVLink domain", b.line, len(names))
		for _, n := range names {
			if _, err := s.add(n, false); err != nil {
				return err
			}
		}
		return nil
	}
	return s.domain(domain, names)
}
