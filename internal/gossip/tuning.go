package gossip

import (
	"math"
	"time"

	"github.com/hashicorp/memberlist"
)

// label marks packets and streams as Railyard's, so that another program's
// memberlist on the same port is left alone. The number is the wire's version.
const label = "railyard-1"

// tuning is what a preset sets in memberlist. What it doesn't set is
// memberlist's default for a LAN.
//
// memberlist's own settings for one host take 42 s until 64 processes that
// start together all see each other. Two things are slow. News is passed on too
// few times, so that some never reaches some, and is made good only by a full
// exchange every 30 to 60 s. And while 64 processes start on few cores, probes
// time out, and the suspicions and refutations cost more than the news itself.
type tuning struct {
	// News leaves in rounds, one every gossipInterval, to gossipNodes members
	// chosen at random. Each member passes a piece of news on
	// retransmitMult × ceil(log10(n+1)) times. With 4 that is 8 times among 10
	// to 99 members, and a member misses it with e^-8, 3 in 10,000; catchUp and
	// full exchanges do the rest. More would miss fewer, but this is the work
	// that grows with the square of n while n members join.
	gossipInterval time.Duration
	gossipNodes    int
	retransmitMult int
	// packetBytes is the most that is put in a packet.
	packetBytes int
	// pushPullInterval is the time between full exchanges with a random
	// member. memberlist doubles it above 32 members and trebles it above 64.
	pushPullInterval time.Duration
	// Every probeInterval a member probes the next of the others, in random
	// order. Without an answer within probeTimeout it asks indirectChecks
	// others to probe, and tries TCP itself; an answer counts until the
	// interval is over. A member that notices that it is slow itself stretches
	// its interval up to awarenessMax times (Lifeguard).
	probeInterval  time.Duration
	probeTimeout   time.Duration
	indirectChecks int
	awarenessMax   int
	// Whoever fails a probe is suspected for suspicionMult × max(1, log10 n) ×
	// probeInterval, within which it may refute, if suspicionMult-2 others have
	// come to suspect it too; if none has, suspicionMaxMult times as long.
	suspicionMult    int
	suspicionMaxMult int
	// gossipToTheDeadTime is how long news still goes to the dead, who may be
	// only slow, and have then to be told so in order to object.
	gossipToTheDeadTime time.Duration
	// seekInterval is the time between attempts to find those that died, or that
	// were joined and are not here.
	seekInterval time.Duration
	// knockInterval is the time between knocks at members' addresses; 0: none.
	knockInterval time.Duration
	// streamTimeout bounds every step of a full exchange.
	streamTimeout time.Duration
	// handoffDepth is how many pieces of news may wait to be worked off;
	// beyond it they are dropped.
	handoffDepth int
}

// loopback is for processes on one host.
//
// A crash is known to all when the first has knocked in vain, after some 0.2 s
// among any number of members up to 40, and n × 5 ms among more. A member that is
// stopped is taken for dead, with P the probe interval, after P (until somebody
// probes, on average) + P (that probe) + 4 P (suspicion) = 6 P = 1.2 s among up to
// ten members, and after some 1.8 s among 64. What was measured is in
// docs/limitations.md; make detect measures it.
var loopback = tuning{
	// Ten idle wake-ups a second; news reaches 64 members in 3 to 4 rounds.
	gossipInterval: 100 * time.Millisecond,
	gossipNodes:    3,
	retransmitMult: 4,
	// Loopback carries 64 KiB on Linux, but macOS refuses datagrams above
	// 9216 B. A member's news takes some 200 B: 40 to a packet instead of 7.
	packetBytes: 8 << 10,
	// 64 members cost 16 exchanges a second of some 10 KiB: a few ms.
	pushPullInterval: 2 * time.Second,
	// Among busy loops a process waits some tens of ms for its turn, and a
	// probe takes two turns. What 200 ms don't cover, the awareness of being
	// slow does.
	probeInterval: 200 * time.Millisecond,
	// Loopback loses a packet only when a socket's buffer is full. A late
	// answer then means that processors are scarce, and asking others and TCP
	// takes more of them, so it comes late.
	probeTimeout:   150 * time.Millisecond,
	indirectChecks: 2,
	awarenessMax:   8,
	// Two other members must agree: if all are slow, at least three of them have
	// to be wrong about the same one. When none agrees a suspect has twice as
	// long. Members that crashed are known by knocking; all this is for those
	// that are stopped.
	suspicionMult:       4,
	suspicionMaxMult:    2,
	gossipToTheDeadTime: 10 * time.Second,
	// An attempt at a dead process costs a refused connection.
	seekInterval: 3 * time.Second,
	// The last of 8 members knocks at a dead one within some 0.2 s.
	knockInterval: 200 * time.Millisecond,
	// Enough for 64 processes that join at once; a stopped one (SIGSTOP) holds
	// up our exchanges no longer.
	streamTimeout: 3 * time.Second,
	// All news about some hundred members, from dozens of packets at once.
	handoffDepth: 4096,
}

// lan is for containers and other hosts: news and probes cost packets on a
// network that others use, and a turn of it may be lost.
//
// A crash is confirmed after about 5 P = 2.5 s.
var lan = tuning{
	gossipInterval: 200 * time.Millisecond,
	gossipNodes:    3,
	retransmitMult: 4,
	// Ethernet's MTU less headers, also inside an overlay network.
	packetBytes:         1400,
	pushPullInterval:    5 * time.Second,
	probeInterval:       500 * time.Millisecond,
	probeTimeout:        250 * time.Millisecond,
	indirectChecks:      3,
	awarenessMax:        8,
	suspicionMult:       3,
	suspicionMaxMult:    4,
	gossipToTheDeadTime: 30 * time.Second,
	seekInterval:        10 * time.Second,
	streamTimeout:       5 * time.Second,
	handoffDepth:        4096,
}

func (t *tuning) apply(c *memberlist.Config) {
	c.Label = label
	c.GossipInterval = t.gossipInterval
	c.GossipNodes = t.gossipNodes
	c.RetransmitMult = t.retransmitMult
	c.UDPBufferSize = t.packetBytes
	c.PushPullInterval = t.pushPullInterval
	c.ProbeInterval = t.probeInterval
	c.ProbeTimeout = t.probeTimeout
	c.IndirectChecks = t.indirectChecks
	c.AwarenessMaxMultiplier = t.awarenessMax
	c.SuspicionMult = t.suspicionMult
	c.SuspicionMaxTimeoutMult = t.suspicionMaxMult
	c.GossipToTheDeadTime = t.gossipToTheDeadTime
	c.TCPTimeout = t.streamTimeout
	c.HandoffQueueDepth = t.handoffDepth
	// LZW in Go clears a table of 64 KiB for each packet; ours are small.
	c.EnableCompression = false
}

// confirm is how long it takes among n members, at most but for a few cases in
// a thousand, until a crash is confirmed: three intervals until somebody
// probes, one for the probe, and the longest suspicion.
func (t *tuning) confirm(n int) time.Duration {
	scale := max(1, math.Log10(float64(n)))
	suspicion := time.Duration(float64(t.suspicionMult) * scale * float64(t.probeInterval))
	return 4*t.probeInterval + time.Duration(t.suspicionMaxMult)*suspicion
}

// telling is how long it takes to pass on a piece of news as often as is due
// among n members, if there is but one to tell in each round; two rounds more
// are for the phases of clocks.
func (t *tuning) telling(n int) time.Duration {
	times := t.retransmitMult * int(math.Ceil(math.Log10(float64(n+1))))
	return time.Duration(times+2) * t.gossipInterval
}
