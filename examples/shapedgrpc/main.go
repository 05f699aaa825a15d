// Command shapedgrpc calls a gRPC service over an InfiniBand NDR rail that is
// slowed down a thousandfold: 49 MB/s, and 1.795 ms each way.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/railyard/railyard/shaping/grpcshape"
	"github.com/railyard/railyard/shaping/link"
)

func main() {
	rail, err := link.Open("ndr / 1000", link.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer rail.Close()
	if err := call(os.Stdout, rail); err != nil {
		log.Fatal(err)
	}
}

// call asks a server for its health three times, and says what each took.
func call(out io.Writer, rail *link.Link) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer() // or, at this end: grpc.NewServer(grpcshape.Server(rail, nil))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()

	conn, err := grpc.NewClient(listener.Addr().String(), grpcshape.Dial(rail), // the one line that shapes
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	for range 3 {
		began := time.Now()
		answer, err := grpc_health_v1.NewHealthClient(conn).Check(context.Background(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%v in %v over %v\n", answer.Status, time.Since(began).Round(time.Microsecond), rail)
	}
	return nil
}
