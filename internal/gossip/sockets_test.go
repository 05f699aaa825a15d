package gossip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// The tests in this file use real sockets on loopback. They wait for events,
// never for a time.

// leaveAll ends rosters so that nobody is left probing a dead one.
func leaveAll(rosters ...*Roster) {
	for _, r := range rosters {
		r.Leave(5 * time.Second)
	}
	for _, r := range rosters {
		r.Close()
	}
}

func TestSockets(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	c := coordinator(Loopback())
	c.Logger = zap.New(core)
	seed := mustStart(t, c)
	if host, port, err := net.SplitHostPort(seed.Addr()); err != nil || host != "127.0.0.1" || port == "0" {
		t.Errorf("address %s, %v", seed.Addr(), err)
	}
	// One joins through a host name, one through another nodesim, and one has
	// an address at which nobody is besides the right one.
	_, port, _ := net.SplitHostPort(seed.Addr())
	byName := nodesim(Loopback(), 0)
	byName.Join = []string{"localhost:" + port}
	first := mustStart(t, byName)
	second := mustStart(t, joining(nodesim(Loopback(), 1), first))
	either := joining(nodesim(Loopback(), 2), seed)
	either.Join = []string{freeAddr(t), seed.Addr()}
	third := mustStart(t, either)

	a, err := seed.Await(context.Background(), Expect{Nodes: 3, Cluster: "c1", Version: "v1", Deadline: time.Minute})
	if err != nil || a.ByNode[1].Addr != second.Addr() {
		t.Errorf("%+v, %v", a, err)
	}
	for _, r := range []*Roster{first, second, third} {
		if _, err := r.WaitFor(t.Context(), upTo(3)); err != nil {
			t.Error(err)
		}
	}
	events := seed.Watch(t.Context())
	for range 3 {
		next(events)
	}
	third.Leave(5 * time.Second)
	if e := next(events); e.Kind != Left || e.Member.Name != "node2" {
		t.Errorf("got %s %s", e.Member.Name, e.Kind)
	}
	third.Close()
	leaveAll(first, second, seed)
	if logs.Len() == 0 || logs.FilterLevelExact(zapcore.DebugLevel).Len() != logs.Len() {
		t.Errorf("memberlist's %d lines are not all at debug: %v", logs.Len(), logs.All())
	}
}

// freeAddr is a loopback address at which nobody listens.
func freeAddr(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestPortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := coordinator(Loopback())
	c.BindPort = l.Addr().(*net.TCPAddr).Port
	_, err = Start(context.Background(), c)
	var b *BindError
	if !errors.As(err, &b) || !Usage(err) || !strings.Contains(err.Error(), strconv.Itoa(c.BindPort)) {
		t.Errorf("got %v", err)
	}
}

func TestNobodyToJoin(t *testing.T) {
	c := nodesim(Loopback(), 0)
	c.Join, c.JoinTimeout = []string{freeAddr(t)}, time.Millisecond
	_, err := Start(context.Background(), c)
	var j *JoinError
	if !errors.As(err, &j) || Usage(err) || !strings.Contains(err.Error(), c.Join[0]) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

// A process that is told to stop while it joins does so at once, even if the
// other side accepts and says nothing.
func TestJoiningIsCancelled(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		if conn, err := mute.Accept(); err == nil {
			defer conn.Close()
		}
		cancel()
	}()
	c := nodesim(Loopback(), 0)
	c.Join = []string{mute.Addr().String()}
	if _, err := Start(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		says   string // field: value
	}{
		{func(c *Config) { *c = Config{Name: "n"} }, "Config: begin with"},
		{func(c *Config) { c.Name = "" }, "Meta: name: must not be empty"},
		{func(c *Config) { c.Name = "a b" }, `Meta: name "a b"`},
		{func(c *Config) { c.Meta.Role = "gpu" }, `Meta: role "gpu"`},
		{func(c *Config) { c.Meta.GRPC = "0.0.0.0:1" }, `grpc address "0.0.0.0:1"`},
		{func(c *Config) { c.Meta.Nodes = everyOther(200) }, "host fewer separate ranges"},
		{func(c *Config) { c.JoinTimeout = 0 }, "JoinTimeout: 0s"},
		{func(c *Config) { c.Join = []string{"here"} }, `Join: address "here"`},
		{func(c *Config) { c.BindAddr = "localhost" }, `BindAddr: "localhost"`},
		{func(c *Config) { c.BindAddr = "::" }, "needs AdvertiseAddr"},
		{func(c *Config) { c.BindPort = 70000 }, "BindPort: 70000"},
		{func(c *Config) { c.AdvertiseAddr = "example.org" }, `AdvertiseAddr: "example.org"`},
	} {
		cfg := nodesim(LAN(), 0)
		c.change(&cfg)
		_, err := Start(context.Background(), cfg)
		if !errors.As(err, new(*ConfigError)) || !Usage(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want a ConfigError that says %s", err, c.says)
		}
	}
}

// All that is wrong is said at once.
func TestConfigErrorsTogether(t *testing.T) {
	c := nodesim(Loopback(), 0)
	c.Name, c.Meta.Version, c.BindPort, c.Join = "", "", -1, []string{":1"}
	_, err := Start(context.Background(), c)
	lines := strings.Split(fmt.Sprint(err), "\n")
	for i, want := range []string{"Meta: name:", "Meta: version:", "Join: address", "BindPort: -1"} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], "gossip: "+want) {
			t.Errorf("line %d is not about %s:\n%v", i, want, err)
		}
	}
}

// everyOther is the set that takes most room: n nodes, none next to another.
func everyOther(n int) Nodes {
	var out []int
	for i := range n {
		out = append(out, 2*i)
	}
	return List(out...)
}
