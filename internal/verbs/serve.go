package verbs

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// forEver is longer than anybody waits.
const forEver = 100 * 365 * 24 * time.Hour

// serve runs a coordinator for nodes that join from elsewhere.
func (v verbs) serve(ctx context.Context, c cli.ServeConfig) error {
	g, err := gossip.At(c.Gossip)
	if err != nil {
		return coded(ctx, wire.Failf(wire.Config, "--gossip: %v", err))
	}
	wait := c.Wait
	if wait == 0 {
		wait = forEver
	}
	config := coordinator.Config{Cluster: c.Cluster, ClusterID: c.ClusterID, Version: v.version, Gossip: g,
		Assembly: wait, Logger: c.Log}
	err = coordinator.Serve(ctx, config, c.Listen, func(service, join string) {
		fmt.Fprintf(os.Stdout, "serving on %s\nnodesims join at %s\n", service, join)
	})
	return coded(context.Background(), err)
}

var states = map[railyardv1.ClusterState]string{
	railyardv1.ClusterState_CLUSTER_STATE_ASSEMBLING: "waiting for nodes",
	railyardv1.ClusterState_CLUSTER_STATE_IDLE:       "idle",
	railyardv1.ClusterState_CLUSTER_STATE_RUNNING:    "running",
	railyardv1.ClusterState_CLUSTER_STATE_BROKEN:     "broken",
	railyardv1.ClusterState_CLUSTER_STATE_ENDING:     "ending",
}

// status asks a coordinator elsewhere.
func (v verbs) status(ctx context.Context, c cli.StatusConfig) (cli.Status, error) {
	client, addr, err := reach(ctx, &c.Reach)
	if err != nil {
		return cli.Status{}, coded(ctx, err)
	}
	defer client.Close()
	m, err := client.Status(ctx)
	if err != nil {
		return cli.Status{}, coded(ctx, err)
	}
	s := cli.Status{Coordinator: addr, Version: m.GetVersion(), ClusterID: m.GetCluster(), State: states[m.GetState()], Effect: []string{}, CutOff: cutOff(m.GetRifts())}
	if r := m.GetRunning(); r != "" {
		s.State += " " + r
	}
	if m.GetLost() != nil {
		l := wire.DecodeFailure(m.GetLost())
		s.Lost = &cli.Loss{Cause: l.Cause.String(), Text: l.Text, Member: l.Member, Detect: l.Took.Seconds()}
	}
	f, err := declared(addr, m.GetClusterYaml())
	if err != nil {
		return s, coded(ctx, err)
	}
	s.Nodes = nodes(f, m)
	if m.GetLast() != nil {
		last := account(m.GetLast())
		s.Last = &last
	}
	return s, coded(ctx, strike(f, m, &s, c.Ports || c.Format == "json"))
}

// cutOff says who does not hear whom.
func cutOff(rifts []*railyardv1.Rift) []cli.CutOff {
	all := make([]cli.CutOff, len(rifts))
	for i, r := range rifts {
		all[i] = cli.CutOff{Processes: r.GetMembers(), From: r.GetFrom(), State: "meeting"}
		switch {
		case r.GetParted() && r.GetNoticed():
			all[i].State = "apart"
		case r.GetParted():
			all[i].State = "parting"
		}
	}
	return all
}

// strike adds what faults do to the parts of a cluster.
func strike(f *fabric.Fabric, m *railyardv1.StatusResponse, s *cli.Status, all bool) error {
	faults, err := wire.DecodeFaults(m.GetFaults())
	if err != nil {
		return wire.Failf(wire.Mismatch, "%v", err)
	}
	s.Faults = faultStatus(faults)
	if len(faults) > 0 {
		if f, err = fault.Fabric(f.Cluster, faults); err != nil {
			return wire.Failf(wire.Mismatch, "%v", err)
		}
	}
	// Those that repeat without end are shown as far as anybody reads.
	const shown = shaping.Second
	schedule, err := fault.Compile(f, faults, f.Cluster.Seed, shown)
	if err != nil {
		return wire.Failf(wire.Mismatch, "%v", err)
	}
	struck := map[string]string{}
	for line := range strings.Lines(schedule.Text(f)) {
		name, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		struck[name] = what
	}
	s.Ports = []cli.PortStatus{}
	for id := range fabric.PortID(f.Ports()) {
		name := f.PortName(id)
		what := ""
		if schedule.Port(id) != nil {
			what = struck[name]
		}
		if all || what != "" {
			s.Ports = append(s.Ports, cli.PortStatus{Name: name, Rate: f.Port(id).Rate.String(), Struck: what})
		}
		if what != "" {
			delete(struck, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(struck)) {
		s.Effect = append(s.Effect, name+": "+struck[name])
	}
	return nil
}

// declared returns the cluster that a coordinator says it has.
func declared(addr, text string) (*fabric.Fabric, error) {
	cluster, err := emu.ParseCluster(addr, []byte(text))
	if err != nil {
		return nil, wire.Failf(wire.Mismatch, "%v", err)
	}
	f, err := fabric.New(cluster)
	if err != nil {
		return nil, wire.Failf(wire.Mismatch, "%v", err)
	}
	return f, nil
}

func nodes(f *fabric.Fabric, m *railyardv1.StatusResponse) []cli.NodeStatus {
	all := make([]cli.NodeStatus, f.Nodes())
	for i := range all {
		_, gpus := f.GPURange(i)
		all[i] = cli.NodeStatus{Index: i, System: f.System(i).Name, GPUs: gpus, NICs: f.NICs(i), State: "missing"}
		for k := range gpus {
			all[i].Devices = append(all[i].Devices, fmt.Sprintf("node%d/gpu%d", i, k))
		}
		for k := range f.NICs(i) {
			all[i].Devices = append(all[i].Devices, fmt.Sprintf("node%d/nic%d", i, k))
		}
	}
	for _, p := range m.GetMembers() {
		for _, n := range p.GetNodes() {
			if int(n) >= len(all) {
				continue
			}
			s := &all[n]
			s.Process, s.Address, s.State = p.GetName(), p.GetAddress(), "lost"
			if p.GetAlive() {
				s.State = "ready"
			}
		}
	}
	return all
}
