package wire

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/experimental"
	"google.golang.org/grpc/keepalive"
)

// What both ends of every connection agree on. The figures were measured on
// loopback with BenchmarkDataPlane, which says what each of them brings.
const (
	// MaxMessage is the largest message, in bytes, that is sent or received. It
	// holds the largest slice of any algorithm (4 steps of LL128, 2.4 MB)
	// several times over; reports and batches that would exceed it are split.
	MaxMessage = 16 << 20

	// BatchBytes is the payload, in bytes, above which a batch should be sent
	// and the next one begun: enough that what a message costs no longer
	// matters, little enough that the receiver works while the sender sends.
	BatchBytes = 1 << 20

	// streamWindow is the HTTP/2 flow control window, in bytes, of a stream: what
	// a sender may be ahead of a receiver that is not reading. While it reads a
	// message, grpc widens the window to the message, so large ones need no
	// large window. What is ahead piles up in the receiver and has left the
	// CPU's cache by the time it is read: CPU time a MiB was 870 µs with 64 to
	// 256 KiB, 940 with 1 MiB and 1200 to 1300 with 8 MiB. Between hosts it must
	// cover rate × round trip: 256 KiB are 20 Gb/s at 100 µs.
	streamWindow = 256 << 10

	// connWindow is that of a connection, over all its streams. It is too large
	// to be what stops a sender, because each window that is used up sends
	// updates of its own, and each update wakes both ends.
	connWindow = 16 << 20

	// writeBuffer is how much, in bytes, goes to the kernel with one system
	// call. Each call wakes the reader: with 16 KiB the rate falls by a third.
	writeBuffer = 512 << 10

	// readBuffer is how much, in bytes, is read with one system call. Up to
	// 512 KiB it makes no difference that can be measured; a small one is less
	// memory where grpc keeps one for each connection, which is everywhere but
	// on Linux.
	readBuffer = 64 << 10

	// pingAfter is how long a connection may be silent before either end asks
	// whether the other is there. The process that dies closes its sockets and
	// is noticed at once; asking is for hosts and networks that vanish. 10 s is
	// the least that grpc lets a client ask for.
	pingAfter = 10 * time.Second

	// pingWait is how long the answer may take. It is long because an answer
	// that is late on a host which is merely busy would end a good run. Linux
	// also drops a connection whose peer takes no data for this long.
	pingWait = 20 * time.Second
)

// ServerOptions returns the options of every gRPC server of ours.
func ServerOptions() []grpc.ServerOption {
	return []grpc.ServerOption{
		// Payload of the data plane passes through without a copy.
		grpc.ForceServerCodecV2(NewCodec()),
		// Beyond the limit the sender is at fault and gets an error; without one
		// a length of 4 GiB in five bytes would be believed.
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.MaxSendMsgSize(MaxMessage),
		// Static, because grpc would widen the window, up to 16 MiB, to what the
		// connection could hold. See streamWindow for why that is too much.
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connWindow),
		// grpc writes and reads HTTP/2 frames of 16 KiB; many go into one call.
		grpc.WriteBufferSize(writeBuffer),
		grpc.ReadBufferSize(readBuffer),
		// A node has a connection to each other node; only those that are busy
		// hold a buffer.
		grpc.SharedWriteBuffer(true),
		// Buffers of received data are not cleared before they are filled.
		experimental.BufferPool(payloads),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: pingAfter, Timeout: pingWait}),
		// Clients ask every pingAfter, streams or no streams; half of that
		// leaves room for clocks and schedulers that are not exact.
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: pingAfter / 2, PermitWithoutStream: true}),
	}
}

// DialOptions returns the options of every gRPC client of ours, for the control
// and the data plane alike. See ServerOptions for what is the same there.
func DialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		// Railyard serves loopback or a private network, and holds no secrets.
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodecV2(NewCodec()),
			grpc.MaxCallRecvMsgSize(MaxMessage),
			grpc.MaxCallSendMsgSize(MaxMessage),
		),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connWindow),
		grpc.WithWriteBufferSize(writeBuffer),
		grpc.WithReadBufferSize(readBuffer),
		grpc.WithSharedWriteBuffer(true),
		experimental.WithBufferPool(payloads),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: pingAfter, Timeout: pingWait, PermitWithoutStream: true}),
		// Nodes start together, so the first attempt often comes too early: try
		// again soon. grpc's default waits a second.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 2 * time.Second,
		}),
		// A proxy of the environment must never stand between two nodes.
		grpc.WithNoProxy(),
		// Frames and grants happen once. What fails is a fault, not a retry.
		grpc.WithDisableRetry(),
		// Nobody else configures our calls.
		grpc.WithDisableServiceConfig(),
	}
}
