package simtest

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Case is a random cluster, and batches of runs on it.
type Case struct {
	Seed    uint64
	Cluster emu.Cluster
	Batches []emu.Batch
}

// Draw returns the case of a seed. Most are small; a few are not.
func Draw(seed uint64) Case {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := Case{Seed: seed, Cluster: drawCluster(rng)}
	f, err := fabric.New(c.Cluster)
	if err != nil {
		panic(fmt.Sprintf("simtest: seed %d draws a cluster that cannot be built: %v", seed, err))
	}
	for range 1 + rng.IntN(2) {
		c.Batches = append(c.Batches, drawBatch(rng, f))
	}
	for _, b := range c.Batches {
		for i := range b.Runs {
			b.Runs[i].Real = real(f, &b.Runs[i])
		}
	}
	return c
}

// sliceElements is how many elements a slice of a scale model has, and
// mostElements how many all ranks of a run may have together.
const (
	sliceElements = 16
	mostElements  = 1 << 19
)

// real returns how many elements of a run to move: a scale model's, or none
// where that would take too long.
func real(f *fabric.Fabric, r *emu.Run) int64 {
	p, err := r.Build(f.Shape(r.Comm))
	if err != nil {
		panic(fmt.Sprintf("simtest: a run that cannot be built: %v", err))
	}
	g := p.Size(r.Count, r.DType.Size())
	n := g.Scale(int64(g.Loops) * int64(g.Chunks) * int64(g.Slices) * sliceElements).Count
	in, out := r.Op.Parts(p.Ranks)
	if n*int64(in+out)*int64(p.Ranks) > mostElements {
		return 0
	}
	return n
}

func drawCluster(rng *rand.Rand) emu.Cluster {
	c := emu.Cluster{Name: "drawn", Seed: rng.Uint64()}
	for range 1 + rng.IntN(3) {
		g := emu.Group{Count: 1 + rng.IntN(4), System: "dgx-h100", GPUs: 1 + rng.IntN(8)}
		g.NICs = 1 + rng.IntN(g.GPUs)
		c.Groups = append(c.Groups, g)
	}
	drawTrays(&c)
	c.Fabric.Link = []string{"", "edr", "hdr", "ndr", "xdr"}[rng.IntN(5)]
	c.Fabric.Oversubscription = []int{1, 1, 2, 4, 7}[rng.IntN(5)]
	// Shapes have a stream of their own: another shape leaves the runs as they are.
	shapes := rand.New(rand.NewPCG(c.Seed, 1))
	for base := c.Fabric; shapes.IntN(3) > 0; {
		c.Fabric = drawFabric(shapes, base)
		if _, err := fabric.New(c); err == nil {
			break
		}
		c.Fabric = base
	}
	// So has forwarding.
	ways := rand.New(rand.NewPCG(c.Seed, 2))
	plain := c.Fabric
	drawForwarding(ways, &c.Fabric)
	if _, err := fabric.New(c); err != nil {
		c.Fabric = plain // rails that nothing joins
	}
	return c
}

// drawTrays makes some clusters' groups NVLink domains of several servers. It has
// a stream of its own, as shapes have.
func drawTrays(c *emu.Cluster) {
	rng := rand.New(rand.NewPCG(c.Seed, 3))
	system := []string{"gb200-nvl72", "gb300-nvl72", "vera-rubin-nvl72", "nvl576"}[rng.IntN(4)]
	if rng.IntN(4) > 0 {
		return
	}
	for i := range c.Groups {
		g := &c.Groups[i]
		g.System, g.GPUs = system, min(g.GPUs, 4)
		g.NICs = min(g.NICs, g.GPUs)
	}
}

// drawPods draws slices of TPU pods, alone or beside a server that NICs join.
func drawPods(rng *rand.Rand, seed uint64) emu.Cluster {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	k := emu.Cluster{Name: "drawn", Seed: seed}
	for range 1 + rng.IntN(2) {
		g := emu.Group{System: pick("tpu-v4", "tpu-v5p", "tpu-ironwood"), GPUs: rng.IntN(5)}
		g.Torus = [][]int{{2, 2, 2}, {2, 2, 4}, {4, 2, 1}, {4, 4, 1}, {2, 4, 2}, {2, 2, 8}}[rng.IntN(6)]
		g.Count = g.Hosts()
		for d, size := range g.Torus {
			if size%4 == 0 && rng.IntN(2) == 0 {
				g.Wrap += "xyz"[d : d+1]
			}
		}
		for range rng.IntN(3) {
			g.Dark = append(g.Dark, pick("x", "y", "z")+pick("0", "1", "4", "5", "0@0", "1@1"))
		}
		k.Groups = append(k.Groups, g)
	}
	if rng.IntN(4) == 0 {
		k.Groups = append(k.Groups, emu.Group{Count: 1, System: "dgx-h100", GPUs: 2})
	}
	if _, err := fabric.New(k); err != nil { // dark circuits may cut a slice apart
		for i := range k.Groups {
			k.Groups[i].Dark = nil
		}
	}
	return k
}

// drawForwarding draws whether GPUs forward and rings change rails.
func drawForwarding(rng *rand.Rand, f *emu.Fabric) {
	f.PXN = []emu.PXN{emu.PXNDefault, emu.PXNDefault, emu.PXNOn, emu.PXNOff}[rng.IntN(4)]
	f.CrossNIC = emu.CrossNIC(rng.IntN(4))
}

// drawFabric draws a fabric, which need not be one that can be built.
func drawFabric(rng *rand.Rand, f emu.Fabric) emu.Fabric {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	f.Link = pick(f.Link, f.Link, "roce-400", "uec-800", "slingshot-11", "efa")
	f.Kind = pick("rail-optimized", "rail-only", "single", "fat-tree", "fat-tree", "dragonfly", "dragonfly", "dragonfly+", "torus")
	f.Routing = pick("", "adaptive", "static", "hash", "spray", "valiant")
	f.Planes = []int{0, 0, 2, 4}[rng.IntN(4)]
	f.HostsPerSwitch = rng.IntN(5)
	f.Unit = rng.IntN(4)
	if rng.IntN(2) == 0 {
		f.Dims = []int{1 + rng.IntN(4), 1 + rng.IntN(4), 1 + rng.IntN(3)}[:1+rng.IntN(3)]
	}
	return fitting(f)
}

// fitting leaves out what a shape has no place for, and is refused with it.
func fitting(f emu.Fabric) emu.Fabric {
	rails, tree := strings.HasPrefix(f.Kind, "rail"), f.Kind == "fat-tree"
	if !rails && !tree {
		f.Oversubscription = 1
	}
	if !rails {
		f.Unit = 0
	}
	if !tree && !strings.HasPrefix(f.Kind, "dragonfly") {
		f.HostsPerSwitch = 0
	}
	if f.Kind != "torus" {
		f.Dims = nil
	}
	return f
}

func drawBatch(rng *rand.Rand, f *fabric.Fabric) emu.Batch {
	gpus := f.All()
	comms := [][]int{gpus}
	switch rng.IntN(4) {
	case 0:
		comms = [][]int{subset(rng, gpus), subset(rng, gpus)} // may share GPUs
	case 1:
		comms = split(rng, gpus)
	case 2:
		first, n := f.GPURange(rng.IntN(f.Nodes())) // one node, beside all
		comms = append(comms, gpus[first:first+n])
	}
	var b emu.Batch
	for _, comm := range comms {
		b.Runs = append(b.Runs, drawRun(rng, f.Shape(comm), comm))
	}
	return b
}

func drawRun(rng *rand.Rand, s collective.Shape, comm []int) emu.Run {
	r := emu.Run{Comm: comm, Seed: rng.Uint64(),
		InPlace: rng.IntN(2) == 0, Iterations: 1 + rng.IntN(3), Sync: rng.IntN(4) == 0,
		Launch: shaping.Duration(rng.IntN(40)) * shaping.Microsecond,
		Offset: shaping.Time(rng.IntN(20)) * shaping.Time(shaping.Microsecond)}
	drawUse(rng, &r, s)
	r.InPlace = r.InPlace && r.Op.InPlace()
	r.Options.Channels, r.Options.Root = 1+rng.IntN(12), rng.IntN(len(comm))
	r.Options.Slices = []int{0, 1, 2, 4}[rng.IntN(4)]
	if _, err := r.Build(s); err != nil { // so many slices are not for every algorithm
		r.Options.Slices = 0
	}
	r.Count = drawCount(rng, len(comm))
	return r
}

// drawUse draws an algorithm that the shape allows, and then what it is to do:
// algorithms that do little would otherwise be drawn too seldom.
func drawUse(rng *rand.Rand, r *emu.Run, s collective.Shape) {
	types, ops := collective.DTypes(), collective.RedOps()
	var fit []collective.Algorithm
	for _, a := range collective.Algorithms() {
		if a.Check(collective.Use{Op: a.Ops[0]}, s) == nil {
			fit = append(fit, a)
		}
	}
	a := fit[rng.IntN(len(fit))]
	for {
		u := collective.Use{Op: a.Ops[rng.IntN(len(a.Ops))], DType: types[rng.IntN(len(types))], RedOp: ops[rng.IntN(len(ops))],
			Protocol: collective.Protocol(rng.IntN(3))}
		if a.Check(u, s) == nil {
			r.Algorithm, r.Op, r.DType, r.RedOp, r.Options.Protocol = a.Name, u.Op, u.DType, u.RedOp, u.Protocol
			return
		}
	}
}

// drawCount favours the edges: nothing, less than one element a rank, sizes
// that do not divide.
func drawCount(rng *rand.Rand, ranks int) int64 {
	switch rng.IntN(6) {
	case 0:
		return int64(rng.IntN(3))
	case 1:
		return int64(rng.IntN(2*ranks + 1))
	case 2:
		return int64(rng.IntN(1 << 20))
	default:
		return int64(rng.IntN(1 << (8 + rng.IntN(9))))
	}
}

func subset(rng *rand.Rand, gpus []int) []int {
	p := append([]int(nil), gpus...)
	rng.Shuffle(len(p), func(i, j int) { p[i], p[j] = p[j], p[i] })
	return p[:1+rng.IntN(len(p))]
}

func split(rng *rand.Rand, gpus []int) [][]int {
	if len(gpus) == 1 {
		return [][]int{gpus}
	}
	at := 1 + rng.IntN(len(gpus)-1)
	return [][]int{gpus[:at], gpus[at:]}
}

// Host draws how the nodes of the case are spread over n participants, each of
// which hosts at least one.
func (c *Case) Host(n int, seed uint64) []int {
	return spread(rand.New(rand.NewPCG(c.Seed, seed)), c.Cluster.Nodes(), n)
}

// spread draws which of n participants hosts each node.
func spread(rng *rand.Rand, nodes, n int) []int {
	host := make([]int, nodes)
	for i := range host {
		host[i] = i % n
		if i >= n {
			host[i] = rng.IntN(n)
		}
	}
	rng.Shuffle(len(host), func(i, j int) { host[i], host[j] = host[j], host[i] })
	return host
}

// String prints all that was drawn.
func (c Case) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n", c.Seed)
	for i, g := range c.Cluster.Groups {
		fmt.Fprintf(&b, "  group %d: %d × %s, %d GPUs, %d NICs, slice %+v\n", i, g.Count, g.System, g.GPUs, g.NICs, g.Slice)
	}
	fmt.Fprintf(&b, "  fabric: %+v\n", c.Cluster.Fabric)
	for i, batch := range c.Batches {
		for j, r := range batch.Runs {
			fmt.Fprintf(&b, "  batch %d run %d: %s %s %s ×%d slices %d, %d × %s %s, in place %v, %d iterations, sync %v, launch %d ps, offset +%d ps, ranks on GPUs %v\n",
				i, j, r.Op, r.Algorithm, r.Options.Protocol, r.Options.Channels, r.Options.Slices, r.Count, r.DType, r.RedOp,
				r.InPlace, r.Iterations, r.Sync, int64(r.Launch), int64(r.Offset), r.Comm)
		}
	}
	return b.String()
}
