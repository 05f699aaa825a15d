package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/railyard/railyard/shaping"
	"github.com/railyard/railyard/shaping/pacer"
)

// What a link allows the host.
const (
	// patience is how late the host may get round to a segment without a loss of
	// rate; what it is late beyond that is lost, and counted as an overrun.
	patience = 100 * shaping.Millisecond
	// restAfter is when a link that is idle begins to count time anew: an instant
	// holds 106 days of picoseconds.
	restAfter = shaping.Time(24 * 3600 * shaping.Second)
)

// What may wait in memory, in each direction.
const (
	waitFor  = 20 * shaping.Millisecond // of the link's rate, over all connections: longer than a scheduler leaves a goroutine alone
	leastBuf = 256 << 10                // of each connection
	mostBuf  = 16 << 20
	openBuf  = 64 << 20 // on the way, where no rate bounds it
)

// Options are what a link may be told. The zero value will do.
type Options struct {
	Dilation int64  // how many times slower than the chain says; 0 is 1
	Seed     uint64 // of jitter and loss
	// Linger is how long a closed connection waits for a peer that does not read;
	// 0 is 5 s. What is on its way arrives in any case.
	Linger time.Duration
	// Pacer is what the link waits by, to be closed after it. Nil: the process's own.
	Pacer *pacer.Pacer
}

// Link is a link between two ends, of which each direction has ports of its own.
// Connections that it wraps share them, and each gets an equal share of the rate.
type Link struct {
	pacer   *pacer.Pacer
	release func()
	linger  time.Duration
	text    string
	hops    []shaping.Hop
	seed    uint64
	// What all flows of a way may have waiting, and in memory.
	buffer, window int
	quantum        int       // most bytes of a segment
	pool           sync.Pool // of *[]byte, as long as that

	mu       sync.Mutex
	base     pacer.Instant // where the link's time begins
	up, down way
	busy     int              // segments that wait or fly
	lead     shaping.Duration // how long the pacer's writes take at least
	conns    map[*Conn]struct{}
	opened   uint64
	closed   bool
}

// way is one direction.
type way struct {
	chain *shaping.Chain
	stats Stats
	large int // flows that hold more than leastBuf
}

// Stats is what one direction of a link has done.
type Stats struct {
	Bytes    int64 // that arrived at the far end, read there or not
	Segments int64 // that arrived, ends of streams among them
	Lost     int64 // packets that were sent, each as often as it was lost
	Overrun  int64 // segments that the host was too late for: the rate was not kept
	// Lateness is how much later than they should segments were handed on.
	Lateness pacer.Lateness
}

func (s *Stats) arrived(size int, late shaping.Duration) {
	s.Bytes += int64(size)
	s.Segments++
	s.Lateness.Add(time.Duration(late / shaping.Nanosecond))
}

// Open returns a link that is described as Parse reads it: "ndr / 1000".
func Open(spec string, o Options) (*Link, error) {
	hops, err := Parse(spec)
	if err != nil {
		return nil, err
	}
	return New(hops, o)
}

// New returns a link of hops, both directions alike. Close frees what it holds.
func New(hops []shaping.Hop, o Options) (*Link, error) {
	if len(hops) == 0 || len(hops) > maxHops {
		return nil, fmt.Errorf("link: %d hops: allowed are 1 to %d", len(hops), maxHops)
	}
	hops, err := Dilate(hops, max(o.Dilation, 1))
	if o.Dilation < 0 || o.Linger < 0 {
		err = errors.Join(err, fmt.Errorf("dilation %d, linger %v: neither may be below zero", o.Dilation, o.Linger))
	}
	if err != nil {
		return nil, fmt.Errorf("link: %w", err)
	}
	l := &Link{pacer: o.Pacer, release: func() {}, linger: o.Linger, text: String(hops), hops: hops, seed: o.Seed,
		conns: map[*Conn]struct{}{}}
	if l.linger == 0 {
		l.linger = 5 * time.Second
	}
	if l.pacer == nil {
		if l.pacer, l.release, err = pacer.Acquire(); err != nil {
			return nil, err
		}
	}
	l.lay()
	c := l.up.chain
	l.quantum = bound(c.Quantum())
	l.pool.New = func() any { b := make([]byte, l.quantum); return &b }
	l.buffer = max(leastBuf, min(mostBuf, bound(c.Slowest().Carries(waitFor))))
	l.window = 2*l.buffer + openBuf
	if flight, ok := c.Flight(); ok {
		l.window = 4*l.buffer + 4*bound(flight) // 4: small segments count for more than their bytes
	}
	return l, nil
}

// lay makes both directions, with nothing on them, from now on.
func (l *Link) lay() {
	l.base = l.pacer.Now()
	for i, w := range []*way{&l.up, &l.down} { // what is lost one way says nothing of the other
		w.chain = shaping.NewChain(l.hops, shaping.Draw(l.seed, uint64(i)), patience)
	}
}

// rest begins to count time anew if nothing is on its way.
func (l *Link) rest() {
	if l.busy > 0 || l.now() < restAfter {
		return
	}
	l.lay()
	for c := range l.conns {
		for _, f := range []*flow{c.in, c.out} {
			f.left, f.last, f.lag, f.freed = 0, 0, 0, shaping.Never
		}
	}
}

// now returns the link's time.
func (l *Link) now() shaping.Time {
	return shaping.Time(l.pacer.Now().Sub(l.base)) * shaping.Time(shaping.Nanosecond)
}

// instant returns the first instant of the pacer's at which t has come.
func (l *Link) instant(t shaping.Time) pacer.Instant {
	const ns = shaping.Time(shaping.Nanosecond)
	return l.base + pacer.Instant((t+ns-1)/ns)
}

// String returns the link's hops, dilated, as Parse reads them.
func (l *Link) String() string { return l.text }

// Stats returns what both directions have done: up is what wrapped connections
// write, and accepted ones read.
func (l *Link) Stats() (up, down Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.up.stats, l.down.stats
}

// Wrap shapes a connection at the end that asks: what it writes goes up the link,
// what it reads has come down. The connection belongs to the Conn from then on.
// Wrapping both ends of a connection shapes it twice.
func (l *Link) Wrap(c net.Conn) *Conn { return l.wrap(c, &l.up, &l.down) }

// WrapAccepted shapes a connection at the end that answers: what it writes goes
// down the link, what it reads has come up.
func (l *Link) WrapAccepted(c net.Conn) *Conn { return l.wrap(c, &l.down, &l.up) }

func (l *Link) wrap(below net.Conn, out, in *way) *Conn {
	c := &Conn{link: l, below: below, closed: make(chan struct{}), gone: make(chan struct{}),
		broken: make(chan struct{}), done: make(chan struct{})}
	direct := directly(below)
	l.mu.Lock()
	n, closed := l.opened, l.closed
	l.opened++
	c.out, c.in = newFlow(l, out, n), newFlow(l, in, n)
	c.out.direct = direct
	if !closed {
		l.conns[c] = struct{}{}
	}
	l.mu.Unlock()
	if closed {
		c.abort()
	}
	c.start()
	return c
}

// DialContext opens a connection as net.Dialer does, and wraps it. On a link that
// is closed it fails with net.ErrClosed.
func (l *Link) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	d.ControlContext = func(context.Context, string, string, syscall.RawConn) error { return l.open() }
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	on := l.Wrap(c)
	if err := l.open(); err != nil { // meanwhile
		return nil, &net.OpError{Op: "dial", Net: network, Addr: c.RemoteAddr(), Err: err}
	}
	return on, nil
}

func (l *Link) open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	return nil
}

// Listener returns one whose connections are wrapped as accepted ones.
func (l *Link) Listener(under net.Listener) net.Listener { return listener{under, l} }

type listener struct {
	net.Listener
	link *Link
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.link.WrapAccepted(c), nil
}

// Close cuts connections that are open, waits until what closed ones have on its
// way has arrived, and frees what the link holds. It returns nil.
func (l *Link) Close() error {
	l.mu.Lock()
	l.closed = true
	var all []*Conn
	for c := range l.conns {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		if !isClosed(c.closed) {
			c.abort()
		}
	}
	for _, c := range all {
		<-c.done
	}
	l.release()
	return nil
}

// Abort cuts all connections, also those that are closed and have something on
// its way, and frees what the link holds.
func (l *Link) Abort() {
	l.mu.Lock()
	var all []*Conn
	for c := range l.conns {
		all = append(all, c)
	}
	l.closed = true
	l.mu.Unlock()
	for _, c := range all {
		c.abort()
	}
	_ = l.Close()
}

// recycle gives a segment's memory back.
func (l *Link) recycle(s *segment) {
	if s.buf != nil {
		l.pool.Put(s.buf)
	}
	*s = segment{}
}

// space returns memory for n bytes of a segment: the pool's, unless that would
// waste most of it.
func (l *Link) space(n int) segment {
	if n < l.quantum/4 {
		return segment{data: make([]byte, n)}
	}
	b := l.pool.Get().(*[]byte)
	return segment{data: (*b)[:n], buf: b}
}
