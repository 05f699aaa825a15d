package grpcshape_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/railyard/railyard/shaping/grpcshape"
	"github.com/railyard/railyard/shaping/link"
	"github.com/railyard/railyard/shaping/pacer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a service that answers each message with as many bytes as it says, or
// with its length where it says none.
var echo = grpc.ServiceDesc{
	ServiceName: "test.Echo", HandlerType: (*any)(nil),
	Streams: []grpc.StreamDesc{{StreamName: "Echo", ServerStreams: true, ClientStreams: true,
		Handler: func(_ any, s grpc.ServerStream) error {
			for {
				var m wrapperspb.BytesValue
				if err := s.RecvMsg(&m); err != nil {
					return nil
				}
				if err := s.SendMsg(&m); err != nil {
					return err
				}
			}
		}}},
}

// world is a server and what a client needs to reach it.
type world struct {
	t      *testing.T
	server *grpc.Server
	wire   *bufconn.Listener
}

func serve(t *testing.T, o ...grpc.ServerOption) *world {
	// Windows above what any test has in flight: they would bound the rate.
	o = append(o, grpc.InitialConnWindowSize(1<<26), grpc.InitialWindowSize(1<<26))
	w := &world{t, grpc.NewServer(o...), bufconn.Listen(1 << 20)}
	w.server.RegisterService(&echo, nil)
	go func() { _ = w.server.Serve(w.wire) }()
	return w
}

func (w *world) open(ctx context.Context, _ string) (net.Conn, error) { return w.wire.DialContext(ctx) }

// client returns a stream on a connection of its own, and what closes it.
func (w *world) client(creds credentials.TransportCredentials, o ...grpc.DialOption) (grpc.ClientStream, func()) {
	w.t.Helper()
	o = append(o, grpc.WithTransportCredentials(creds), grpc.WithInitialConnWindowSize(1<<26), grpc.WithInitialWindowSize(1<<26))
	c, err := grpc.NewClient("passthrough:///test", o...)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s, err := c.NewStream(ctx, &echo.Streams[0], "/test.Echo/Echo", grpc.WaitForReady(true))
	if err != nil {
		w.t.Fatal(err)
	}
	return s, func() { cancel(); _ = c.Close() }
}

// ping sends a message and waits for its echo.
func ping(t *testing.T, s grpc.ClientStream, size int) time.Duration {
	t.Helper()
	began := time.Now()
	if err := s.SendMsg(&wrapperspb.BytesValue{Value: make([]byte, size)}); err != nil {
		t.Error(err)
	}
	var m wrapperspb.BytesValue
	if err := s.RecvMsg(&m); err != nil || len(m.Value) != size {
		t.Errorf("echo of %d bytes: %d, %v", size, len(m.Value), err)
	}
	return time.Since(began)
}

func bubble(t *testing.T, spec string, test func(t *testing.T, l *link.Link)) {
	synctest.Test(t, func(t *testing.T) {
		p := pacer.NewTimers()
		defer p.Close()
		l, err := link.Open(spec, link.Options{Pacer: p})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		test(t, l)
	})
}

// between fails unless a span is within bounds, in virtual time.
func between(t *testing.T, what string, got, least, most time.Duration) {
	t.Helper()
	if got < least || got > most {
		t.Errorf("%s took %v, want %v to %v", what, got, least, most)
	}
}

// TestEnds: either option, with and without transport security, delays a call by the
// link's latency both ways and by its bytes / rate.
func TestEnds(t *testing.T) {
	plain := func() (client, server credentials.TransportCredentials) { return insecure.NewCredentials(), nil }
	for _, test := range []struct {
		name  string
		creds func() (client, server credentials.TransportCredentials)
	}{{"plain", plain}, {"TLS", func() (client, server credentials.TransportCredentials) { return certify(t) }}} {
		for _, atServer := range []bool{false, true} {
			name := test.name + " at the client"
			if atServer {
				name = test.name + " at the server"
			}
			t.Run(name, func(t *testing.T) {
				bubble(t, "rate=10MB/s,latency=20ms", func(t *testing.T, l *link.Link) {
					client, server := test.creds()
					var s grpc.ClientStream
					var stop func()
					var w *world
					if atServer {
						w = serve(t, grpcshape.Server(l, server))
						s, stop = w.client(client, grpc.WithContextDialer(w.open))
					} else {
						w = serve(t, grpc.Creds(orInsecure(server)))
						s, stop = w.client(client, grpcshape.DialWith(l, w.open))
					}
					ping(t, s, 1) // what opens a stream is not counted
					between(t, "an empty call", ping(t, s, 1), 40*time.Millisecond, 40*time.Millisecond+100*time.Microsecond)
					between(t, "a call of 1 MB each way", ping(t, s, 1_000_000), 240*time.Millisecond, 243*time.Millisecond)
					up, down := l.Stats()
					if up.Bytes < 1_000_000 || down.Bytes < 1_000_000 {
						t.Errorf("%d bytes went up and %d down, want 1 MB each", up.Bytes, down.Bytes)
					}
					stop()
					w.server.Stop()
				})
			})
		}
	}
}

func orInsecure(c credentials.TransportCredentials) credentials.TransportCredentials {
	if c == nil {
		return insecure.NewCredentials()
	}
	return c
}

// TestOneCap: connections of several clients share what one has. Those that are through
// first begin the way back, so that it takes a little less than both one by one.
func TestOneCap(t *testing.T) {
	bubble(t, "rate=10MB/s,latency=1ms", func(t *testing.T, l *link.Link) {
		w := serve(t)
		var all sync.WaitGroup
		began := time.Now()
		for range 4 {
			s, stop := w.client(insecure.NewCredentials(), grpcshape.DialWith(l, w.open))
			all.Go(func() {
				defer stop()
				ping(t, s, 2_500_000)
			})
		}
		all.Wait()
		between(t, "10 MB of four clients, there and back", time.Since(began), 1990*time.Millisecond, 2050*time.Millisecond)
		w.server.Stop()
	})
}

// TestRefused: a handshake that fails leaves nothing behind (goleak says so).
func TestRefused(t *testing.T) {
	bubble(t, "latency=1ms", func(t *testing.T, l *link.Link) {
		_, server := certify(t)
		w := serve(t, grpcshape.Server(l, server))
		c, err := w.wire.DialContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte("GET / HTTP/1.0\r\n\r\n")) // no TLS
		buf := make([]byte, 1000)
		for err == nil {
			_, err = c.Read(buf)
		}
		_ = c.Close()
		w.server.Stop()
	})
}

// TestDial reaches servers by all kinds of address that gRPC gives a dialer.
func TestDial(t *testing.T) {
	l, err := link.Open("latency=1us", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	path := filepath.Join(t.TempDir(), "s")
	for network, address := range map[string]string{"tcp": "127.0.0.1:0", "unix": path} {
		ln, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer()
		server.RegisterService(&echo, nil)
		go func() { _ = server.Serve(ln) }()
		target := ln.Addr().String()
		if network == "unix" {
			target = "unix://" + target
		}
		c, err := grpc.NewClient(target, grpcshape.Dial(l), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		s, err := c.NewStream(ctx, &echo.Streams[0], "/test.Echo/Echo", grpc.WaitForReady(true))
		if err != nil {
			t.Fatal(err)
		}
		ping(t, s, 100)
		cancel()
		_ = c.Close()
		server.Stop()
	}
	if up, _ := l.Stats(); up.Bytes == 0 {
		t.Error("nothing went over the link")
	}
}

// certify returns credentials of a server and of a client that trusts it.
func certify(t *testing.T) (client, server credentials.TransportCredentials) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"test"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<31, 0), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(cert)
	return credentials.NewTLS(&tls.Config{RootCAs: trusted, ServerName: "test"}),
		credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
}

// TestNil: an option without a link is refused where it is made, not in a goroutine
// of gRPC's.
func TestNil(t *testing.T) {
	l, err := link.Open("latency=1ms", link.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	open := func(context.Context, string) (net.Conn, error) { return nil, net.ErrClosed }
	for what, option := range map[string]func(){
		"the link is nil":    func() { grpcshape.Dial(nil) },
		"link is nil":        func() { grpcshape.DialWith(nil, open) },
		"connections is nil": func() { grpcshape.DialWith(l, nil) },
		"nil; give one":      func() { grpcshape.Server(nil, nil) },
		"that link.Open":     func() { grpcshape.Server(nil, insecure.NewCredentials()) },
	} {
		func() {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, what) {
					t.Errorf("panics with %q, want %q", said, what)
				}
			}()
			option()
		}()
	}
	grpcshape.Dial(l)
	grpcshape.DialWith(l, open)
	grpcshape.Server(l, nil)
}
