package survey

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// isClab tells a containerlab topology by topology.nodes.
func isClab(root *value) bool { return root.get("topology").get("nodes") != nil }

// clabHosts are the kinds of containerlab that stand for servers; all others
// forward.
var clabHosts = []string{"linux", "k8s-kind", "ext-container", "generic_vm"}

// Routers that run in a Linux container are of kind linux: what tells them is the
// image, or that name or group is a switch's.
var (
	clabRouter = regexp.MustCompile(`(?i)frr|vyos|bird|gobgp|cumulus|sonic|crpd|openswitch|quagga|holo`)
	clabSwitch = regexp.MustCompile(`(?i)^(.*[^a-z])?(super-?spine|spine|leaf|tor|router|rtr|switch|sw|core|agg)s?([^a-z].*)?$`)
	clabServer = regexp.MustCompile(`(?i)host|server|srv|client|pc\d|node|gpu`)
)

// clabForwards reports whether a node of a server's kind stands for a switch.
func clabForwards(topology *value, n pair) bool {
	for _, name := range []string{n.key, n.value.str("group")} {
		if clabSwitch.MatchString(name) && !clabServer.MatchString(n.key) {
			return true
		}
	}
	return clabRouter.MatchString(clabField(topology, n.value, "image"))
}

// errTemplate refuses a file that is a program rather than a description.
var errTemplate = errors.New("this is a template (it has {{ … }}), not yet a topology: generate the file from it (containerlab does on deploy) and import that")

// readClab reads a containerlab topology.
func readClab(root *value) (*Survey, error) {
	s := &Survey{Kind: "containerlab topology"}
	topology := root.get("topology")
	var routers []string
	for _, n := range topology.get("nodes").entries() {
		host := slices.Contains(clabHosts, clabField(topology, n.value, "kind"))
		if host && clabForwards(topology, n) {
			host, routers = false, append(routers, n.key)
		}
		if _, err := s.add(n.key, !host); err != nil {
			return nil, fmt.Errorf("line %d: %w", n.value.line, err)
		}
	}
	if routers != nil {
		s.Say(Assumed, "%d nodes of a kind that is a server are taken as switches by their image, name or group: %s", len(routers), list(routers))
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

// clabField returns a field of a node: its own, its group's, its kind's, or the
// default.
func clabField(topology, node *value, field string) string {
	if v := node.str(field); v != "" {
		return v
	}
	if v := topology.get("groups").get(node.str("group")).str(field); v != "" {
		return v
	}
	if field != "kind" {
		kind := clabField(topology, node, "kind")
		if v := topology.get("kinds").get(kind).str(field); v != "" {
			return v
		}
	}
	return topology.get("defaults").str(field)
}

// clabLink reads a link in either form: endpoints: ["a:e1", "b:e1"], or with
// type: veth and endpoints of mappings with node and interface.
func (s *Survey) clabLink(l *value) error {
	ends := l.get("endpoints").items()
	if kind := l.str("type"); l.get("endpoint") != nil {
		s.Say(Odd, "line %d: a link of type %s leads out of the lab; left out", l.line, clip(kind))
		return nil
	}
	if len(ends) != 2 {
		s.Say(Odd, "line %d: a link of %d endpoints leads out of the lab; left out", l.line, len(ends))
		return nil
	}
	var places [2]Place
	for i, e := range ends {
		name := e.text[:max(strings.LastIndexByte(e.text, ':'), 0)]
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
