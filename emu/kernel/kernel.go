package kernel

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// Config says which part of a cluster a kernel runs.
type Config struct {
	Fabric *fabric.Fabric
	Owners transit.Owners
	// Me is the participant this kernel is. It hosts the nodes, and owns the
	// ports, that Owners gives to Me.
	Me int
	// Record makes the kernel keep a timeline in Effects.Records.
	Record bool
	// Faults strike the hardware, nil for none; Bear says how transports take them.
	Faults *fault.Schedule
	Bear   emu.Resilience
	// Guarded makes connections ready for faults that only Suffer brings. It changes
	// no instant.
	Guarded bool
}

// Kernel executes batches of runs. Not safe for concurrent use: one goroutine
// owns it.
type Kernel struct {
	*transit.Transit
	fabric *fabric.Fabric
	owners transit.Owners
	me     int
	until  shaping.Time // horizon of the current window

	runs    []run
	ranks   []rank
	blocks  []block
	states  []state             // of the blocks: most looks at a neighbour ask for no more
	windows []collective.Window // of the blocks
	conns   []conn
	recvs   []int32        // positions in conns, block by block
	freed   []shaping.Time // memory of the connections' rings
	remotes []remote
	byID    map[uint32]int32 // connection id → position in conns
	far     []int32          // connections that cross to another participant

	proxies   []shaping.Time // GPU → instant at which its proxy is free
	engines   []engine
	engineIDs []fabric.PortID // of the engines
	engineOf  map[fabric.PortID]int32
	routes    map[routeKey]*fabric.Route
	faults    *fault.Schedule
	bear      emu.Resilience
	guarded   bool
	guards    []guard      // of connections that may lose frames
	seen      shaping.Time // see Seen
	graves    []grave      // nodes that die, the next one first
	halts     []fault.Stop
	ordered   bool          // some run of the batch follows another
	redone    shaping.Bytes // sent again in the batch
	failovers int           // of connections, in the batch
	flips     []fault.Flip  // of links, that have struck nothing yet
	flipped   []int         // those that have, by their positions in the schedule
	throttled bool          // some GPU's engines are slow at times
	slow      bool          // some connection leads through what slows SMs: host memory, an NVSwitch's engines
	sharp     bool          // some run of the batch has blocks in the fabric's switches

	spent   [numStates]shaping.Duration // by the blocks of the batch
	effects Effects
	before  []PortUse // of each port, when the batch began
}

// Effects is what happened in a window, for the host to carry out, in order:
// first the moves, then the frames.
type Effects struct {
	Moves   []Move
	Out     []Emission
	Ends    []emu.End
	Records []emu.Record
	// Failures are what blocks and transports gave up on. The run goes on until
	// its host aborts it.
	Failures []emu.Failure
}

// Move is one slice of one step carried out: the host does to the real
// elements what the step says.
type Move struct {
	Run   int32 // position in the batch
	Block int32 // position among the run's wired blocks
	Step  int32
	Loop  int32
	Slice int32
	// Flip, when not 0, says that this is none of that: a bit turns over in a message
	// that waits on a connection. Flip is one more than its position among the flips
	// of the session, Block the connection's position among the run's wired ones,
	// Slice how many messages wait before it.
	Flip int32
}

// Emission is a frame or a credit for another participant.
type Emission struct {
	To int
	// Conn is the position of the connection among its run's wired ones, Run
	// its run, for the host to find the payload.
	Run, Conn int32
	transit.Header
	// Induced is a lower bound on the stamp of anything the receiver may send
	// because of it.
	Induced shaping.Time
	// Departs is when it leaves this participant, its first byte if it has any:
	// the paced clock puts nothing on a stream before.
	Departs shaping.Time
}

// New returns a kernel with nothing to do.
func New(c Config) *Kernel {
	k := &Kernel{
		Transit: transit.New(c.Fabric, c.Owners, c.Me, c.Record),
		fabric:  c.Fabric, owners: c.Owners, me: c.Me,
		proxies:  make([]shaping.Time, c.Fabric.GPUs()),
		engineOf: map[fabric.PortID]int32{}, routes: map[routeKey]*fabric.Route{}, bear: c.Bear, guarded: c.Guarded,
	}
	if c.Faults != nil {
		k.Suffer(c.Faults)
	}
	return k
}

// Effects returns what happened since the last call of Forget. The caller may
// read it until then.
func (k *Kernel) Effects() *Effects {
	k.effects.Records = k.Records
	return &k.effects
}

// Forget clears the effects and keeps their memory.
func (k *Kernel) Forget() {
	e := &k.effects
	e.Moves, e.Out, e.Ends, e.Failures = e.Moves[:0], e.Out[:0], e.Ends[:0], e.Failures[:0]
	k.Records = k.Records[:0]
}

// Run handles every event before the instant until, but no more than about
// budget of them (0: no limit), so that a host can carry out effects in
// between. It returns the number handled; Next tells whether it is through.
func (k *Kernel) Run(until shaping.Time, budget int) int {
	k.until = until
	return k.run(until, budget)
}

func (k *Kernel) run(until shaping.Time, budget int) int {
	n := 0
	for k.Next() < until && (budget == 0 || n < budget) {
		if len(k.graves) > 0 && k.bury() {
			continue
		}
		key, arg := k.Pop()
		k.handle(key.Kind(), arg)
		n++
	}
	return n
}

func (k *Kernel) handle(kind transit.Kind, arg int32) {
	switch kind {
	case transit.Start:
		k.start(arg)
	case transit.Credit:
		k.credited(arg)
	case transit.Arrive, transit.Leave:
		if k.Step(kind, arg) {
			k.arrived(arg)
		}
		k.drain()
	case transit.Complete:
		k.completed(arg)
	case transit.Post:
		k.mayPost(arg)
	case transit.Deliver:
		k.deliver(arg)
	case transit.Lost:
		k.told(arg)
	case transit.Resend:
		k.resend(arg)
	case transit.Wake:
		k.wake(arg)
	default:
		panic(fmt.Sprintf("kernel: an event of kind %d", kind))
	}
}

// Accept takes what another participant sent.
func (k *Kernel) Accept(h transit.Header) {
	i, ok := k.byID[h.Conn]
	if !ok {
		panic(fmt.Sprintf("kernel: a frame on connection %d, which no hosted block has an end of", h.Conn))
	}
	if h.Credit {
		k.Push(h.Key(), i)
		return
	}
	if h.Lost {
		k.guards[k.remoteOf(i).guard].news++
		k.Learn(h, i)
		return
	}
	r := k.remoteOf(i)
	if !r.fromHere {
		r.due.push(h.Tail.Add(r.route.RecvPost + r.route.Receive))
	}
	k.Transit.Accept(h, k.wire(i, h.Way), i)
}

// Locate returns the run and the position among its wired connections of a
// connection with a hosted end.
func (k *Kernel) Locate(conn uint32) (run, wired int, ok bool) {
	i, ok := k.byID[conn]
	if !ok {
		return 0, 0, false
	}
	run = int(k.conns[i].run)
	return run, int(i - k.runs[run].firstConn), true
}

// Host returns the participant that hosts the receiving end of a connection.
func (k *Kernel) Host(e *Emission) int { return k.hostOf(e.Header.To) }

// hostOf returns the participant that hosts a GPU.
func (k *Kernel) hostOf(gpu int32) int { return k.owners.Node[k.fabric.NodeOf(int(gpu))] }

// drain turns frames that left the transit into emissions, each with what it
// may cause at the receiver.
func (k *Kernel) drain() {
	for i := range k.Left {
		e := &k.Left[i]
		induced := shaping.Never // the fabric participant reckons its own
		if e.To != k.owners.Shared && !e.Lost {
			induced = k.remoteOf(e.Local).route.Reaction(e.Tail, e.Bytes, e.Protocol)
		}
		k.emit(e.To, e.Local, e.Header, induced, max(k.Now(), e.Head.Add(-k.remoteOf(e.Local).route.Wire.Before(e.At))))
	}
	k.Left = k.Left[:0]
}

func (k *Kernel) emit(to int, ci int32, h transit.Header, induced, departs shaping.Time) {
	if h.Tail < k.until {
		panic(fmt.Sprintf("kernel: a frame stamped %d ps before the horizon %d ps", int64(h.Tail), int64(k.until)))
	}
	run := k.conns[ci].run
	k.effects.Out = append(k.effects.Out, Emission{To: to, Run: run, Conn: ci - k.runs[run].firstConn, Header: h, Induced: induced, Departs: departs})
}
