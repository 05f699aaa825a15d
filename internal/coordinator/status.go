package coordinator

import (
	"context"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// Status says who is here and what goes on.
func (s *Server) Status(ctx context.Context, _ *railyardv1.StatusRequest) (*railyardv1.StatusResponse, error) {
	rifts := s.rifts(ctx)
	s.state.Lock()
	defer s.state.Unlock()
	m := &railyardv1.StatusResponse{Version: s.config.Version, Running: s.running, Cluster: s.config.ClusterID,
		DeclaredNodes: uint32(s.config.Cluster.Nodes()), ClusterYaml: string(s.config.Cluster.YAML()),
		State:  railyardv1.ClusterState_CLUSTER_STATE_ASSEMBLING,
		Faults: wire.EncodeFaults(s.faults), Rifts: rifts}
	if s.last != nil {
		m.Last = s.explained()
	}
	if s.err != nil {
		m.State = railyardv1.ClusterState_CLUSTER_STATE_BROKEN
	}
	if s.lost != nil {
		m.Lost = wire.EncodeFailure(s.lost)
	}
	if s.cluster == nil {
		m.Members = s.present()
		return m, nil
	}
	m.DeclaredGpus = uint32(s.cluster.fabric.GPUs())
	if s.err == nil {
		m.State = railyardv1.ClusterState_CLUSTER_STATE_IDLE
		if s.running != "" {
			m.State = railyardv1.ClusterState_CLUSTER_STATE_RUNNING
		}
	}
	alive := map[string]bool{}
	for _, p := range s.cluster.roster.Members() {
		alive[p.Name] = p.Role == gossip.Nodesim
	}
	for _, p := range s.cluster.members {
		out := &railyardv1.MemberStatus{Name: p.Name, Address: p.GRPC, Version: p.Version, Alive: (alive[p.Name] || s.cluster.estranged(p)) && !p.dead}
		for n := range p.Nodes.All() {
			out.Nodes = append(out.Nodes, uint32(n))
			_, gpus := s.cluster.fabric.GPURange(n)
			out.Gpus += uint32(gpus)
		}
		m.Members = append(m.Members, out)
	}
	return m, nil
}

// present returns the nodesims that have joined a cluster that still gathers.
func (s *Server) present() (all []*railyardv1.MemberStatus) {
	if s.gathering == nil {
		return nil
	}
	for _, p := range s.gathering.roster.Members() {
		if p.Role != gossip.Nodesim {
			continue
		}
		out := &railyardv1.MemberStatus{Name: p.Name, Address: p.GRPC, Version: p.Version, Alive: true}
		for n := range p.Nodes.All() {
			if n < s.config.Cluster.Nodes() {
				out.Nodes = append(out.Nodes, uint32(n))
			}
		}
		all = append(all, out)
	}
	return all
}

// Shutdown ends the server and with it the cluster.
func (s *Server) Shutdown(context.Context, *railyardv1.ShutdownRequest) (*railyardv1.ShutdownResponse, error) {
	defer s.end()
	s.state.Lock()
	defer s.state.Unlock()
	n := 0
	if s.cluster != nil {
		n = len(s.cluster.members)
	}
	return &railyardv1.ShutdownResponse{Members: uint32(n)}, nil
}
