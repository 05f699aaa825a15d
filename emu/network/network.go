package network

import (
	"cmp"

	"github.com/railyard/railyard/shaping"
)

// Network joins NICs.
type Network struct {
	Config
	Hosts    []Host
	Switches []Switch
	Ports    []Port
	// Cables of one plane: between hosts and switches, between switches, and those
	// of the latter that join groups of a dragonfly.
	HostCables, TrunkCables, GlobalCables int

	way      way
	perPlane int // ports of each plane
	detour   *detour
}

// Switch is one switch.
type Switch struct {
	Name string
	Tier int // 0: has hosts; 1: spine; 2: core
	Used int // ports in use
}

// Port is a directed link, or a pool of them, that messages contend for.
type Port struct {
	Name string
	Rate shaping.Rate
	// Spare: it carries all that can come to it, and there is a port only because
	// of Config.Pools.
	Spare bool
}

// Path is the way from one NIC to another.
type Path struct {
	// Ports are those on the way. Latency has one more element than Ports: from
	// the sending NIC's egress to the first port, between ports, and from the
	// last to the receiving NIC's ingress; the NICs' own latency left out.
	Ports   []int
	Latency []shaping.Duration
	// Switches is how many switches it passes.
	Switches int
}

// way finds paths; each kind of network has its own.
type way interface {
	// path returns the way of a flow between two different hosts, or false when
	// there is none.
	path(from, to int, flow uint64) (Path, bool)
}

// New returns the network that joins the hosts, or why it cannot be built.
func New(c Config, hosts []Host) (*Network, error) {
	if err := c.check(hosts); err != nil {
		return nil, err
	}
	c.Oversubscription, c.Planes = max(c.Oversubscription, 1), max(c.Planes, 1)
	n := &Network{Config: c, Hosts: hosts}
	if n.planar() {
		n.Rate /= shaping.Rate(n.Planes)
	}
	if err := n.build(); err != nil {
		return nil, err
	}
	n.addPlanes()
	return n, nil
}

func (n *Network) build() error {
	switch n.Shape {
	case Dragonfly, DragonflyPlus:
		return n.buildDragonfly()
	case Torus:
		return n.buildTorus()
	case Custom:
		return n.buildCustom()
	default:
		return n.buildClos()
	}
}

// Path returns the way of a flow from one host to another, by their positions
// in Hosts; false when they are not joined. Flow tells messages apart that a
// hash of addresses and ports would.
func (n *Network) Path(from, to int, flow uint64) (Path, bool) {
	if n.detour != nil {
		return n.detour.path(from, to, flow)
	}
	p, ok := n.way.path(from, to, flow)
	if ok && n.planar() {
		p = n.inPlane(p, from, to, n.planeOf(to, flow))
	}
	return p, ok
}

// add adds a port and returns its number.
func (n *Network) add(name string, rate shaping.Rate) int {
	n.Ports = append(n.Ports, Port{Name: name, Rate: rate})
	return len(n.Ports) - 1
}

// draw returns a number below k that depends on the seed and what it is for.
func (n *Network) draw(k int, parts ...uint64) int {
	h := n.Seed ^ 0x9e3779b97f4a7c15
	for _, p := range parts {
		h = (h ^ p) * 0xbf58476d1ce4e5b9
		h ^= h >> 29
		h *= 0x94d049bb133111eb
		h ^= h >> 32
	}
	return int(h % uint64(k))
}

// ceil returns a/b, rounded up.
func ceil(a, b int) int { return (a + b - 1) / b }

// atLeast returns the least divisor of n that is k or more, n when there is none:
// links that go to that many switches go evenly.
func atLeast(k, n int) int {
	for d := cmp.Or(max(k, 1), 1); d < n; d++ {
		if n%d == 0 {
			return d
		}
	}
	return n
}
