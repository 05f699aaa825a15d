package gossip

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fleet is how many processes the benchmarks start together.
const fleet = 64

// BenchmarkJoin64 starts 64 rosters in this process, over real loopback
// sockets, and measures the time until each sees all. One iteration is one try:
//
//	go test -run - -bench Join64 -benchtime 20x ./internal/gossip
func BenchmarkJoin64(b *testing.B) {
	reportJoins(b, func() time.Duration {
		seed := mustStart(b, nodesim(Loopback(), 0))
		rosters := []*Roster{seed}
		var mu sync.Mutex
		var wg sync.WaitGroup
		start := time.Now()
		for i := 1; i < fleet; i++ {
			wg.Go(func() {
				r := mustStart(b, joining(nodesim(Loopback(), i), seed))
				mu.Lock()
				rosters = append(rosters, r)
				mu.Unlock()
			})
		}
		wg.Wait()
		for _, r := range rosters {
			wg.Go(func() { seeAll(b, r) })
		}
		wg.Wait()
		took := time.Since(start)
		for _, r := range rosters {
			wg.Go(r.Close)
		}
		wg.Wait()
		return took
	})
}

// BenchmarkJoin64Processes does so with 64 real processes, which this one
// starts and joins: the time includes what it takes to start them.
func BenchmarkJoin64Processes(b *testing.B) {
	reportJoins(b, func() time.Duration {
		seed := mustStart(b, coordinator(Loopback()))
		defer seed.Close()
		start := time.Now()
		children := make([]*child, fleet)
		for i := range children {
			children[i] = startChild(b, i, seed.Addr())
		}
		for _, c := range children {
			c.complete(b)
		}
		took := time.Since(start)
		for _, c := range children {
			c.kill()
		}
		return took
	})
}

// reportJoins reports the median and the longest of the tries.
func reportJoins(b *testing.B, try func() time.Duration) {
	var took []time.Duration
	for b.Loop() {
		took = append(took, try())
	}
	slices.Sort(took)
	b.Logf("%d tries: %v", len(took), took)
	b.ReportMetric(took[len(took)/2].Seconds(), "median-s")
	b.ReportMetric(took[len(took)-1].Seconds(), "max-s")
	b.ReportMetric(0, "ns/op")
}

func seeAll(tb testing.TB, r *Roster) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := r.WaitFor(ctx, upTo(fleet)); err != nil {
		tb.Error(err)
	}
}

const childEnv = "RAILYARD_GOSSIP_TEST_CHILD"

// child is this test binary run as a member: it says "complete" when it sees
// all, and ends when its stdin closes, which it does when this process ends.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

func startChild(tb testing.TB, node int, join string) *child {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strconv.Itoa(node), "JOIN="+join)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return &child{cmd: cmd, stdin: in, out: bufio.NewScanner(out)}
}

func (c *child) complete(tb testing.TB) {
	if !c.out.Scan() || c.out.Text() != "complete" {
		tb.Fatalf("a process did not see all: %q", c.out.Text())
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	_ = c.cmd.Wait()
}

func runChild() {
	node, _ := strconv.Atoi(os.Getenv(childEnv))
	c := nodesim(Loopback(), node)
	c.Join = []string{os.Getenv("JOIN")}
	r, err := Start(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := r.WaitFor(context.Background(), upTo(fleet)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("complete")
	_, _ = io.Copy(io.Discard, os.Stdin)
}
