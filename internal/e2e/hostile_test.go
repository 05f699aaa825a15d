//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostilePeers: a cluster stands on a host among peers that send whatever
// they like to its ports: random bytes, HTTP/2 and gRPC that breaks off, packets
// and streams that begin as gossip does. Nothing crashes, nobody is lost, and
// benches that run meanwhile, and after, are right.
func TestHostilePeers(t *testing.T) {
	c := serve(t, "--nodes", "3", "--gpus-per-node", "2", "--log-level", "info")
	var nodesims []*program
	for i := range 3 {
		nodesims = append(nodesims, start(t, "nodesim", "--join", c.join, "--nodes", fmt.Sprint(i), "--log-level", "info"))
	}
	c.idle(t)
	ports := []string{c.service, c.join}
	for _, p := range append(nodesims, c.serve) {
		ports = append(ports, listening(t, p)...)
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	if len(ports) < 8 { // two each
		t.Fatalf("ports %v, want 8", ports)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan int, len(ports))
	for i, addr := range ports {
		go func() { done <- molest(ctx, addr, rand.New(rand.NewPCG(*seed, uint64(i)))) }()
	}
	args := []string{"all_reduce", "-b", "1K", "-e", "1M", "-f", "32", "-n", "4"}
	bench := slices.Concat([]string{"bench", "--connect", c.service}, args)
	want := timeline(t, slices.Concat([]string{"predict", "--nodes", "3", "--gpus-per-node", "2"}, args)...)
	for range 2 {
		same(t, "a bench among hostile peers", timeline(t, bench...), want)
	}
	stop()
	for range ports {
		if n := <-done; n == 0 {
			t.Error("a port was left in peace")
		}
	}
	same(t, "a bench after them", timeline(t, bench...), want)
	for _, p := range append(nodesims, c.serve) {
		if said := p.stderr.String(); strings.Contains(said, "panic") || strings.Contains(said, "lost") {
			t.Errorf("%v says\n%s", p.cmd.Args, said)
		}
	}
	at := c.serve.signal(syscall.SIGTERM)
	if code := c.serve.wait(); code != 0 || c.serve.ended.Sub(at) > crash {
		t.Errorf("serve ended with code %d after %v\n%s", code, c.serve.ended.Sub(at), c.serve.stderr)
	}
	for _, p := range nodesims {
		if code := p.wait(); code != 0 {
			t.Errorf("%v ended with code %d\n%s", p.cmd.Args, code, p.stderr)
		}
	}
}

// The beginnings of what the ports speak; random bytes follow.
var overtures = []string{
	"", "\x00", "GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",                                     // an empty SETTINGS
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\xff\xff\xff\x00\x00\x7f\xff\xff\xff",                                     // a DATA frame of 16 MiB
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\xff\x01\x04\x00\x00\x00\x01", // HEADERS
	gossips("\x00"), gossips("\x03"), gossips("\x04"), gossips("\x05"), // ping, suspect and so on
	gossips("\x06\x83\xa5Nodes\xce\x7f\xff\xff\xff\xacUserStateLen\xce\x7f\xff\xff\xff\xa4Join\xc3"), // a full exchange of 2^31 members
	gossips("\x06\x83\xa5Nodes\xff\xacUserStateLen\xff\xa4Join\xc3"),                                 // of -1 members
	gossips("\x07\xff"), gossips("\x08gone nodesim-1~0"), gossips("\x08bye nodesim-1~0"), // compound; messages of ours
	gossips("\x09"), gossips("\x0a"), gossips("\x0c"), // compressed, encrypted, with a checksum
}

// gossips puts the label before a message that is ours.
func gossips(message string) string { return "\xf4\x0arailyard-1" + message }

// molest sends rubbish to an address, by TCP and UDP, until ctx ends, and
// returns how often somebody took it.
func molest(ctx context.Context, addr string, r *rand.Rand) (taken int) {
	for n := 0; ctx.Err() == nil; n++ {
		message := []byte(overtures[n%len(overtures)])
		for range r.IntN(1600) {
			message = append(message, byte(r.Uint32()))
		}
		for _, network := range []string{"tcp", "udp"} {
			conn, err := net.DialTimeout(network, addr, time.Second)
			if err != nil {
				continue
			}
			_ = conn.SetDeadline(time.Now().Add(20 * time.Millisecond))
			if _, err := conn.Write(message); err == nil && network == "tcp" {
				taken++
			}
			_, _ = conn.Read(message) // whatever it answers, or for as long as it waits
			_ = conn.Close()
		}
	}
	return taken
}

// listening returns the loopback addresses at which a process takes streams.
// Only Linux can tell.
func listening(t *testing.T, p *program) (all []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("%s has no /proc to read ports from", runtime.GOOS)
	}
	own := map[string]bool{}
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil {
			own[to] = true
		}
	}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	const localAddress, state, inode, listens = 1, 3, 9, "0A"
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) <= inode || f[state] != listens || !own["socket:["+f[inode]+"]"] {
			continue
		}
		_, hex, _ := strings.Cut(f[localAddress], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("127.0.0.1:%d", port))
	}
	return all
}
