package nodesim

import (
	"context"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// An emulated partition keeps this process's gossip from others. Its session and
// its peers' streams are the emulator's own, and stay.

// sever takes others off this process's gossip.
func (a *actor) sever(m *railyardv1.Sever) error {
	var nodes []int
	for _, n := range m.GetNodes() {
		if int(n) >= a.fabric.Nodes() {
			return wire.Failf(wire.Mismatch, "cut off node %d: the cluster has nodes 0 to %d", n, a.fabric.Nodes()-1)
		}
		nodes = append(nodes, int(n))
	}
	a.severed = true
	a.node.roster.Cut(gossip.Beyond{Nodes: gossip.List(nodes...), Coordinators: m.GetCoordinator()})
	return nil
}

// mend ends what sever began: with its session nobody would.
func (a *actor) mend() {
	if a.severed {
		a.node.roster.Cut(gossip.Beyond{})
	}
}

// Hears says whom this process's gossip has for alive.
func (s *service) Hears(ctx context.Context, _ *railyardv1.HearsRequest) (*railyardv1.HearsResponse, error) {
	select {
	case <-s.node.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r := &railyardv1.HearsResponse{}
	for _, m := range s.node.roster.Members() {
		r.Members = append(r.Members, m.Name)
	}
	return r, nil
}
