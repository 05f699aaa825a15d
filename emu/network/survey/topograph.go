package survey

import (
	"fmt"
	"strings"
)

// isTopograph tells a cluster model by its two keys. Old ones say besides which
// plugin they are for (topology: topology/tree).
func isTopograph(root *value) bool {
	blocks := root.get("blocks")
	return root.get("switches") != nil && (blocks != nil || root.get("nodes") != nil || root.get("capacity_blocks") != nil) && root.get("topology").entries() == nil
}

// readTopograph reads a model: switches with those below them, and blocks of
// nodes, each on a switch and in an NVLink domain.
func readTopograph(root *value) (*Survey, error) {
	s := &Survey{Kind: "topograph model", Logical: true}
	if err := s.topographSwitches(root.get("switches")); err != nil {
		return nil, err
	}
	blocks := root.get("blocks")
	if blocks == nil {
		blocks = root.get("capacity_blocks")
	}
	on := topographBlocks(root.get("switches"))
	for _, b := range blocks.items() {
		at := b.str("switch")
		if at == "" {
			at = on[b.str("name")]
		}
		if err := s.topographBlock(b, at); err != nil {
			return nil, fmt.Errorf("line %d: block: %w", b.line, err)
		}
	}
	s.Say(Missing, "the model says nothing of links: how many there are between two switches, their rates and latencies")
	return s, nil
}

// named returns the entries of a list or mapping by name: mappings with a name,
// or under one.
func named(v *value) []pair {
	all := v.entries()
	for _, w := range v.items() {
		if name := w.str("name"); name != "" {
			all = append(all, pair{name, w})
		}
	}
	return all
}

// topographSwitches adds all switches, and then what is below each: other names,
// or switches written out in their place.
func (s *Survey) topographSwitches(v *value) error {
	all := named(v)
	for _, p := range all {
		if _, err := s.add(p.key, true); err != nil {
			return fmt.Errorf("line %d: %w", p.value.line, err)
		}
	}
	for _, p := range all {
		at, _ := s.find(p.key)
		for _, inner := range named(p.value.get("switches")) {
			if err := s.below(inner.key, true, at); err != nil {
				return fmt.Errorf("line %d: %w", inner.value.line, err)
			}
		}
		if err := s.topographSwitches(p.value.get("switches")); err != nil {
			return err
		}
		if err := s.topographSwitch(at, p.value); err != nil {
			return fmt.Errorf("line %d: switch %q: %w", p.value.line, clip(p.key), err)
		}
	}
	return nil
}

// topographBlocks returns which switch names a block of nodes as below it.
func topographBlocks(v *value) map[string]string {
	on := map[string]string{}
	for _, p := range named(v) {
		for _, b := range p.value.get("capacity_blocks").items() {
			on[b.text] = p.key
		}
	}
	return on
}

// topographSwitch joins a switch with the names that are below it.
func (s *Survey) topographSwitch(at Place, v *value) error {
	for _, key := range []string{"switches", "nodes"} {
		names, err := hostlist(v.names(key))
		if err != nil {
			return err
		}
		for _, n := range names {
			if err := s.below(n, key == "switches", at); err != nil {
				return err
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

// topographBlock reads one block, on the switch with a name unless that is
// empty. Its type is what its hosts are.
func (s *Survey) topographBlock(b *value, on string) error {
	names, err := hostlist(b.names("nodes"))
	if err != nil {
		return err
	}
	var at Place
	if on != "" {
		if _, known := s.find(on); !known {
			s.Say(Odd, "line %d: switch %s of a block is none of switches", b.line, clip(on))
		}
		if at, err = s.add(on, true); err != nil {
			return err
		}
	}
	for _, n := range names {
		p, err := s.add(n, false)
		if err == nil && on != "" {
			err = s.join(p, at, 0, 0)
		}
		if err != nil {
			return err
		}
		s.Hosts[p.Index].Model = b.str("type")
	}
	domain := topographDomain(b)
	if domain == "" {
		s.Say(Missing, "line %d: a block of %d nodes names no NVLink domain", b.line, len(names))
		return nil
	}
	return s.domain(domain, names)
}

// topographDomain returns the NVLink domain of a block: the value of nvlink, of an
// annotation whose key ends in /domain, or of a label that ends in /accelerator.
func topographDomain(b *value) string {
	for _, at := range []struct{ in, end string }{{"annotations", "/domain"}, {"labels", "/accelerator"}} {
		for _, p := range b.get(at.in).entries() {
			if strings.HasSuffix(p.key, at.end) {
				return p.value.text
			}
		}
	}
	return b.str("nvlink")
}
