// Package grpcshape shapes gRPC connections: a dial option and a server option put
// them on a link of shaping/link.
//
//	l, err := link.Open("ndr / 1000", link.Options{})
//	conn, err := grpc.NewClient(addr, grpcshape.Dial(l), …)
//
// One end is enough: both directions are shaped there. Everything given one link
// shares it. Shaping lies below transport security, so handshakes are shaped too.
//
// What is not here: what a link is (shaping/link). Anybody may import it.
package grpcshape
