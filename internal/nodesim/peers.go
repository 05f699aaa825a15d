package nodesim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// peer is another participant and the one stream to it.
type peer struct {
	index  int
	name   string
	stream wire.Stream
	out    *mailbox[wire.Batch]
	dead   bool  // killed by a fault: that its stream breaks is no failure
	over   bool  // its stream is broken
	broke  error // how it did, between batches
}

func (a *actor) newPeer(index int, s wire.Stream) *peer {
	return &peer{index: index, name: a.names[index], stream: s, out: newMailbox[wire.Batch]()}
}

// send puts what the actor posted on the stream, until the outbox is closed.
func (p *peer) send() error {
	var batches []wire.Batch
	for open := true; open; {
		batches, open = p.out.take(batches)
		for i := range batches {
			if err := wire.Send(p.stream, &batches[i]); err != nil {
				return p.lost(err)
			}
		}
	}
	return nil
}

// receive posts the frames that arrive, until the stream ends.
func (p *peer) receive(session uint64, inbox *mailbox[event], c *Config) error {
	for {
		var b wire.Batch
		if err := wire.Recv(p.stream, &b); err != nil {
			return p.lost(err)
		}
		if b.Session != session || int(b.From) != p.index {
			return wire.Failf(wire.Mismatch, "frames of session %x from participant %d on the stream of %s", b.Session, b.From, p.name)
		}
		if c.Hold != nil {
			c.Hold(b.Frames)
		}
		inbox.post(event{frames: b.Frames, from: p.index, batch: b.Number, at: c.Clock.Now()})
	}
}

func (p *peer) lost(err error) error {
	return wire.Failf(wire.PeerLost, "the stream to %s broke: %v", p.name, err)
}

// dial opens the stream to a peer. Both directions of it are used.
func (a *actor) dial(index int, addr string) (*peer, error) {
	conn, err := wire.Dial(a.node.config.Network, addr)
	if err != nil {
		return nil, wire.Failf(wire.PeerLost, "%s at %s: %v", a.names[index], addr, err)
	}
	ctx, cancel := context.WithCancel(a.stream.Context())
	late := time.AfterFunc(patience, cancel)
	stream, err := railyardv1.NewExchangeServiceClient(conn).Exchange(ctx, grpc.WaitForReady(true))
	if err == nil {
		err = stream.SendMsg(&wire.Batch{Session: a.session, From: uint32(a.self)})
	}
	if !late.Stop() {
		err = fmt.Errorf("no answer within %v", patience)
	}
	if err != nil {
		cancel()
		return nil, errors.Join(wire.Failf(wire.PeerLost, "%s at %s: %v", a.names[index], addr, err), conn.Close())
	}
	p := a.newPeer(index, stream)
	var ends sync.WaitGroup
	ends.Go(func() { a.mind(p, p.send()) })
	ends.Go(func() { a.mind(p, p.receive(a.session, a.inbox, &a.node.config)) })
	a.dialed = append(a.dialed, func() {
		cancel()
		_ = conn.Close()
		ends.Wait()
	})
	return p, nil
}

// mind posts the end of a stream; after the session it interests nobody.
func (a *actor) mind(p *peer, err error) {
	if err != nil {
		select {
		case <-a.over:
			return
		default:
		}
		a.log.Info("lost", zap.String("member", p.name), zap.String("by", "stream"), zap.Error(err))
		a.inbox.post(event{err: err, lost: p})
	}
}

// exchange is what lower-numbered peers dial.
type exchange struct {
	railyardv1.UnimplementedExchangeServiceServer
	node *node
}

// Exchange joins a peer's stream to the session it names.
func (x *exchange) Exchange(stream railyardv1.ExchangeService_ExchangeServer) error {
	var hello wire.Batch
	if err := wire.Recv(stream, &hello); err != nil {
		return fmt.Errorf("waiting for a peer's first batch: %w", err)
	}
	ctx, cancel := context.WithTimeout(stream.Context(), patience)
	defer cancel()
	a, err := x.node.lobby.find(ctx, &hello)
	if err != nil {
		return wire.ToStatus(err)
	}
	p := a.newPeer(int(hello.From), stream)
	go func() { a.mind(p, p.send()) }()
	defer p.out.close()
	a.inbox.post(event{peer: p, from: p.index})
	broken := make(chan error, 1)
	go func() { broken <- p.receive(hello.Session, a.inbox, &x.node.config) }()
	// Both end with the stream, and the stream with this handler: a peer that is
	// stopped must not keep it.
	select {
	case err = <-broken:
		a.mind(p, err)
		return wire.ToStatus(err)
	case <-a.over:
		return wire.ToStatus(wire.Failf(wire.PeerLost, "the session is over"))
	}
}
