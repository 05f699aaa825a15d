package verbs

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
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
	client, err := coordinator.Connect(ctx, c.Connect)
	if err != nil {
		return cli.Status{}, coded(ctx, err)
	}
	defer client.Close()
	m, err := client.Status(ctx)
	if err != nil {
		return cli.Status{}, coded(ctx, err)
	}
	s := cli.Status{Coordinator: c.Connect, Version: m.GetVersion(), ClusterID: m.GetCluster(), State: states[m.GetState()]}
	if r := m.GetRunning(); r != "" {
		s.State += " " + r
	}
	if m.GetLost() != nil {
		l := wire.DecodeFailure(m.GetLost())
		s.Lost = &cli.Loss{Cause: l.Cause.String(), Text: l.Text, Member: l.Member, Detect: l.Took.Seconds()}
	}
	f, err := declared(c.Connect, m.GetClusterYaml())
	if err != nil {
		return s, coded(ctx, err)
	}
	s.Nodes = nodes(f, m)
	return s, nil
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
