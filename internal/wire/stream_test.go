package wire

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// echo sends every batch back: the payload it takes out of one frame it gives
// to the next.
type echo struct {
	railyardv1.UnimplementedExchangeServiceServer
}

func (echo) Exchange(s grpc.BidiStreamingServer[railyardv1.FrameBatch, railyardv1.FrameBatch]) error {
	var in, out Batch
	for {
		if err := Recv(s, &in); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		out.Session, out.From, out.Number = in.Session, in.From, in.Number
		for i := range in.Frames {
			f := Frame{Header: in.Frames[i].Header}
			f.Give(in.Frames[i].Take())
			out.Frames = append(out.Frames, f)
		}
		if err := Send(s, &out); err != nil {
			return err
		}
	}
}

// plainEcho is what somebody writes who knows the contract alone.
type plainEcho struct {
	railyardv1.UnimplementedExchangeServiceServer
}

func (plainEcho) Exchange(s grpc.BidiStreamingServer[railyardv1.FrameBatch, railyardv1.FrameBatch]) error {
	for {
		m, err := s.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = s.Send(m)
		}
		if err != nil {
			return err
		}
	}
}

// serve returns a client of the service, over memory.
func serve(t *testing.T, s railyardv1.ExchangeServiceServer, server []grpc.ServerOption, client []grpc.DialOption) railyardv1.ExchangeServiceClient {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	g := grpc.NewServer(server...)
	railyardv1.RegisterExchangeServiceServer(g, s)
	done := make(chan error)
	go func() { done <- g.Serve(l) }()
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) })
	cc, err := grpc.NewClient("passthrough:///memory", append(client, dial)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cc.Close()
		g.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return railyardv1.NewExchangeServiceClient(cc)
}

func open(t *testing.T, c railyardv1.ExchangeServiceClient) Stream {
	t.Helper()
	s, err := c.Exchange(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A stream of batches goes through real grpc and back: with our codec at both
// ends, or at either.
func TestExchange(t *testing.T) {
	plain := []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	for name, c := range map[string]railyardv1.ExchangeServiceClient{
		"ours":         serve(t, echo{}, ServerOptions(), DialOptions()),
		"plain server": serve(t, plainEcho{}, nil, DialOptions()),
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			s := open(t, c)
			for range 20 {
				b := anyBatch(r, r.IntN(20), 0, 10, 5000, 40_000)
				want := clone(b)
				if err := Send(s, b); err != nil {
					t.Fatal(err)
				}
				if len(b.Frames) != 0 {
					t.Fatal("Send leaves frames in the batch")
				}
				var got Batch
				if err := Recv(s, &got); err != nil {
					t.Fatal(err)
				}
				sameBatch(t, &got, want)
				got.Release()
			}
		})
	}
	t.Run("plain client", func(t *testing.T) {
		s, err := serve(t, echo{}, ServerOptions(), plain).Exchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := anyBatch(rand.New(rand.NewPCG(3, 4)), 9, 0, 10, 40_000)
		if err := s.Send(message(b)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if !proto.Equal(got, message(b)) {
			t.Error("a batch comes back different")
		}
	})
}

func clone(b *Batch) *Batch {
	c := &Batch{Session: b.Session, From: b.From, Number: b.Number}
	for i := range b.Frames {
		f := Frame{Header: b.Frames[i].Header}
		if d := b.Frames[i].Data(); d != nil {
			copy(f.Alloc(len(d)), d)
		}
		c.Frames = append(c.Frames, f)
	}
	return c
}

// A batch that breaks the contract, or its limits, ends the stream with a
// status, at whichever end it is noticed.
func TestExchangeRefuses(t *testing.T) {
	c := serve(t, echo{}, ServerOptions(), DialOptions())
	t.Run("too large to send", func(t *testing.T) {
		b := Batch{Frames: []Frame{{}}}
		b.Frames[0].Payload = true
		b.Frames[0].Alloc(MaxMessage)
		if err := Send(open(t, c), &b); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("got %v", err)
		}
	})
	t.Run("against the contract", func(t *testing.T) {
		s, err := c.Exchange(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(&railyardv1.FrameBatch{Payload: []byte("nobody's")}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Recv(); status.Code(err) != codes.Internal {
			t.Errorf("got %v", err)
		}
	})
}
