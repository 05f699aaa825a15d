// Package memnet is a network in memory for memberlist, to test the roster
// under testing/synctest: no socket, no wall clock, and cables that can be
// cut.
//
//	net := memnet.New()
//	cfg := gossip.Loopback()
//	cfg.Transport = net.Listen()
//	…
//	net.Cut(roster.Addr())
//
// Packets arrive at once or not at all: to a port that nobody listens on, over
// a cut cable, into a full queue, or when Lose says so. Streams are pipes. To
// dial a port that nobody listens on is refused; to dial over a cut cable
// takes the whole timeout. memberlist's own MockNetwork can do neither, and
// blocks for ever once a peer is gone.
//
// For tests of any package; imports nothing of ours.
package memnet

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// Drain is how long a bubble must go on sleeping when its rosters are closed:
// memberlist doesn't wait for the probes that it has under way.
const Drain = 10 * time.Second

// queued is how many packets or streams wait for a reader; beyond it packets
// are lost and streams refused, as a socket would.
const queued = 1024

// host is the address of every transport; ports tell them apart.
const host = "127.0.0.1"

// Network joins transports. Its methods may be called from any goroutine.
type Network struct {
	mu       sync.Mutex
	ports    map[string]*Transport
	cut      map[string]bool
	far      map[string]bool // on the other side of a Part
	nextPort int
	permille int
	draw     *rand.Rand
}

// New returns a network without transports.
func New() *Network {
	return &Network{ports: map[string]*Transport{}, cut: map[string]bool{}, far: map[string]bool{}, nextPort: 1}
}

// Listen returns a transport with an address of its own.
func (n *Network) Listen() *Transport {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := &Transport{
		net: n, port: n.nextPort,
		packets: make(chan *memberlist.Packet, queued), streams: make(chan net.Conn, queued),
		done: make(chan struct{}),
	}
	n.nextPort++
	n.ports[t.String()] = t
	return t
}

// Cut takes the transport at an address off the network. It goes on running
// and doesn't notice.
func (n *Network) Cut(addr string) { n.setCut(addr, true) }

// Mend undoes Cut.
func (n *Network) Mend(addr string) { n.setCut(addr, false) }

func (n *Network) setCut(addr string, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut[addr] = cut
}

// Part cuts the network in two: the transports at these addresses on one side,
// all others on the other. Without addresses it is whole again.
func (n *Network) Part(addrs ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.far = map[string]bool{}
	for _, a := range addrs {
		n.far[a] = true
	}
}

// Lose makes the network lose so many of a thousand packets, chosen by seed.
func (n *Network) Lose(permille int, seed uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.permille, n.draw = permille, rand.New(rand.NewPCG(seed, 0))
}

// lost decides about one packet; mu is held.
func (n *Network) lost() bool { return n.draw != nil && n.draw.IntN(1000) < n.permille }

// Transport is one member's end of a Network.
type Transport struct {
	net     *Network
	port    int
	packets chan *memberlist.Packet
	streams chan net.Conn
	done    chan struct{}
}

var (
	_ memberlist.NodeAwareTransport = (*Transport)(nil)
	_ net.Addr                      = (*Transport)(nil)
)

// Network is net.Addr's.
func (t *Transport) Network() string { return "mem" }

// String is the transport's address, host:port.
func (t *Transport) String() string { return net.JoinHostPort(host, fmt.Sprint(t.port)) }

// FinalAdvertiseAddr is memberlist.Transport's.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return net.ParseIP(host).To4(), t.port, nil
}

// PacketCh is memberlist.Transport's.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh is memberlist.Transport's.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streams }

// WriteTo is memberlist.Transport's.
func (t *Transport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress is memberlist.NodeAwareTransport's. Like UDP it never says
// that a packet was lost.
func (t *Transport) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	now := time.Now()
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	peer := t.net.ports[a.Addr]
	if peer == nil || t.net.severed(t.String(), peer.String()) || t.net.lost() {
		return now, nil
	}
	select {
	case peer.packets <- &memberlist.Packet{Buf: append([]byte(nil), b...), From: t, Timestamp: now}:
	default:
	}
	return now, nil
}

// severed reports whether a cable between the two is cut; mu is held.
func (n *Network) severed(a, b string) bool { return n.cut[a] || n.cut[b] || n.far[a] != n.far[b] }

// DialTimeout is memberlist.Transport's.
func (t *Transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout is memberlist.NodeAwareTransport's.
func (t *Transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	conn, err := t.dial(a.Addr)
	if err != os.ErrDeadlineExceeded {
		return conn, err
	}
	select {
	case <-time.After(timeout):
	case <-t.done:
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
}

// dial connects, or says at once why it can't.
func (t *Transport) dial(addr string) (net.Conn, error) {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	peer := t.net.ports[addr]
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	switch {
	case t.net.severed(addr, t.String()):
		return nil, os.ErrDeadlineExceeded
	case peer == nil:
		return nil, refused
	}
	near, far := net.Pipe()
	select {
	case peer.streams <- far:
		return near, nil
	default:
		return nil, refused
	}
}

// Shutdown is memberlist.Transport's. Streams that nobody took are closed, so
// that their other ends don't wait.
func (t *Transport) Shutdown() error {
	t.net.mu.Lock()
	defer t.net.mu.Unlock()
	if t.net.ports[t.String()] != t {
		return nil
	}
	delete(t.net.ports, t.String())
	close(t.done)
	for {
		select {
		case c := <-t.streams:
			_ = c.Close()
		default:
			return nil
		}
	}
}
