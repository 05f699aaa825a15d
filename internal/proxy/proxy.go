package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/shaping"
	"github.com/railyard/railyard/shaping/link"
)

// Config is what a proxy is told.
type Config struct {
	Listen, To string // host:port
	Hops       []shaping.Hop
	Dilation   int64
	Seed       uint64
	Logger     *zap.Logger
	// Ready is called with the address that clients may connect to.
	Ready func(address string)
}

// Report is what a proxy has done when it ends.
type Report struct {
	Connections int64 // carried
	Refused     int64 // that upstream did not take
	// Stopped is for how long at most the host did not run the proxy while a
	// connection was open: what then lay in sockets, not yet on the link, was late.
	Stopped  time.Duration
	Up, Down link.Stats
}

// ErrListen is what Run fails with where it can't listen.
var ErrListen = errors.New("cannot listen")

const (
	dialFor = 10 * time.Second // an upstream that drops what it is sent is given up then
	linger  = time.Second      // for peers that do not read
	portion = 128 << 10        // bytes, of one read
	beat    = 50 * time.Millisecond
)

type proxy struct {
	Config
	link             *link.Link
	carried, refused atomic.Int64
	open             atomic.Int64
	all              sync.WaitGroup
}

// Run carries connections until the context ends, then cuts those that are open
// and returns what it has done.
func Run(ctx context.Context, c Config) (Report, error) {
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrListen, err)
	}
	defer ln.Close()
	p := &proxy{Config: c}
	if p.link, err = link.New(c.Hops, link.Options{Dilation: c.Dilation, Seed: c.Seed, Linger: linger}); err != nil {
		return Report{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = ln.Close() })
	defer stop()
	var pulse pulse
	p.all.Go(func() { p.watch(ctx, &pulse) })
	c.Ready(ln.Addr().String())
	err = p.accept(ctx, ln)
	cancel()
	p.link.Abort()
	p.all.Wait()
	r := Report{Connections: p.carried.Load(), Refused: p.refused.Load(), Stopped: pulse.missed}
	r.Up, r.Down = p.link.Stats()
	return r, err
}

// pulse finds out that a process did not run: its beats are then apart.
type pulse struct {
	last   time.Time
	missed time.Duration // the most, beyond what lies between two beats
}

func (u *pulse) beat(now time.Time, counts bool) {
	if counts && !u.last.IsZero() {
		u.missed = max(u.missed, now.Sub(u.last)-beat)
	}
	u.last = now
}

// watch beats until the context ends.
func (p *proxy) watch(ctx context.Context, u *pulse) {
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		u.beat(time.Now(), p.open.Load() > 0)
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// accept takes clients until the context ends. What a client or a shortage of
// descriptors causes passes, so it goes on after a pause.
func (p *proxy) accept(ctx context.Context, ln net.Listener) error {
	for pause := time.Millisecond; ; {
		client, err := ln.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				_ = client.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil:
			p.Logger.Warn("a client was not accepted", zap.Error(err))
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
			pause = min(2*pause, time.Second)
			continue
		}
		pause = time.Millisecond
		p.all.Go(func() { p.serve(ctx, client.(*net.TCPConn)) })
	}
}

// serve carries one client's connection to its end.
func (p *proxy) serve(ctx context.Context, client *net.TCPConn) {
	stop := context.AfterFunc(ctx, func() { _ = client.Close() })
	defer stop()
	d := net.Dialer{Timeout: dialFor}
	up, err := d.DialContext(ctx, "tcp", p.To)
	if err != nil {
		if ctx.Err() == nil {
			p.refused.Add(1)
			p.Logger.Warn("upstream took no connection", zap.String("client", client.RemoteAddr().String()), zap.Error(err))
		}
		reset(client)
		return
	}
	p.carried.Add(1)
	p.open.Add(1)
	defer p.open.Add(-1)
	shaped := p.link.Wrap(up)
	var both sync.WaitGroup
	both.Go(func() { carry(shaped, client, up.(*net.TCPConn)) })
	carry(client, shaped, client)
	both.Wait()
	_ = shaped.Close()
	_ = client.Close()
}

// halfCloser is a connection whose one direction can end alone.
type halfCloser interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// carry copies one direction to its end, and passes on how it ended: a half close
// as one, a reset as a reset of the socket that to writes to.
func carry(to, from halfCloser, socket *net.TCPConn) {
	// Without their other methods: those would copy by less at a time.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, portion))
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		_ = socket.SetLinger(0)
		_ = to.Close()
		_ = from.Close()
	}
}

// reset closes a connection as if nobody had been there.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0)
	_ = c.Close()
}
