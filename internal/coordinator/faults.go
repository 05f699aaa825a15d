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

// AddFault puts faults in force, if all together can strike the cluster: in the bench
// that runs, if one does, and from the next one on.
func (s *Server) AddFault(ctx context.Context, req *railyardv1.AddFaultRequest) (*railyardv1.AddFaultResponse, error) {
	added, err := wire.DecodeFaults(req.GetFaults())
	if err != nil {
		return nil, wire.ToStatus(wire.Failf(wire.Config, "%v", err))
	}
	s.edits.Lock()
	defer s.edits.Unlock()
	all, err := s.joined(added)
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	told, err := s.edit(ctx, all, all[len(all)-len(added):], nil)
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	return &railyardv1.AddFaultResponse{Faults: wire.EncodeFaults(all[len(all)-len(added):]), Live: told}, nil
}

// joined returns the faults in force and others, which get names, or why they can't
// all be.
func (s *Server) joined(added []emu.Fault) ([]emu.Fault, error) {
	all := s.inForce()
	for _, f := range added {
		if k, err := fault.Lookup(f.Type); err == nil {
			f.Type = k.Word
		}
		if f.Off {
			return nil, wire.Failf(wire.Config, "off: a fault that was taken back can't be added")
		}
		if f.Name == "" {
			f.Name = freeName(all, f.Type)
		} else if slices.ContainsFunc(all, func(o emu.Fault) bool { return o.Name == f.Name }) {
			return nil, wire.Failf(wire.Config, "--name %s: a fault of that name is in force; fault remove %s takes it back", f.Name, f.Name)
		}
		all = append(all, f)
	}
	if len(all) > mostFaults {
		return nil, wire.Failf(wire.Config, "%d faults: at most %d may be in force", len(all), mostFaults)
	}
	return all, s.bearable(all)
}

// edit changes the faults in force to all: it adds some and takes others back, in the
// bench that runs as well. It needs the lock on edits.
func (s *Server) edit(ctx context.Context, all, added []emu.Fault, removed []string) (*railyardv1.LiveChange, error) {
	s.state.Lock()
	running, l := s.running, s.live
	s.state.Unlock()
	told := &railyardv1.LiveChange{}
	if l != nil && len(added)+len(removed) > 0 {
		got, runs, err := l.edit(ctx, &edit{add: added, remove: removed}, s.config.asked)
		if err == nil {
			err = got.err
		}
		if err != nil {
			return nil, err
		}
		if runs {
			told.Running, told.But = running, got.but
		}
		if got.at > 0 {
			told.AtPs = (*int64)(&got.at)
		}
	} else if l == nil && running != "" {
		told.Running, told.But = running, "under the paced clock no faults strike"
	}
	s.state.Lock()
	defer s.state.Unlock()
	s.faults = all
	s.rest()
	return told, nil
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

// inForce returns the faults in force.
func (s *Server) inForce() []emu.Fault {
	s.state.Lock()
	defer s.state.Unlock()
	return slices.Clone(s.faults)
}

// RemoveFaults takes faults back, all that are named or none: in the bench that runs,
// if one does, and from the next one on.
func (s *Server) RemoveFaults(ctx context.Context, req *railyardv1.RemoveFaultsRequest) (*railyardv1.RemoveFaultsResponse, error) {
	s.edits.Lock()
	defer s.edits.Unlock()
	var kept, removed []emu.Fault
	var names []string
	all := s.inForce()
	for _, f := range all {
		if req.GetAll() || slices.Contains(req.GetNames(), f.Name) {
			removed, names = append(removed, f), append(names, f.Name)
		} else {
			kept = append(kept, f)
		}
	}
	for _, name := range req.GetNames() {
		if !req.GetAll() && !slices.Contains(names, name) {
			return nil, wire.ToStatus(wire.Failf(wire.Config, "fault %s", unknownFault(name, all)))
		}
	}
	told, err := s.edit(ctx, kept, nil, names)
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	return &railyardv1.RemoveFaultsResponse{Removed: wire.EncodeFaults(removed), Live: told}, nil
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
