package coordinator

import (
	"testing"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/gossip/memnet"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
)

// TestWronglyTakenForDead: a member that the roster takes for dead, but that
// answers when it is asked, is part of the cluster still. (One that does not
// answer needs a process that can be stopped: see internal/e2e.)
func TestWronglyTakenForDead(t *testing.T) {
	t.Parallel()
	net := memnet.New()
	var deaf *memnet.Transport
	config := Config{Cluster: trio()}
	config.Gossip = gossip.Loopback()
	config.Gossip.Transport = net.Listen()
	r, err := start(t, config, 3, func(i int, c *nodesim.Config) {
		at := net.Listen()
		c.Gossip.Transport = at
		if i == 1 {
			deaf = at
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	net.Cut(deaf.String())
	events := r.roster.Watch(t.Context())
	await := func(kind gossip.EventKind, name string) {
		for e := range events {
			if e.Kind == kind && e.Member.Name == name {
				return
			}
		}
	}
	await(gossip.Died, "node1")
	if _, err := r.bench(single("ring")); err != nil {
		t.Errorf("a run with a member that is merely deaf: %v", err)
	}
	net.Mend(deaf.String())
	await(gossip.Joined, "node1")
	r.end()
}

// TestGivenUp: what is said of a member that does not answer.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	k := mourned()
	k.ctx = t.Context()
	k.giveUp(k.members[2], died)
	_, _, err := k.hear(t.Context(), func() string { return "nobody" })
	if f := cause(t, err); f.Cause != wire.Timeout || f.Member != "node2" || f.Took <= 0 || f.ExitCode() != 2 {
		t.Errorf("%+v", f)
	}
}
