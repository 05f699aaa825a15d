package gossip

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

// ErrClosed is what waiting ends with when the roster is closed.
var ErrClosed = errors.New("gossip: the roster is closed")

// Roster is this process's membership of a cluster, and its view of the others.
// Its methods may be called from any goroutine.
type Roster struct {
	list      *memberlist.Memberlist
	transport memberlist.NodeAwareTransport
	ledger    *ledger
	tuning    *tuning
	addr      string
	joined    []string           // the addresses that were joined
	mended    chan struct{}      // holds a token when those that are missing may be in reach again
	stop      context.CancelFunc // ends what the sockets dial

	// life keeps Leave and Close apart, and guards closed. It holds a token
	// while taken. A mutex would do, were it not that under testing/synctest
	// time stands still for whoever waits at one.
	life   chan struct{}
	closed bool
}

// Start listens and, if there are addresses to join, joins. It returns when
// one of them has answered; ctx ends the attempt, not the roster. Errors:
// ConfigError (possibly several joined), BindError, JoinError, ForeignError,
// or ctx's.
func Start(ctx context.Context, c Config) (*Roster, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	r, err := create(life, stop, &c)
	if err != nil {
		stop()
		return nil, err
	}
	if err := r.enter(ctx, &c); err != nil {
		r.Close()
		return nil, err
	}
	r.seek(life)
	r.knock()
	return r, nil
}

// create opens a roster of one.
func create(life context.Context, stop context.CancelFunc, c *Config) (*Roster, error) {
	self := c.self(instance())
	l := newLedger(wireName(self.Name, self.Instance), self.Cluster, c.logger())
	r := &Roster{ledger: l, tuning: c.tuning, joined: c.Join, stop: stop,
		mended: make(chan struct{}, 1), life: make(chan struct{}, 1)}
	mc, err := r.settings(life, c, self)
	if err != nil {
		return nil, err
	}
	if r.list, err = memberlist.Create(mc); err != nil {
		_ = mc.Transport.Shutdown()
		return nil, fmt.Errorf("gossip: %w", err)
	}
	r.addr = l.addrOf(l.self)
	return r, nil
}

// settings is memberlist's configuration.
func (r *Roster) settings(life context.Context, c *Config, self Member) (*memberlist.Config, error) {
	// zap's own adapter: memberlist's lines carry their level in brackets and
	// are all debug to us, since what matters in them is an event or an error.
	logger, err := zap.NewStdLogAt(c.logger().Named("memberlist"), zap.DebugLevel)
	if err != nil {
		return nil, fmt.Errorf("gossip: %w", err)
	}
	mc := memberlist.DefaultLANConfig()
	c.tuning.apply(mc)
	r.transport = c.Transport
	mc.Name, mc.Logger = r.ledger.self, logger
	gate := gatekeeper{r.ledger}
	meta := func() []byte { return r.ledger.describe(self) }
	mc.Alive, mc.Merge, mc.Events, mc.Ping, mc.Delegate = gate, gate, gate, gate, voice{r.ledger, meta, r.rumour}
	if c.Transport == nil {
		s, err := listen(life, c, logger)
		if err != nil {
			return nil, err
		}
		r.transport = s
		mc.BindPort, mc.AdvertisePort = s.GetAutoBindPort(), s.GetAutoBindPort()
		mc.AdvertiseAddr = c.AdvertiseAddr
		if _, _, err := s.FinalAdvertiseAddr(mc.AdvertiseAddr, mc.AdvertisePort); err != nil {
			_ = s.Shutdown()
			return nil, &ConfigError{"AdvertiseAddr", fmt.Errorf("%w; name the address at which others reach this host", err)}
		}
	}
	t := newSeverable(r.transport, r.ledger.severed)
	mc.Transport, r.transport = t, t
	return mc, nil
}

// enter joins and takes over the cluster's id.
func (r *Roster) enter(ctx context.Context, c *Config) error {
	limited, cancel := context.WithTimeout(ctx, c.JoinTimeout)
	defer cancel()
	release := context.AfterFunc(limited, r.stop)
	err := r.join(limited, c.Join)
	late := !release()
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("gossip: joining: %w", ctx.Err())
	case err != nil:
		return err
	case late: // the sockets are closed already
		return &JoinError{Addrs: c.Join, Waited: c.JoinTimeout, Err: context.DeadlineExceeded}
	}
	r.adopt(c)
	return nil
}

// instance draws what tells this process from others of its name.
func instance() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}

// describe is a member's metadata, with the cluster id as it now stands.
func (l *ledger) describe(m Member) []byte {
	l.mu.Lock()
	m.Cluster = l.cluster
	l.mu.Unlock()
	b, err := m.encode()
	if err != nil {
		panic(fmt.Sprintf("gossip: metadata that was valid at the start no longer is: %v", err))
	}
	return b
}

// Addr returns the host:port that others can join.
func (r *Roster) Addr() string { return r.addr }

// Cluster returns the id of the cluster; empty while a process that was given
// none is alone.
func (r *Roster) Cluster() string {
	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	return r.ledger.cluster
}

// Members returns everybody who is here, this process too, ordered by name and
// then by instance.
func (r *Roster) Members() []Member { return r.ledger.members() }

// Strays returns processes that were turned away, at most the first 32.
func (r *Roster) Strays() []Stray { return r.ledger.strayed() }

// Watch returns a channel that yields everybody here as Joined, and from then
// on every change. It is closed when ctx ends or the roster closes. A reader
// that is slow holds up nobody.
func (r *Roster) Watch(ctx context.Context) <-chan Event { return r.ledger.watch(ctx) }

// Lookup returns the first member of that name, and whether there is one.
func (r *Roster) Lookup(name string) (Member, bool) {
	for _, m := range r.Members() {
		if m.Name == name {
			return m, true
		}
	}
	return Member{}, false
}

// ByNode returns the process that hosts node i, or a MissingError or
// DuplicateError.
func (r *Roster) ByNode(i int) (Member, error) {
	hosts, err := hostsOf(List(i), r.Members())
	if err != nil {
		return Member{}, err
	}
	return hosts[i], nil
}

// hold keeps out other calls of Leave and Close until what it returns is
// called.
func (r *Roster) hold() (release func()) {
	r.life <- struct{}{}
	return func() { <-r.life }
}

// Leave tells the others that this process leaves on purpose, and returns when
// that has been said often enough for all to hear, some tenths of a second, or
// at the timeout. Close must still be called.
func (r *Roster) Leave(timeout time.Duration) {
	defer r.hold()()
	if r.closed {
		return
	}
	r.sayFarewell()
	// The farewell has to be heard before the departure, and memberlist works
	// off what has queued up at a busy member last in, first out.
	time.Sleep(min(timeout, r.tuning.gossipInterval))
	// memberlist doesn't notice when those it means to tell leave meanwhile
	// themselves, as all do on Ctrl-C, and would wait for the timeout.
	enough := r.tuning.telling(r.ledger.count())
	_ = r.list.Leave(min(timeout, enough)) // its only error is that the time is up
}

// Close stops everything. To the others a process that closes without leaving
// first is one that crashed. Closing again does nothing.
func (r *Roster) Close() {
	defer r.hold()()
	if r.closed {
		return
	}
	r.closed = true
	r.stop()
	r.ledger.close()
	_ = r.list.Shutdown() // returns no error in this version
}
