package verbs

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/shaping"
)

// ncclLog writes what NCCL_DEBUG asks for, in the words of NCCL's log, so that
// people and scripts that read one can read the other. All of it comes from the
// plans and routes that run.
type ncclLog struct {
	w       *bufio.Writer
	debug   *cli.Debug
	f       *fabric.Fabric
	devices []coordinator.Device
	comm    []int // GPU of each rank
	shape   collective.Shape
	k       tuner.Communicator
	tuning  *tuner.Settings
}

// debug writes the log of a communicator's creation, when one is wanted.
func (t *table) debug(s *coordinator.Started) error {
	d := &t.config.Debug
	if d.Out == nil || len(s.Devices) == 0 {
		return nil
	}
	f, err := fabric.New(s.Cluster)
	if err != nil {
		return err
	}
	l := &ncclLog{w: bufio.NewWriter(d.Out), debug: d, f: f, devices: s.Devices, tuning: &t.config.Tuning}
	for _, v := range s.Devices {
		first, _ := f.GPURange(v.Node)
		l.comm = append(l.comm, first+v.GPU)
	}
	l.shape = f.Shape(l.comm)
	spec := sweep.Spec{Tuning: t.config.Tuning, Channels: t.config.Channels}
	l.k = spec.Communicator(f, l.shape)
	l.k.Channels = spec.Tuning.Bound(l.k.Channels)
	if spec.Channels > 0 {
		l.k.Channels = spec.Channels
	}
	l.version()
	if !d.Informs() {
		return l.w.Flush()
	}
	if d.Prints("ENV") {
		for _, v := range t.config.Env {
			if name, value, _ := strings.Cut(v, "="); strings.HasPrefix(name, "NCCL_") && !strings.HasPrefix(name, "NCCL_TESTS_") {
				l.say(0, "%s set by environment to %s.", name, value)
			}
		}
	}
	if err := l.created(); err != nil {
		return err
	}
	return l.w.Flush()
}

// version says which NCCL is followed, at every level.
func (l *ncclLog) version() {
	v := ncclVersion(l.k.Version)
	fmt.Fprintf(l.w, "NCCL version %d.%d.%d, emulated\n", v/10000, v/100%100, v%100)
}

// say writes a line of a rank.
func (l *ncclLog) say(rank int, format string, args ...any) {
	d := &l.devices[rank]
	fmt.Fprintf(l.w, "node%d:%d:%d [%d] NCCL INFO %s\n", d.Node, d.PID, d.PID, d.GPU, fmt.Sprintf(format, args...))
}

// created writes what NCCL logs while it creates a communicator.
func (l *ncclLog) created() error {
	o := collective.Options{Channels: l.k.Channels}
	rings, err := collective.Build(tuner.Ring, collective.AllReduce, l.shape, o)
	if err != nil {
		return err
	}
	trees, err := collective.Build(tuner.Tree, collective.AllReduce, l.shape, o)
	if err != nil {
		return err
	}
	l.direct()
	l.graph()
	if l.debug.Prints("INIT") {
		l.begin(rings, trees)
	}
	l.connect(rings)
	if l.debug.Prints("INIT") {
		l.each("Connected all rings")
	}
	if rings.Ranks > 1 {
		l.connect(trees)
	}
	if l.debug.Prints("INIT") {
		l.each("Connected all trees")
		l.done()
	}
	return nil
}

func (l *ncclLog) each(format string, args ...any) {
	for r := range l.devices {
		l.say(r, format, args...)
	}
}

// NCCL's distances: a GPU and its NIC share a PCIe switch, and GPUDirect is
// used up to several switches on the way.
const (
	pathPIX = 4
	pathPXB = 5
)

// direct says which NIC reads and writes which GPU's memory.
func (l *ncclLog) direct() {
	if !l.debug.Prints("NET") || l.k.Nodes == 1 {
		return
	}
	for _, g := range l.shape.Nodes {
		for rail, r := range g.Heads {
			l.say(r, "GPU Direct RDMA Enabled for GPU %d / HCA %d (distance %d <= %d), read 1 mode Default", l.devices[r].GPU, rail, pathPIX, pathPXB)
		}
	}
}

// graph says what the search found for rings (pattern 4) and balanced trees
// (pattern 1).
func (l *ncclLog) graph() {
	if !l.debug.Prints("GRAPH") {
		return
	}
	n, intra, inter := l.k.Graph()
	same := 0
	if l.k.Nodes == 1 || l.k.NICs == 1 {
		same = 1
	}
	for _, pattern := range []int{4, 1} {
		l.say(0, "Pattern %d, crossNic 0, nChannels %d, bw %s/%s, type NVL/PIX, sameChannels %d", pattern, n, gb(intra), gb(inter), same)
	}
}

// gb prints a rate in GB/s, as C's %f does.
func gb(r shaping.Rate) string {
	return fmt.Sprintf("%d.%06d", r/shaping.GBps, r%shaping.GBps/1000)
}

// begin says who is there, and where every ring and tree goes.
func (l *ncclLog) begin(rings, trees *collective.Plan) {
	local := map[int]int{}
	for r, d := range l.devices {
		_, gpus := l.f.GPURange(d.Node)
		l.say(r, "comm %#x rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL 0", commID, r, len(l.devices), l.k.Nodes,
			min(gpus, l.sharing(d.Node)), local[d.Node])
		local[d.Node]++
	}
	for c := range rings.Channels {
		l.say(0, "Channel %02d/%02d : %s", c, rings.Channels, join(circle(rings, c)))
	}
	for r := range l.devices {
		var b strings.Builder
		for c := range trees.Channels {
			fmt.Fprintf(&b, " [%d] %s", c, kin(trees, r, c))
		}
		l.say(r, "Trees%s", b.String())
	}
	l.each("P2P Chunksize set to %d", l.k.Chunk(tuner.Direct, collective.AllToAll, collective.Simple, 0, 1, l.tuning))
}

// commID stands for the address of the communicator, of which there is none.
const commID = 0x1

// sharing counts the ranks on a node.
func (l *ncclLog) sharing(node int) int {
	n := 0
	for _, d := range l.devices {
		if d.Node == node {
			n++
		}
	}
	return n
}

// done says how many channels there are.
func (l *ncclLog) done() {
	collnet, nvls := 0, 0
	if l.k.CollNet && l.k.Nodes > 1 {
		collnet = l.k.Channels
	}
	if l.shape.NVLS && l.k.NVLS {
		nvls = l.k.Worth(tuner.NVLS, collective.Simple, 0, 0)
	}
	p2p := l.k.Worth(tuner.Direct, collective.Simple, 1<<40, 0)
	l.each("threadThresholds 8/8/64 | %d/8/64 | 512 | 512", 8*len(l.devices))
	l.each("%d coll channels, %d collnet channels, %d nvls channels, %d p2p channels, %d p2p channels per peer", l.k.Channels, collnet, nvls, p2p, p2p)
	for r, d := range l.devices {
		l.say(r, "ncclCommInitRank comm %#x rank %d nranks %d cudaDev %d nvmlDev %d busId %s000 commId %#x - Init COMPLETE",
			commID, r, len(l.devices), d.GPU, d.GPU, strings.TrimPrefix(busID(d.GPU), "0x"), commID)
	}
}

// functions are the operations as NCCL's log calls them.
var functions = map[collective.Op]string{
	collective.AllReduce: "AllReduce", collective.AllGather: "AllGather", collective.ReduceScatter: "ReduceScatter",
	collective.Broadcast: "Broadcast", collective.Reduce: "Reduce", collective.Barrier: "AllReduce",
}

// debugChoice says what the tuner chose for a row.
func (t *table) debugChoice(row *report.Row, r *coordinator.Row) {
	name, ok := functions[t.config.Op]
	if d := &t.config.Debug; ok && d.Out != nil && d.Prints("TUNING") {
		v := &t.started.Devices[0]
		_, _ = io.WriteString(d.Out, fmt.Sprintf("node%d:%d:%d [%d] NCCL INFO %s: %d Bytes -> Algo %s proto %s channel{Lo..Hi}={0..%d}\n", v.Node, v.PID, v.PID, v.GPU,
			name, row.Size, strings.ToUpper(r.Chosen.Algorithm), strings.ToUpper(r.Chosen.Protocol.String()), r.Channels-1))
	}
}
