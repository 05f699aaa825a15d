package coordinator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// mostFaults is how many may be in force at once.
const mostFaults = 1000 // assumed: far more than anybody reads

// AddFault puts faults in force from the next bench on, if all together can strike
// the cluster.
func (s *Server) AddFault(_ context.Context, req *railyardv1.AddFaultRequest) (*railyardv1.AddFaultResponse, error) {
	added, err := wire.DecodeFaults(req.GetFaults())
	if err != nil {
		return nil, wire.ToStatus(wire.Failf(wire.Config, "%v", err))
	}
	s.state.Lock()
	defer s.state.Unlock()
	all := slices.Clone(s.faults)
	for i := range added {
		f := &added[i]
		if k, err := fault.Lookup(f.Type); err == nil {
			f.Type = k.Word
		}
		if f.Name == "" {
			f.Name = freeName(all, f.Type)
		} else if slices.ContainsFunc(all, func(o emu.Fault) bool { return o.Name == f.Name }) {
			return nil, wire.ToStatus(wire.Failf(wire.Config, "--name %s: a fault of that name is in force; fault remove %s takes it back", f.Name, f.Name))
		}
		all = append(all, *f)
	}
	if len(all) > mostFaults {
		return nil, wire.ToStatus(wire.Failf(wire.Config, "%d faults: at most %d may be in force", len(all), mostFaults))
	}
	if err := s.bearable(all); err != nil {
		return nil, wire.ToStatus(err)
	}
	s.faults = all
	s.rest()
	return &railyardv1.AddFaultResponse{Faults: wire.EncodeFaults(added)}, nil
}

// bearable says what is wrong with faults, if something is.
func (s *Server) bearable(all []emu.Fault) error {
	f, err := fault.Fabric(s.config.Cluster, all)
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	schedule, err := fault.Compile(f, all, s.config.Cluster.Seed, horizon)
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	return Bearable(schedule, all)
}

// freeName returns the type with the first number that no fault has.
func freeName(all []emu.Fault, word string) string {
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s-%d", word, i)
		if !slices.ContainsFunc(all, func(f emu.Fault) bool { return f.Name == name }) {
			return name
		}
	}
}

// ListFaults returns what is in force.
func (s *Server) ListFaults(context.Context, *railyardv1.ListFaultsRequest) (*railyardv1.ListFaultsResponse, error) {
	return &railyardv1.ListFaultsResponse{Faults: wire.EncodeFaults(s.inForce())}, nil
}

// inForce returns the faults of the next bench.
func (s *Server) inForce() []emu.Fault {
	s.state.Lock()
	defer s.state.Unlock()
	return slices.Clone(s.faults)
}

// RemoveFaults takes faults back, all that are named or none.
func (s *Server) RemoveFaults(_ context.Context, req *railyardv1.RemoveFaultsRequest) (*railyardv1.RemoveFaultsResponse, error) {
	s.state.Lock()
	defer s.state.Unlock()
	var kept, removed []emu.Fault
	for _, f := range s.faults {
		if req.GetAll() || slices.Contains(req.GetNames(), f.Name) {
			removed = append(removed, f)
		} else {
			kept = append(kept, f)
		}
	}
	for _, name := range req.GetNames() {
		if !req.GetAll() && !slices.ContainsFunc(removed, func(f emu.Fault) bool { return f.Name == name }) {
			return nil, wire.ToStatus(wire.Failf(wire.Config, "fault %s", unknownFault(name, s.faults)))
		}
	}
	s.faults = kept
	s.rest()
	return &railyardv1.RemoveFaultsResponse{Removed: wire.EncodeFaults(removed)}, nil
}

func unknownFault(name string, all []emu.Fault) string {
	var names []string
	for _, f := range all {
		names = append(names, f.Name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("%q: none is in force", suggest.Clip(name))
	}
	return fmt.Sprintf("%q is not in force; %s are%s", suggest.Clip(name), strings.Join(names, ", "), suggest.Hint(name, names))
}
