package coordinator

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// broken runs a bench that must fail, and checks for what and whom it blames.
func (r *rig) broken(want wire.Cause, words ...string) {
	r.t.Helper()
	_, err := r.bench(single("ring"))
	f := cause(r.t, err)
	if f.Cause != want {
		r.t.Errorf("cause %v, want %v: %v", f.Cause, want, f)
	}
	for _, w := range words {
		if !strings.Contains(f.Error(), w) {
			r.t.Errorf("%q does not say %q", f, w)
		}
	}
	if strings.Contains(f.Error(), "\n") {
		r.t.Errorf("%q is more than a line", f)
	}
}

// end closes a broken cluster; its nodesims must end as well.
func (r *rig) end() {
	r.t.Helper()
	r.Close()
	for _, d := range r.nodes {
		_ = d.wait(r.t)
	}
}

// setUp is start for a cluster that comes up and then breaks.
func setUp(t *testing.T, config Config, changes ...change) *rig {
	t.Helper()
	config.Cluster = trio()
	r, err := start(t, config, 3, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPeerLost: a nodesim that ends in the middle of a run ends the run, and is
// the one that is named, although its peers complain as well. "In the middle"
// is certain: its first frames are held back until it is gone.
func TestPeerLost(t *testing.T) {
	t.Parallel()
	pause, begun, release := paused(0)
	r := setUp(t, Config{}, pause)
	t.Cleanup(release)
	go func() {
		defer release()
		<-begun
		r.nodes[1].stop()
		<-r.nodes[1].done
	}()
	r.broken(wire.PeerLost, "node 1 lost", "process node1")
	r.end()
}

// TestStall: a nodesim that says nothing for too long is named, and the run
// ends.
func TestStall(t *testing.T) {
	t.Parallel()
	pause, _, release := paused(1)
	// Long enough for those that are merely slow on a busy host.
	r := setUp(t, Config{Stall: time.Second}, pause)
	t.Cleanup(release)
	r.broken(wire.Timeout, "node1 said nothing for 1s")
	release()
	r.end()
}

// TestGarbage: frames that nobody can have sent in earnest end the run with a
// cause that names their sender. The connection, the stamp and the place on the
// way are what the kernel would otherwise trust.
func TestGarbage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		spoil func(*wire.Frame)
		words []string
	}{
		{"unknown connection", func(f *wire.Frame) { f.Conn = 1 << 30 }, []string{"connection 1073741824"}},
		{"stamp in the past", func(f *wire.Frame) { f.Head, f.Tail = 0, 0 }, []string{"stamps 0 to 0 ps"}},
		{"head after tail", func(f *wire.Frame) { f.Credit, f.Head = false, f.Tail+1 }, []string{"stamps"}},
		{"off the path", func(f *wire.Frame) { f.Credit, f.At = false, 1<<20 }, []string{"port 1048576"}},
		{"too large", func(f *wire.Frame) { f.Credit, f.Head, f.Bytes = false, f.Tail, shaping.Bytes(1)<<50 }, []string{"1125899906842624 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			r := setUp(t, Config{}, only(2, func(c *nodesim.Config) {
				c.Hold = func(frames []wire.Frame) {
					for i := range frames {
						// By then the receiver has moved on from the start itself.
						if f := &frames[i]; !f.Credit && f.Tail > shaping.Time(30*shaping.Microsecond) {
							once.Do(func() { test.spoil(f) })
						}
					}
				}
			}))
			r.broken(wire.Mismatch, append(test.words, "sends", "member node2")...)
			r.end()
		})
	}
}

// TestVerdicts: a cluster that cannot be gathered says why, in one line, and
// leaves its nodesims to end by themselves.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change change
		cause  wire.Cause
		words  []string
	}{
		{"missing", only(1, func(c *nodesim.Config) { c.Nodes = nil }),
			wire.Timeout, []string{"missing: node 1 of 3", "here: node0"}},
		{"duplicate", only(1, func(c *nodesim.Config) { c.Nodes = gossip.Nodes{{First: 2, Last: 2}} }),
			wire.Config, []string{"duplicate: node 2", "stop all but one"}},
		{"surplus", only(2, func(c *nodesim.Config) { c.Nodes = gossip.Nodes{{First: 2, Last: 3}} }),
			wire.Config, []string{"surplus", "3 nodes, 0 to 2", "node2-3"}},
		{"of another version", only(2, func(c *nodesim.Config) { c.Version = "other" }),
			wire.Config, []string{"version mismatch: test is wanted", "node2", "other"}},
		{"of another cluster", only(0, func(c *nodesim.Config) { c.Cluster = "foreign" }),
			wire.Timeout, []string{"missing: node 0 of 3", "turned away", "foreign"}},
		{"out of reach", only(1, func(c *nodesim.Config) { c.Advertise = "127.0.0.2" }),
			wire.Timeout, []string{"node1 does not answer at 127.0.0.2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			assembly := 2 * time.Second
			if test.cause == wire.Config {
				assembly = bound // the verdict must not wait for it
			}
			r, err := start(t, Config{Cluster: trio(), Assembly: assembly}, 3, test.change)
			f := cause(t, err)
			if f.Cause != test.cause {
				t.Errorf("cause %v, want %v: %v", f.Cause, test.cause, f)
			}
			for _, w := range test.words {
				if !strings.Contains(f.Text, w) {
					t.Errorf("%q does not say %q", f.Text, w)
				}
			}
			if strings.Contains(f.Text, "\n") {
				t.Errorf("%q is more than a line", f.Text)
			}
			for _, d := range r.nodes {
				_ = d.wait(t)
			}
		})
	}
}

// TestLate: a nodesim that comes when another hosts its node and the cluster
// runs is told so, and harms nobody.
func TestLate(t *testing.T) {
	t.Parallel()
	r := gather(t, eight(false), 2)
	d := launch(t, nodesim.Config{Name: "late", Nodes: gossip.Nodes{{First: 7, Last: 7}}, Join: []string{r.Join()}, Cluster: "rig",
		Version: version, Listen: "127.0.0.1:0", Gossip: gossip.Loopback()})
	f := cause(t, d.wait(t))
	if f.Cause != wire.Config || !strings.Contains(f.Text, "node 7 is hosted already") {
		t.Errorf("it ended with %v", f)
	}
	if _, err := r.bench(single("ring")); err != nil {
		t.Errorf("a bench after it: %v", err)
	}
}
