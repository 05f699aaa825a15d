package coordinator

import (
	"context"
	"errors"
	"flag"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
)

func TestMain(m *testing.M) {
	flag.Parse()
	// memberlist does not wait for a probe that is under way, which takes longer where
	// many went unanswered.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/hashicorp/memberlist.(*Memberlist).probeNode"))
}

// version is that of every binary that these tests play.
const version = "test"

// bound is how long anything here may take before it counts as hanging. No test
// waits for it unless it fails.
const bound = time.Minute

// rig is a cluster on real loopback sockets, all of whose nodesims run in this
// process.
type rig struct {
	*Cluster
	t     testing.TB
	nodes []*daemon
}

// daemon is a nodesim in a goroutine of its own.
type daemon struct {
	stop context.CancelFunc // as SIGTERM does
	done chan struct{}
	err  error // what Run returned; set before done is closed
}

// change makes one nodesim of a rig unlike the others, or all of them.
type change func(i int, c *nodesim.Config)

// only applies a change to one nodesim.
func only(n int, edit func(*nodesim.Config)) change {
	return func(i int, c *nodesim.Config) {
		if i == n {
			edit(c)
		}
	}
}

func launch(t testing.TB, c nodesim.Config) *daemon {
	ctx, stop := context.WithCancel(context.Background())
	d := &daemon{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(d.done)
		d.err = nodesim.Run(ctx, c)
	}()
	t.Cleanup(func() {
		stop()
		d.wait(t)
	})
	return d
}

// wait returns what the nodesim's Run returned.
func (d *daemon) wait(t testing.TB) error {
	t.Helper()
	select {
	case <-d.done:
		return d.err
	case <-time.After(bound):
		t.Fatal("a nodesim does not end")
		return nil
	}
}

// start brings up a coordinator and procs nodesims among which the nodes are
// spread; one that a change leaves without nodes is not started. The nodesims
// are there whether or not the cluster is.
func start(t testing.TB, config Config, procs int, changes ...change) (*rig, error) {
	t.Helper()
	r := &rig{t: t}
	config.Version, config.ClusterID = version, "rig"
	if config.Logger = zap.NewNop(); config.Gossip.Transport == nil {
		config.Gossip = gossip.Loopback()
	}
	config.Entered = func(join string) {
		for i, nodes := range spread(config.Cluster.Nodes(), procs) {
			c := nodesim.Config{Nodes: nodes, Join: []string{join}, Cluster: config.ClusterID, Version: version,
				Listen: "127.0.0.1:0", Gossip: gossip.Loopback()}
			for _, change := range changes {
				change(i, &c)
			}
			if c.Nodes != nil {
				r.nodes = append(r.nodes, launch(t, c))
			}
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	k, err := Start(ctx, config)
	r.Cluster = k
	return r, err
}

// gather is start for a cluster that must come up. At the end of the test it
// closes the cluster, and every nodesim must then end well.
func gather(t testing.TB, c emu.Cluster, procs int, changes ...change) *rig {
	t.Helper()
	r, err := start(t, Config{Cluster: c}, procs, changes...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		for i, d := range r.nodes {
			if err := d.wait(t); err != nil && !t.Failed() {
				t.Errorf("nodesim %d, after a session that was closed: %v", i, err)
			}
		}
	})
	return r
}

// paused returns a change that holds up the frames of one nodesim, a channel
// that is closed when the first is there, and what lets them go.
func paused(n int) (_ change, begun <-chan struct{}, release func()) {
	first, free := make(chan struct{}), make(chan struct{})
	var once, open sync.Once
	return only(n, func(c *nodesim.Config) {
		c.Hold = func([]wire.Frame) {
			once.Do(func() { close(first) })
			<-free
		}
	}), first, func() { open.Do(func() { close(free) }) }
}

// cause returns the failure that an error is.
func cause(t testing.TB, err error) *wire.Failure {
	t.Helper()
	var f *wire.Failure
	if !errors.As(err, &f) {
		t.Fatalf("error %v, want a failure with a cause", err)
	}
	return f
}
