package gossip

import (
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// A network that is cut on purpose: an emulated partition keeps members apart.
// Each end drops what it would send to the other side, and what comes from there.
// Streams come from a port that tells nothing, so those are left to the end that
// dials; should it not know of the cut, what it says of its side is not believed.

// Beyond is who is out of reach while the network is cut.
type Beyond struct {
	// Nodes puts nodesims out of reach that host no others: one that hosts others
	// as well has a leg on this side.
	Nodes Nodes
	// Coordinators puts coordinators out of reach.
	Coordinators bool
}

// Cut takes the members beyond off this process's network, until another call says
// otherwise; the zero value mends it. They are found dead as if their hosts were out
// of reach, and looked for again as soon as they may be reached. A cut is between
// two: to keep its word the other side has to be told as well.
func (r *Roster) Cut(b Beyond) {
	r.ledger.cutOff(b)
	select {
	case r.mended <- struct{}{}:
	default:
	}
}

func (b *Beyond) holds(m *Member) bool {
	if m.Role == Coordinator {
		return b.Coordinators
	}
	for i := range m.Nodes.All() {
		if !b.Nodes.Contains(i) {
			return false
		}
	}
	return true
}

// cutOff notes who is beyond, and at which addresses.
func (l *ledger) cutOff(b Beyond) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beyond, l.far = b, map[string]bool{}
	for w, m := range l.here { // order: each is judged by itself
		if w != l.self && b.holds(&m) {
			l.far[m.Addr] = true
		}
	}
	for _, f := range l.former { // order: each is judged by itself
		if b.holds(&f.Member) {
			l.far[f.Addr] = true
		}
	}
}

// severed reports whether nothing passes between us and an address.
func (l *ledger) severed(addr string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.far[addr]
}

// divides refuses whoever is beyond the cut, whatever others say of him, and
// remembers where he is; mu is held.
func (l *ledger) divides(n *memberlist.Node) error {
	if l.beyond.Nodes == nil && !l.beyond.Coordinators || n.Name == l.self {
		return nil
	}
	m, err := decodeMember(n)
	if err != nil {
		return nil // admit says what is wrong with it
	}
	if !l.beyond.holds(&m) {
		delete(l.far, m.Addr) // of somebody who has ended, it may be
		return nil
	}
	l.far[m.Addr] = true
	return fmt.Errorf("%s is on the other side of a network that is cut", m)
}

// severable is a transport that addresses can be cut off from.
type severable struct {
	memberlist.NodeAwareTransport
	severed func(addr string) bool
	packets chan *memberlist.Packet
	done    chan struct{}
	end     sync.Once
}

var _ memberlist.NodeAwareTransport = (*severable)(nil)

func newSeverable(t memberlist.NodeAwareTransport, severed func(addr string) bool) *severable {
	s := &severable{NodeAwareTransport: t, severed: severed, packets: make(chan *memberlist.Packet), done: make(chan struct{})}
	go s.sift()
	return s
}

// sift hands on the packets of those in reach.
func (s *severable) sift() {
	for {
		select {
		case p := <-s.NodeAwareTransport.PacketCh():
			if s.severed(p.From.String()) {
				continue
			}
			select {
			case s.packets <- p:
			case <-s.done:
				return
			}
		case <-s.done:
			return
		}
	}
}

// PacketCh is memberlist.Transport's.
func (s *severable) PacketCh() <-chan *memberlist.Packet { return s.packets }

// WriteTo is memberlist.Transport's.
func (s *severable) WriteTo(b []byte, addr string) (time.Time, error) {
	return s.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress is memberlist.NodeAwareTransport's. As on a real network nobody
// says that a packet was lost.
func (s *severable) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	if s.severed(a.Addr) {
		return time.Now(), nil
	}
	return s.NodeAwareTransport.WriteToAddress(b, a)
}

// DialTimeout is memberlist.Transport's.
func (s *severable) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return s.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout is memberlist.NodeAwareTransport's. The other side is
// unreachable at once, as where a router says so, and never refuses: that would
// mean that the process has ended.
func (s *severable) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	if s.severed(a.Addr) {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}
	}
	return s.NodeAwareTransport.DialAddressTimeout(a, timeout)
}

// Shutdown is memberlist.Transport's. The transport below may wait until what it
// has heard is taken.
func (s *severable) Shutdown() error {
	err := s.NodeAwareTransport.Shutdown()
	s.end.Do(func() { close(s.done) })
	return err
}
