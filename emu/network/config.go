package network

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// Shape is a way to join servers.
type Shape uint8

// The shapes.
const (
	Single        Shape = iota // one switch
	FatTree                    // NICs in order on leaves, spines above, cores above those
	RailOptimized              // NIC i of every server of a unit meets at leaf i
	RailOnly                   // as that, but rails never meet
	Dragonfly                  // groups of routers, all joined; groups all joined
	DragonflyPlus              // groups of leaves and spines; spines join groups
	Torus                      // a ring in every dimension
	Custom                     // any graph
	numShapes
)

var shapeNames = [numShapes]string{
	Single: "single", FatTree: "fat-tree", RailOptimized: "rail-optimized", RailOnly: "rail-only",
	Dragonfly: "dragonfly", DragonflyPlus: "dragonfly+", Torus: "torus", Custom: "custom",
}

// String returns the shape's name in cluster files.
func (s Shape) String() string { return name(shapeNames[:], int(s)) }

// Routing is how a switch chooses among equally good links.
type Routing uint8

// The routings.
const (
	// Adaptive sends each packet where there is room: all links of a kind are
	// one pool. What InfiniBand does when asked, and NCCL asks above 8 KiB.
	Adaptive Routing = iota
	// Static chooses by destination (InfiniBand's tables, d-mod-k).
	Static
	// Hash chooses by a hash of the flow (Ethernet's ECMP), drawn from the seed.
	Hash
	// Spray sends each packet another way (Ultra Ethernet, Slingshot); like
	// Adaptive it fills all links evenly.
	Spray
	// Valiant goes by a random group in the middle (dragonfly), drawn from the seed.
	Valiant
	numRoutings
)

var routingNames = [numRoutings]string{Adaptive: "adaptive", Static: "static", Hash: "hash", Spray: "spray", Valiant: "valiant"}

// String returns the routing's name in cluster files.
func (r Routing) String() string { return name(routingNames[:], int(r)) }

// spreads reports whether messages fill parallel links evenly.
func (r Routing) spreads() bool { return r == Adaptive || r == Spray }

// climbs reports whether leaves have links up to spines.
func (s Shape) climbs() bool { return s == FatTree || s == RailOptimized || s == RailOnly }

// ParseShape returns the shape of a name in cluster files.
func ParseShape(s string) (Shape, error) {
	i := slices.Index(shapeNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("%q must be one of %s", s, strings.Join(shapeNames[:], ", "))
	}
	return Shape(i), nil
}

// ParseRouting returns the routing of a name in cluster files.
func ParseRouting(s string) (Routing, error) {
	i := slices.Index(routingNames[:], s)
	if i < 0 {
		return 0, fmt.Errorf("%q must be one of %s", s, strings.Join(routingNames[:], ", "))
	}
	return Routing(i), nil
}

// Routings returns the names of all routings.
func Routings() []string { return slices.Clone(routingNames[:]) }

func name(names []string, i int) string {
	if i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// Config is what a network is made of.
type Config struct {
	Shape   Shape
	Routing Routing
	// Rate is the usable rate of a link, in one direction; Radix the number of
	// such links that a switch has.
	Rate  shaping.Rate
	Radix int
	// Hop is the latency of a switch with the cable behind it, Global that of a
	// long cable between groups, on top.
	Hop, Global shaping.Duration
	// Oversubscription is how many times more hosts a leaf has room for than links
	// up, which are rounded up to whole ones. 0 means 1. What room is: PerSwitch, the
	// largest unit, or what the radix makes of it. Leaves with fewer hosts have as
	// many links.
	Oversubscription int
	// Unit is how many servers share a set of leaves in a rail-optimised
	// network; 0: as many as fit. UnitOf says of each server instead which unit
	// it is in; nil: Unit after Unit, in order.
	Unit   int
	UnitOf []int
	// Aligned: no message goes from one rail to another, so that the links up of a
	// single unit carry nothing.
	Aligned bool
	// PerSwitch is how many hosts a switch of a fat-tree, dragonfly or dragonfly+ has;
	// 0: as many as its radix makes balanced.
	PerSwitch int
	// Planes is how many separate networks there are, each NIC having a port in
	// every one at 1/Planes of Rate, of which Radix counts a switch's. 0 means 1.
	Planes int
	// Dims are the sizes of a torus; nil: as close to a cube as fits.
	Dims []int
	// Open says of each dimension of a torus whether it is a row, not a ring; nil:
	// none is. Cut are pairs of neighbours, positions of switches, whose link is
	// missing: messages then take shortest ways about them.
	Open []bool
	Cut  [][2]int
	// Links are those of a Custom network, between Switches; a Host's Switch
	// says where it hangs.
	Switches []string
	Links    []Cable
	Seed     uint64
	// Pools adds ports that nothing contends for as well: pools of links up that
	// carry all that the hosts below can send. A fault may strike them.
	Pools bool
}

// Cable is a link of a Custom network, both directions.
type Cable struct {
	A, B    int // switches
	Count   int // parallel links, at least 1
	Rate    shaping.Rate
	Latency shaping.Duration
}

// Host is a NIC.
type Host struct {
	Node, NIC int
	Switch    int // of a Custom network
}

func (c *Config) check(hosts []Host) error {
	switch {
	case c.Shape >= numShapes:
		return fmt.Errorf("shape %d: unknown", c.Shape)
	case c.Routing >= numRoutings:
		return fmt.Errorf("routing %d: unknown", c.Routing)
	case c.Oversubscription < 0 || c.Planes < 0 || c.Unit < 0 || c.PerSwitch < 0:
		return fmt.Errorf("oversubscription %d, planes %d, unit %d, %d hosts a switch: must not be negative", c.Oversubscription, c.Planes, c.Unit, c.PerSwitch)
	case c.Rate <= 0 || c.Radix < 2:
		return fmt.Errorf("a switch of %d ports at %v: needs at least 2, with a rate", c.Radix, c.Rate)
	case c.Routing == Valiant && c.Shape != Dragonfly && c.Shape != DragonflyPlus:
		return fmt.Errorf("routing valiant: goes by a group in the middle, and a %s network has no groups; take it with dragonfly", c.Shape)
	case c.Oversubscription > 1 && !c.Shape.climbs():
		return fmt.Errorf("oversubscription %d: says how many more NICs than links up a leaf has, and a %s network has no such leaves; leave it out, or take fat-tree or rail-optimized", c.Oversubscription, c.Shape)
	case c.Unit > 0 && c.Shape != RailOptimized && c.Shape != RailOnly:
		return fmt.Errorf("unit %d: servers that share a leaf for each rail, which a %s network does not have; leave it out, or take rail-optimized", c.Unit, c.Shape)
	case c.PerSwitch > 0 && c.Shape != FatTree && c.Shape != Dragonfly && c.Shape != DragonflyPlus:
		return fmt.Errorf("%d hosts a switch: a %s network has no choice; leave it out, or take fat-tree or dragonfly", c.PerSwitch, c.Shape)
	case len(c.Dims) > 0 && c.Shape != Torus:
		return fmt.Errorf("dims %v: those of a torus, and this is a %s network; leave them out", c.Dims, c.Shape)
	case len(hosts) == 0:
		return fmt.Errorf("no NICs to join")
	}
	return nil
}
