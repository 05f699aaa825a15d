package survey

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// isClab tells a containerlab topology by topology.nodes.
func isClab(root *value) bool { return root.get("topology").get("nodes") != nil }

// clabHosts are the kinds of containerlab that stand for servers; all others
// forward.
var clabHosts = []string{"linux", "k8s-kind", "ext-container", "generic_vm"}

// errTemplate refuses a file that is a program rather than a description.
var errTemplate = errors.New("this is a template (it has {{ … }}), not yet a topology: generate the file from it (containerlab does on deploy) and import that")

// readClab reads a containerlab topology.
func readClab(root *value) (*Survey, error) {
	s := &Survey{Kind: "containerlab topology"}
	topology := root.get("topology")
	for _, n := range topology.get("nodes").entries() {
		kind := clabKind(topology, n.value)
		if _, err := s.add(n.key, !slices.Contains(clabHosts, kind)); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.value.line, err)
		}
	}
	for _, l := range topology.get("links").items() {
		if err := s.clabLink(l); err != nil {
			return nil, fmt.Errorf("line %d: link: %w", l.line, err)
		}
	}
	s.Say(Missing, "a containerlab topology has no rates and no latencies")
	if len(s.Hosts) == 0 {
		s.Say(Missing, "no node is of a kind that is a server (%s)", strings.Join(clabHosts, ", "))
	}
	return s, nil
}

// clabKind returns the kind of a node: its own, its group's, or the default.
func clabKind(topology, node *value) string {
	if k := node.str("kind"); k != "" {
		return k
	}
	if k := topology.get("groups").get(node.str("group")).str("kind"); k != "" {
		return k
	}
	return topology.get("defaults").str("kind")
}

// clabLink reads a link in either form: endpoints: ["a:e1", "b:e1"], or with
// type: veth and endpoints of mappings with node and interface.
func (s *Survey) clabLink(l *value) error {
	ends := l.get("endpoints").items()
	if len(ends) != 2 {
		s.Say(Odd, "line %d: a link of %d endpoints leads out of the lab; left out", l.line, len(ends))
		return nil
	}
	var places [2]Place
	for i, e := range ends {
		name, _, _ := strings.Cut(e.text, ":")
		if name == "" {
			name = e.str("node")
		}
		p, ok := s.find(name)
		if !ok && slices.Contains([]string{"host", "mgmt-net", "macvlan", "vxlan"}, name) {
			s.Say(Odd, "line %d: a link to %s leads out of the lab; left out", l.line, name)
			return nil
		}
		if !ok {
			return fmt.Errorf("%q is none of topology.nodes", clip(name))
		}
		places[i] = p
	}
	return s.join(places[0], places[1], 0, 0)
}
