package coordinator

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// How much is measured: some 0.5 s in all, so that a run that has to choose its
// dilation does not keep anybody waiting.
const (
	alarms     = 200
	pings      = 200
	apart      = time.Millisecond // alarms and pings, so that everybody sleeps in between, as in a run
	singles    = 20_000           // frames, each in a message of its own
	bulk       = 64               // frames of half a MiB, the largest slice of a ring
	bulkBytes  = 512 << 10
	percentile = 99
)

// Measure finds out what this host can carry: how late alarms are, how long a
// frame takes over gRPC on loopback, and how much goes through a second.
func Measure(ctx context.Context, clock wallclock.Clock) (c pace.Capacity, err error) {
	c.Wake = wakeUps(clock)
	lis, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return c, fmt.Errorf("measuring this host: %w", err)
	}
	srv := grpc.NewServer(wire.ServerOptions()...)
	railyardv1.RegisterExchangeServiceServer(srv, mirror{})
	served := make(chan error, 1)
	go func() { served <- srv.Serve(lis) }()
	defer func() {
		srv.Stop()
		<-served
	}()
	conn, err := grpc.NewClient(lis.Addr().String(), wire.DialOptions()...)
	if err != nil {
		return c, fmt.Errorf("measuring this host: %w", err)
	}
	defer conn.Close()
	stream, err := railyardv1.NewExchangeServiceClient(conn).Exchange(ctx, grpc.WaitForReady(true))
	if err == nil {
		err = measure(&c, stream, clock)
	}
	if err != nil {
		return c, fmt.Errorf("measuring this host: %w", err)
	}
	return c, nil
}

// wakeUps returns how late alarms are at the percentile.
func wakeUps(clock wallclock.Clock) int64 {
	rang := make(chan int64, 1)
	alarm := clock.Alarm(func() { rang <- clock.Now() })
	late := make([]int64, alarms)
	for i := range late {
		at := clock.Now() + int64(apart)
		alarm.Set(at)
		<-rang
		late[i] = clock.Now() - at
	}
	return worst(late)
}

func worst(all []int64) int64 {
	slices.Sort(all)
	return all[len(all)*percentile/100]
}

// mirror sends back the last frame of what it gets when that is a credit; the
// rest is for counting.
type mirror struct {
	railyardv1.UnimplementedExchangeServiceServer
}

// Exchange implements the service.
func (mirror) Exchange(stream railyardv1.ExchangeService_ExchangeServer) error {
	for {
		var b wire.Batch
		if err := wire.Recv(stream, &b); err != nil {
			return err
		}
		back := len(b.Frames) > 0 && b.Frames[0].Credit
		b.Release()
		if !back {
			continue
		}
		if err := wire.Send(stream, &wire.Batch{}); err != nil {
			return err
		}
	}
}

// measure sends what is measured over a stream to a mirror.
func measure(c *pace.Capacity, s wire.Stream, clock wallclock.Clock) error {
	took := make([]int64, pings)
	for i := range took {
		time.Sleep(apart)
		began := clock.Now()
		if err := ping(s); err != nil {
			return err
		}
		took[i] = clock.Now() - began
	}
	const ways = 2 // there and back
	c.Stream = worst(took) / ways
	whole, err := volley(s, clock, singles, 0)
	if err != nil {
		return err
	}
	c.Frames = rate(singles, whole)
	whole, err = volley(s, clock, bulk, bulkBytes)
	c.Bytes = rate(bulk*bulkBytes, whole)
	return err
}

// ping sends a credit and waits for the answer.
func ping(s wire.Stream) error {
	if err := wire.Send(s, &wire.Batch{Frames: []wire.Frame{{Header: transit.Header{Credit: true}}}}); err != nil {
		return err
	}
	var b wire.Batch
	return wire.Recv(s, &b)
}

// volley returns what n frames with so many bytes each take, in nanoseconds.
func volley(s wire.Stream, clock wallclock.Clock, n, bytes int) (int64, error) {
	began := clock.Now()
	for range n {
		f := wire.Frame{Header: transit.Header{Payload: bytes > 0}}
		if bytes > 0 {
			f.Alloc(bytes)
		}
		if err := wire.Send(s, &wire.Batch{Frames: []wire.Frame{f}}); err != nil {
			return 0, err
		}
	}
	err := ping(s)
	return clock.Now() - began, err
}

// rate returns how many a second n in so many nanoseconds are.
func rate(n, ns int64) int64 { return int64(float64(n) / float64(max(ns, 1)) * 1e9) }
