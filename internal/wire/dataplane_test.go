package wire

// The data plane's speed, against what the host's TCP does.
//
//	go test ./internal/wire -run - -bench DataPlane
//
// Frames of 1 MiB go from this process to another on one or four connections;
// the same bytes then go over as many plain sockets, in turns. `ratio` is the
// one by the other. What follows is what limits it on loopback, where a byte
// costs memory bandwidth and nothing else.
//
//	raw TCP   user → kernel → user
//	ours      user → write buffer → kernel → read buffer → 16 KiB piece → payload
//
// Each arrow is a pass over memory. Two of the three passes more are grpc-go's:
// into its write buffer (without one it makes a system call of every 16 KiB) and
// out of its read buffer into a buffer for each HTTP/2 frame, whose size it
// fixes at 16 KiB. The third is ours: the codec gathers the frames of a payload
// once, because reductions want it in one piece.
//
// CPU time for a MiB, both ends together, on 2 cores at 2.3 GHz: raw 600 µs,
// ours 870, of which 350 are those copies. Both cores are busy when raw TCP uses
// one connection, so the ratio cannot be more than about 0.7. What is missing to
// that are waits: sender, reader and handler wake one another some 15 times a
// MiB, where raw TCP does so 4 times. options.go says what its figures bring.

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"google.golang.org/grpc"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

const (
	payloadBytes = 1 << 20
	peerEnv      = "RAILYARD_WIRE_PEER" // set in the process that receives
)

func TestMain(m *testing.M) {
	if os.Getenv(peerEnv) != "" {
		if err := servePeer(); err != nil {
			fmt.Fprintln(os.Stderr, "peer:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func BenchmarkDataPlane(b *testing.B) {
	for _, conns := range []int{1, 4} {
		b.Run(fmt.Sprintf("conns=%d", conns), func(b *testing.B) { benchDataPlane(b, conns) })
	}
}

func benchDataPlane(b *testing.B, conns int) {
	p := startPeer(b)
	frames := openStreams(b, p.grpc, conns)
	raw := openSockets(b, p.raw, conns)
	exchange := func(n int) time.Duration { return timed(b, frames, n, sendFrames) }
	socket := func(n int) time.Duration { return timed(b, raw, n, sendRaw) }
	exchange(8)
	socket(8)

	b.SetBytes(payloadBytes)
	b.ResetTimer()
	var ours, theirs time.Duration
	// In turns, so that a change of the host's mood hits both alike.
	for left := b.N; left > 0; {
		n := min(left, 256)
		left -= n
		ours += exchange(n)
		b.StopTimer()
		theirs += socket(n)
		b.StartTimer()
	}
	bytes := float64(b.N) * payloadBytes
	b.ReportMetric(bytes/theirs.Seconds()/1e6, "rawMB/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
}

// timed sends n payloads over all the connections together and waits until the
// peer says that it has them.
func timed[C any](b *testing.B, conns []C, n int, send func(C, int) error) time.Duration {
	start := time.Now()
	errs := make(chan error, len(conns))
	for i, c := range conns {
		share := n*(i+1)/len(conns) - n*i/len(conns)
		go func() { errs <- send(c, share) }()
	}
	for range conns {
		if err := <-errs; err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// sendFrames sends n frames and a batch without frames, which the peer answers.
func sendFrames(s Stream, n int) error {
	var b Batch
	for range n {
		f := Frame{}
		f.Payload = true
		f.Alloc(payloadBytes) // what is in it costs nothing to send
		b.Frames = append(b.Frames, f)
		if err := Send(s, &b); err != nil {
			return err
		}
	}
	if err := Send(s, &b); err != nil {
		return err
	}
	return Recv(s, &b)
}

// sendRaw sends n payloads after their number; the peer answers with a byte.
func sendRaw(c net.Conn, n int) error {
	var head [8]byte
	binary.LittleEndian.PutUint64(head[:], uint64(n))
	if _, err := c.Write(head[:]); err != nil {
		return err
	}
	payload := make([]byte, payloadBytes)
	for range n {
		if _, err := c.Write(payload); err != nil {
			return err
		}
	}
	_, err := io.ReadFull(c, head[:1])
	return err
}

type peer struct{ grpc, raw string }

// startPeer starts this test binary again, as the receiver.
func startPeer(b *testing.B) peer {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=-")
	cmd.Env = append(os.Environ(), peerEnv+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close() // the peer ends with its input, and so with this process
		cmd.Wait()
	})
	var p peer
	if _, err := fmt.Fscanln(stdout, &p.grpc, &p.raw); err != nil {
		b.Fatalf("peer did not say where it is: %v", err)
	}
	return p
}

// servePeer receives until its standard input ends.
func servePeer() error {
	forGRPC, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	forRaw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer(ServerOptions()...)
	railyardv1.RegisterExchangeServiceServer(server, &sink{})
	go server.Serve(forGRPC)
	go func() {
		for {
			c, err := forRaw.Accept()
			if err != nil {
				return
			}
			go drainRaw(c)
		}
	}()
	fmt.Println(forGRPC.Addr(), forRaw.Addr())
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// sink answers every batch without frames and lets go of the others.
type sink struct {
	railyardv1.UnimplementedExchangeServiceServer
}

func (*sink) Exchange(s grpc.BidiStreamingServer[railyardv1.FrameBatch, railyardv1.FrameBatch]) error {
	var b Batch
	for {
		if err := Recv(s, &b); err != nil {
			return err
		}
		if len(b.Frames) == 0 {
			if err := Send(s, &b); err != nil {
				return err
			}
		}
		b.Release()
	}
}

// drainRaw reads with large buffers, which is about as fast as it gets.
func drainRaw(c net.Conn) {
	defer c.Close()
	var head [8]byte
	p := make([]byte, 512<<10)
	for {
		if _, err := io.ReadFull(c, head[:]); err != nil {
			return
		}
		left := int(binary.LittleEndian.Uint64(head[:])) * payloadBytes
		for left > 0 {
			n, err := c.Read(p[:min(left, len(p))])
			if err != nil {
				return
			}
			left -= n
		}
		if _, err := c.Write(head[:1]); err != nil {
			return
		}
	}
}

func openStreams(b *testing.B, addr string, n int) []Stream {
	var streams []Stream
	for range n {
		cc, err := grpc.NewClient("passthrough:///"+addr, DialOptions()...)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { cc.Close() })
		s, err := railyardv1.NewExchangeServiceClient(cc).Exchange(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		streams = append(streams, s)
	}
	return streams
}

func openSockets(b *testing.B, addr string, n int) []net.Conn {
	var conns []net.Conn
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { c.Close() })
		conns = append(conns, c)
	}
	return conns
}
