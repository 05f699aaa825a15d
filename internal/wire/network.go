package wire

import (
	"context"
	"net"

	"google.golang.org/grpc"
)

// Network is what streams go over. nil is TCP; tests bring another.
type Network interface {
	Listen(ctx context.Context, addr string) (net.Listener, error)
	Dial(ctx context.Context, addr string) (net.Conn, error)
}

// Listen opens an address, host:port, of a network.
func Listen(ctx context.Context, n Network, addr string) (net.Listener, error) {
	if n != nil {
		return n.Listen(ctx, addr)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", addr)
}

// Dial returns a client of the server at an address. It connects when it is used.
func Dial(n Network, addr string) (*grpc.ClientConn, error) {
	options := DialOptions()
	if n != nil {
		options = append(options, grpc.WithContextDialer(n.Dial))
	}
	return grpc.NewClient(addr, options...)
}
