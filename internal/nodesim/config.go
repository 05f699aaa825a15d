package nodesim

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
)

// Config is what a nodesim is told when it starts.
type Config struct {
	// Name is what it calls itself among the members; default "node" and the
	// nodes it hosts.
	Name string
	// Nodes are the indexes of the servers it hosts.
	Nodes gossip.Nodes
	// Join is the address of any member of the cluster.
	Join []string
	// Cluster is the id of the cluster it belongs to. Empty: that of the
	// members it joins.
	Cluster string
	// Version of this binary, which the coordinator compares with its own.
	Version string
	// Listen is the host:port of the gRPC server; port 0 is any free one.
	Listen string
	// Advertise is the host that others reach this process at; default the host
	// of Listen, or of the gossip address when Listen names none.
	Advertise string
	// Gossip is the preset that suits the network, with the address to bind.
	Gossip gossip.Config
	// Lifeline, when set, is read until it ends: a parent that holds the other
	// end takes this process with it, however it dies.
	Lifeline io.Reader
	// Orphan is how long it waits for a coordinator's session before it gives
	// up.
	Orphan time.Duration
	Logger *zap.Logger
	// Network is what streams go over; nil is TCP.
	Network wire.Network
	// Clock is the wall clock of the paced clock; nil is that of this host.
	Clock wallclock.Clock

	// Hold, for tests, is called with the frames of a peer before they are
	// handed over. It may take its time, and change them.
	Hold func([]wire.Frame)
	// Alter, for tests, changes the cluster this process believes in, behind
	// the coordinator's back. The result must have as many nodes and GPUs.
	Alter func(*emu.Cluster)
}

// DefaultOrphan is how long a nodesim waits for a coordinator.
const DefaultOrphan = 2 * time.Minute

func (c *Config) validate() error {
	var errs []error
	if c.Nodes.Len() == 0 {
		errs = append(errs, errors.New("--nodes: missing; say which nodes to host, for example 0 or 3-5"))
	}
	if len(c.Join) == 0 {
		errs = append(errs, errors.New("--join: missing; give the gossip address of the coordinator or of any member"))
	}
	if c.Name == "" {
		c.Name = fmt.Sprintf("node%s", c.Nodes)
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	if c.Orphan == 0 {
		c.Orphan = DefaultOrphan
	}
	return errors.Join(errs...)
}
