package coordinator

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/internal/wire"
)

// Config is what a coordinator is told.
type Config struct {
	// Cluster is the declared hardware.
	Cluster emu.Cluster
	// Procs is over how many nodesim processes the nodes are spread; 0 is one
	// for each node. Only for processes the coordinator starts itself.
	Procs int
	// Spawn makes the coordinator start nodesims itself; otherwise it waits for
	// them to join.
	Spawn bool
	// ClusterID names the cluster among others that may gossip near by; empty
	// draws one.
	ClusterID string
	// Nodesim is the path of the binary to start. Empty: beside this one, then
	// on PATH.
	Nodesim string
	// Version of this binary. Nodesims of another are refused.
	Version string
	// Gossip is the preset that suits the network, with the address to bind.
	Gossip gossip.Config
	// Assembly bounds the wait for all declared nodes, in wall time.
	Assembly time.Duration
	// Stall bounds, in wall time, how long a nodesim that owes a report may
	// say nothing at all.
	Stall time.Duration
	// Answer bounds, in wall time, how long a nodesim that the others take for
	// dead may take to answer the coordinator before it counts as lost.
	Answer time.Duration
	// Entered, when set, is told the address to join as soon as it is open.
	Entered func(join string)
	// Ready, when set, is called by Serve once every node is there.
	Ready  func()
	Logger *zap.Logger
	// NodeLog, when set, opens where a nodesim that is started here writes its log.
	NodeLog func(name string) (io.WriteCloser, error)
	// Network is what streams go over; nil is TCP.
	Network wire.Network
	// Clock is the wall clock of the paced clock; nil is that of this host.
	Clock wallclock.Clock
	// Capacity is what the host can carry; nil has it measured when it is asked
	// for.
	Capacity *pace.Capacity

	// roster, when set, is one that outlives the cluster.
	roster *gossip.Roster
	// lost notes members whose sessions broke off: when, by name and instance.
	// nil: this is the only cluster there will be.
	lost *losses
	// gathering, when set, is told the cluster as soon as it has a roster.
	gathering func(*Cluster)
	// asked, when set, is told when somebody waits for the faults of the bench that
	// runs to change.
	asked func()
}

// Defaults of Config.
const (
	DefaultAssembly = 30 * time.Second
	DefaultStall    = 60 * time.Second
	DefaultAnswer   = time.Second
)

func (c *Config) complete(nodes int) error {
	var errs []error
	if c.Procs < 0 || c.Procs > nodes {
		errs = append(errs, fmt.Errorf("--procs %d: must be 1 to %d, the number of nodes; 0 is one for each node", c.Procs, nodes))
	}
	if c.Procs == 0 {
		c.Procs = nodes
	}
	if c.Assembly == 0 {
		c.Assembly = DefaultAssembly
	}
	if c.Stall == 0 {
		c.Stall = DefaultStall
	}
	if c.Answer == 0 {
		c.Answer = DefaultAnswer
	}
	if c.Logger == nil {
		c.Logger = zap.NewNop()
	}
	return errors.Join(errs...)
}
