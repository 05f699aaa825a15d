package network

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/shaping"
)

// Planes are separate networks of one shape. Where routing spreads, a message is
// spread over them as well, and they are as good as one. Otherwise each flow
// keeps to one, and to the part of its NIC's rate that goes there.

// planar reports whether it matters which plane a flow takes.
func (n *Network) planar() bool { return n.Planes > 1 && !n.Routing.spreads() }

// addPlanes repeats the ports of the first plane for the others, and adds for
// each plane those by which NICs hang on it, up and down.
func (n *Network) addPlanes() {
	if !n.planar() {
		return
	}
	n.perPlane = len(n.Ports)
	one := slices.Clone(n.Ports)
	n.Ports = n.Ports[:0]
	for plane := range n.Planes {
		for _, p := range one {
			n.add(fmt.Sprintf("plane%d/%s", plane, p.Name), p.Rate)
		}
	}
	for plane := range n.Planes {
		for _, h := range n.Hosts {
			at := fmt.Sprintf("plane%d/node%d.nic%d", plane, h.Node, h.NIC)
			n.add(at+"/up", n.Rate)
			n.add(at+"/down", n.Rate)
		}
	}
}

// planeOf returns the plane that a flow takes.
func (n *Network) planeOf(to int, flow uint64) int {
	if n.Routing != Static {
		return n.draw(n.Planes, flow, 1<<34)
	}
	return to % n.Planes
}

// inPlane takes a path of the first plane to another. A NIC's own link is reckoned
// where it ends, behind the first switch, so that it lies with the network's ports
// and not with the NIC's.
func (n *Network) inPlane(p Path, from, to, plane int) Path {
	link := n.Planes*n.perPlane + 2*plane*len(n.Hosts)
	ports := []int{link + 2*from}
	for _, port := range p.Ports {
		ports = append(ports, plane*n.perPlane+port)
	}
	latency := []shaping.Duration{p.Latency[0], 0, 0}
	if last := len(p.Ports); last > 0 {
		latency = append(append(latency[:2], p.Latency[1:last]...), 0, p.Latency[last])
	}
	return Path{Ports: append(ports, link+2*to+1), Latency: latency, Switches: p.Switches}
}
