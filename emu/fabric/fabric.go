package fabric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// PortID numbers the ports of a cluster: those of node 0, node 1 …, then the
// shared ones, then the SMs, then the engines of switches.
type PortID = int32

// Shared owns the ports that belong to no node: the fabric participant does.
const Shared = -1

// Port is a queue with a rate.
type Port struct {
	Name string
	Rate shaping.Rate
	Node int // the node that owns it, or Shared
	// Spare: it carries all that can come to it, as long as no fault takes some of
	// its rate; until then nothing is booked on it. See Options.Pools.
	Spare bool
}

// Fabric is a cluster made concrete. It is read only.
type Fabric struct {
	Cluster emu.Cluster
	options Options
	link    catalog.Link
	nodes   []node
	gpuNode []int32 // GPU → node
	ports   []Port
	// net joins the NICs, nil with one node; its ports follow those of the nodes.
	net     *network.Network
	netBase PortID
	apart   bool // the fabric is custom, and nothing joins its rails
	smBase  PortID
	answer  shaping.Duration
}

type node struct {
	*inside
	slice     *slice // of a pod, when ICI leaves the node
	group     int    // index of the group
	place     int    // position within the group
	domain    int    // of NVLink, that it shares with other nodes; -1 for none
	firstGPU  int
	firstNIC  int // among the hosts of the network
	firstPort PortID
}

// maxSMs is how many channels a GPU can have; NCCL's MAXCHANNELS is 64 since
// 2.25. It spaces the port numbers of SMs.
const maxSMs = 64

// Options make a fabric ready for faults. All participants of a session need the
// same ones: emu/fault.Fabric derives them.
type Options struct {
	// Pools makes ports of what nothing contends for as well, links up that carry
	// all that hosts can send, so that faults can strike them. As long as none
	// does, times are the same to the picosecond; but there is a fabric participant.
	Pools bool
	// NoGDR are nodes whose NICs may not read and write the memory of GPUs, beyond
	// those that the cluster says.
	NoGDR []int
}

// New returns the ports and paths of c, or everything that is wrong with it.
func New(c emu.Cluster) (*Fabric, error) { return NewWith(c, Options{}) }

// NewWith is New with options.
func NewWith(c emu.Cluster, o Options) (*Fabric, error) {
	f := &Fabric{Cluster: c, options: o}
	if c.Nodes() == 0 {
		return nil, errors.New("cluster: no nodes; declare at least one group with count 1 or more")
	}
	if err := errors.Join(f.addNodes(), f.resolveFabric()); err != nil {
		return nil, err
	}
	if err := f.checkNICs(); err != nil {
		return nil, err
	}
	f.joinNodes()
	if err := f.join(); err != nil {
		return nil, err
	}
	if err := f.joinSlices(); err != nil {
		return nil, err
	}
	f.smBase = PortID(len(f.ports))
	f.answer = f.leastAnswer()
	return f, nil
}

// checkNICs reports nodes that nothing joins to the rest.
func (f *Fabric) checkNICs() error {
	for i := range f.nodes {
		if n := &f.nodes[i]; n.nics == 0 && f.together(i) != f.together((i+1)%len(f.nodes)) {
			return fmt.Errorf("nodes %d: node %d, %s, has no NIC that joins it to the others; give the machine NICs, or run it alone", len(f.nodes), i, n.m.Name)
		}
	}
	return nil
}

// leastAnswer returns a lower bound on the latency of anything one node may
// send another, data (a post, then the way to the next port that the sender
// does not own) and credits (a post, then the whole way) alike.
func (f *Fabric) leastAnswer() shaping.Duration {
	least := f.post() + 2*f.link.NIC + f.link.Switch
	if f.Contended() {
		least = f.post() + f.link.NIC + f.link.Switch
	}
	for i := range f.nodes {
		if n := &f.nodes[i]; n.domain >= 0 {
			least = min(least, n.leastNVLink())
		}
	}
	return least
}

// post returns the least that a post takes on any node.
func (f *Fabric) post() shaping.Duration {
	post := f.nodes[0].system.Proxy.Post
	for i := range f.nodes {
		post = min(post, f.nodes[i].system.Proxy.Post)
	}
	return post
}

func (f *Fabric) addNodes() error {
	var errs []error
	for u, g := range f.Cluster.Groups {
		in, err := f.insideOf(g)
		if err != nil {
			errs = append(errs, fmt.Errorf("nodes[%d].%w", u, err))
			continue
		}
		if g.Count < 1 {
			errs = append(errs, fmt.Errorf("nodes[%d].count %d: must be at least 1", u, g.Count))
		}
		if g.GPUs < 0 || g.GPUs > len(in.m.GPUs) {
			errs = append(errs, fmt.Errorf("nodes[%d].gpus %d: %s has 1 to %d", u, g.GPUs, in.m.Name, len(in.m.GPUs)))
		}
		if g.NICs < 0 || g.NICs > len(in.m.NICs) {
			errs = append(errs, fmt.Errorf("nodes[%d].nics %d: %s has 1 to %d", u, g.NICs, in.m.Name, len(in.m.NICs)))
		}
		if err := checkSlice(&g, in); err != nil {
			errs = append(errs, fmt.Errorf("nodes[%d]: %w", u, err))
		}
		if len(errs) > 0 {
			continue
		}
		staged := *in // before its ports are made
		staged.direct = false
		in.use(g.GPUs, g.NICs)
		staged.use(g.GPUs, g.NICs)
		for place := range g.Count {
			n := node{inside: in, group: u, place: place}
			if slices.Contains(f.options.NoGDR, len(f.nodes)) {
				n.inside = &staged
			}
			f.addNode(n)
		}
	}
	return errors.Join(errs...)
}

func (f *Fabric) addNode(n node) {
	n.firstGPU, n.domain = len(f.gpuNode), f.domainOf(&n)
	for range n.gpus {
		f.gpuNode = append(f.gpuNode, int32(len(f.nodes)))
	}
	f.nodes = append(f.nodes, n)
}

// joinNodes makes the ports of the nodes, whose NICs have the fabric's rate.
func (f *Fabric) joinNodes() {
	for i := range f.nodes {
		n := &f.nodes[i]
		n.firstPort = PortID(len(f.ports))
		for _, p := range n.ports {
			if p.wire {
				p.Rate = wireRate(&f.link, p.Rate)
			}
			f.ports = append(f.ports, Port{Name: fmt.Sprintf("node%d/%s", i, p.Name), Rate: p.Rate, Node: i})
		}
	}
}

// Nodes returns the number of servers, GPUs that of GPUs.
func (f *Fabric) Nodes() int { return len(f.nodes) }

// GPUs returns the number of GPUs in the cluster.
func (f *Fabric) GPUs() int { return len(f.gpuNode) }

// NodeOf returns the node of a GPU.
func (f *Fabric) NodeOf(gpu int) int { return int(f.gpuNode[gpu]) }

// Local returns a GPU's position on its node.
func (f *Fabric) Local(gpu int) int { return gpu - f.nodes[f.gpuNode[gpu]].firstGPU }

// System returns the catalog entry of a node.
func (f *Fabric) System(node int) *catalog.System { return f.nodes[node].system }

// GPURange returns the first GPU of a node and how many there are.
func (f *Fabric) GPURange(node int) (first, n int) { return f.nodes[node].firstGPU, f.nodes[node].gpus }

// NICs returns the number of NICs in use on a node.
func (f *Fabric) NICs(node int) int { return f.nodes[node].nics }

// Ports returns the number of ports, SMs left out.
func (f *Fabric) Ports() int { return len(f.ports) }

// Port returns a port of a node or of the fabric.
func (f *Fabric) Port(id PortID) Port { return f.ports[id] }

// SetRate changes the rate of a port in this process alone. It exists for tests:
// to show that times come from the process that owns the port, and follow from it.
func (f *Fabric) SetRate(id PortID, r shaping.Rate) { f.ports[id].Rate = r }

// NICEgress returns the port by which a node's NIC sends.
func (f *Fabric) NICEgress(node, nic int) PortID {
	n := &f.nodes[node]
	return n.nicPort(nic, wireOut)
}

// NICIngress returns the port by which a node's NIC receives.
func (f *Fabric) NICIngress(node, nic int) PortID {
	n := &f.nodes[node]
	return n.nicPort(nic, wireIn)
}

// SM returns the number of the copy engine of a (GPU, channel).
func (f *Fabric) SM(gpu, channel int) PortID {
	return f.smBase + PortID(gpu*maxSMs+channel%maxSMs)
}

// PortName returns the name of any port, SMs and engines of switches included.
func (f *Fabric) PortName(id PortID) string {
	if id < f.smBase {
		return f.ports[id].Name
	}
	if id >= f.switchBase() {
		return f.switchName(id - f.switchBase())
	}
	gpu, sm := int(id-f.smBase)/maxSMs, int(id-f.smBase)%maxSMs
	return fmt.Sprintf("node%d/gpu%d/sm%d", f.NodeOf(gpu), f.Local(gpu), sm)
}
