package gossip

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// JoinError says that nobody answered at any of the addresses to join.
type JoinError struct {
	Addrs  []string
	Waited time.Duration
	Err    error // what the last attempt ended with
}

func (e *JoinError) Error() string {
	return fmt.Sprintf("gossip: nobody to join at %s after %v: %v; check that the address is the one its owner printed and that it is still running",
		strings.Join(e.Addrs, ", "), e.Waited.Round(time.Millisecond), e.Err)
}

// Unwrap returns the cause.
func (e *JoinError) Unwrap() error { return e.Err }

// ForeignError says that an address to join belongs to another cluster.
type ForeignError struct {
	Addrs   []string
	Cluster string // ours
	Found   Stray
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("gossip: cannot join %s: %q at %s is there and belongs to cluster %q, this process to %q; join an address of its own cluster",
		strings.Join(e.Addrs, ", "), e.Found.Name, e.Found.Addr, e.Found.Cluster, e.Cluster)
}

func (e *ForeignError) usage() bool { return true }

// Pauses between attempts to join: short at first, for processes that are
// started together, then long enough to leave a host alone that is not up.
// Pauses of catchUp: gossip gets some tenths of a second to do it alone.
const (
	joinFirst    = 50 * time.Millisecond
	joinLast     = time.Second
	catchUpFirst = 300 * time.Millisecond
	catchUpLast  = time.Second
)

// join tries the addresses until one answers, another cluster is found there,
// or ctx ends.
func (r *Roster) join(ctx context.Context, addrs []string) error {
	if len(addrs) == 0 {
		return nil
	}
	start, pause := time.Now(), joinFirst
	for {
		err := r.joinOnce(ctx, addrs)
		if err == nil {
			return nil
		}
		if s, ok := r.ledger.foreigner(err); ok {
			return &ForeignError{Addrs: addrs, Cluster: r.Cluster(), Found: s}
		}
		select {
		case <-ctx.Done():
			return &JoinError{Addrs: addrs, Waited: time.Since(start), Err: err}
		case <-time.After(pause):
			pause = min(2*pause, joinLast)
		}
	}
}

// foreigner returns the member of another cluster because of which joining
// failed, if that was the reason. memberlist keeps nothing of our error but
// its text; a stray that merely came by meanwhile is not the reason.
func (l *ledger) foreigner(err error) (Stray, bool) {
	for _, s := range l.strayed() {
		if s.Cluster != "" && strings.Contains(err.Error(), s.String()) {
			return s, true
		}
	}
	return Stray{}, false
}

// joinOnce asks every address for its members and succeeds if one answers.
func (r *Roster) joinOnce(ctx context.Context, addrs []string) error {
	var errs several
	joined := 0
	for _, a := range addrs {
		targets, err := resolve(ctx, a)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		n, err := r.list.Join(targets)
		joined += n
		errs = append(errs, unbundle(err)...)
	}
	if joined > 0 {
		return nil
	}
	return errs.orNil()
}

// unbundle returns the errors in one of memberlist's, which prints them as a
// list of several lines.
func unbundle(err error) []error {
	if b, ok := err.(interface{ WrappedErrors() []error }); ok {
		return b.WrappedErrors()
	}
	return []error{err}
}

// catchUp asks those that were joined for their members, again and again until
// ctx ends, on behalf of a process that waits for somebody. Gossip alone leaves
// gaps when many join at once: each piece of news is passed on a fixed number
// of times, so that now and then a member misses it, and memberlist's next full
// exchange is seconds away and with a random member. Whom all have joined, on
// the other hand, knows all.
func (r *Roster) catchUp(ctx context.Context) {
	if len(r.joined) == 0 {
		return
	}
	r.ledger.spawn(func() {
		for pause := catchUpFirst; ; pause = min(2*pause, catchUpLast) {
			select {
			case <-time.After(pause):
				// If nobody answers now, gossip or the next round will do.
				_ = r.joinOnce(ctx, r.joined)
			case <-ctx.Done():
				return
			case <-r.ledger.done:
				return
			}
		}
	})
}

// resolve turns a host name into addresses. memberlist would do so by itself,
// but with DNS queries that no context ends.
func resolve(ctx context.Context, addr string) ([]string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	if net.ParseIP(host) != nil {
		return []string{addr}, nil
	}
	ips, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, ip := range ips {
		out = append(out, net.JoinHostPort(ip, port))
	}
	return out, nil
}

// adopt makes the cluster id that was found where we joined part of what we
// say of ourselves. It doesn't wait until all have heard: nobody needs it, and
// gossip will see to it.
func (r *Roster) adopt(c *Config) {
	if c.Meta.Cluster == "" && r.Cluster() != "" {
		_ = r.list.UpdateNode(time.Nanosecond) // the only error is that it didn't wait
	}
}
