package grpcshape

import (
	"context"
	"errors"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/railyard/railyard/shaping/link"
)

// Dial returns a dial option that puts a client's connections on a link: what it
// sends goes up, what it receives comes down. Addresses may be host:port and unix:path.
// A proxy of the environment is not asked, as always when gRPC is given a dialer. It
// panics if the link is nil, as do the others: gRPC would, later and elsewhere.
func Dial(l *link.Link) grpc.DialOption { return DialWith(l, dial) }

// DialWith is Dial for connections that a function of the caller's opens.
func DialWith(l *link.Link, open func(ctx context.Context, address string) (net.Conn, error)) grpc.DialOption {
	there(l)
	if open == nil {
		panic("grpcshape: the function that opens connections is nil")
	}
	return grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
		c, err := open(ctx, address)
		if err != nil {
			return nil, err
		}
		return l.Wrap(c), nil
	})
}

// there panics where an error of link.Open was not looked at.
func there(l *link.Link) {
	if l == nil {
		panic("grpcshape: the link is nil; give one that link.Open returned without an error")
	}
}

// dial opens what gRPC names to a dialer: unix:relative, unix:///absolute, an
// abstract name that begins with a zero byte, or host:port.
func dial(ctx context.Context, address string) (net.Conn, error) {
	var d net.Dialer
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		return d.DialContext(ctx, "unix", strings.TrimPrefix(path, "//"))
	}
	if strings.HasPrefix(address, "\x00") {
		return d.DialContext(ctx, "unix", address)
	}
	return d.DialContext(ctx, "tcp", address)
}

// Server returns a server option that puts a server's connections on a link: what
// it receives has come up, what it sends goes down. Creds are the server's own, nil
// for none. The option takes the place of grpc.Creds; the later of two counts.
func Server(l *link.Link, creds credentials.TransportCredentials) grpc.ServerOption {
	there(l)
	if creds == nil {
		creds = insecure.NewCredentials()
	}
	return grpc.Creds(&shaped{creds, l})
}

// shaped are credentials whose handshake is on a link already. That is where a
// server option meets a connection first.
type shaped struct {
	credentials.TransportCredentials
	link *link.Link
}

// ServerHandshake wraps the connection and has the credentials inside go on.
func (s *shaped) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	on := s.link.WrapAccepted(c)
	secure, info, err := s.TransportCredentials.ServerHandshake(on)
	if err != nil && !errors.Is(err, credentials.ErrConnDispatched) {
		_ = on.Close() // gRPC closes the connection below, and knows no other
	}
	return secure, info, err
}

// Clone returns credentials on the same link.
func (s *shaped) Clone() credentials.TransportCredentials {
	return &shaped{s.TransportCredentials.Clone(), s.link}
}
