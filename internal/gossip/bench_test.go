package gossip

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
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
	report(b, func() time.Duration {
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
	report(b, func() time.Duration {
		seed := mustStart(b, coordinator(Loopback()))
		defer seed.Close()
		start := time.Now()
		children := make([]*child, fleet)
		for i := range children {
			children[i] = startChild(b, i, fleet, seed.Addr())
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

// BenchmarkCrash kills one of 8 real processes with SIGKILL and measures the
// time until this process is told of its death; "busy" does so beside 8 busy
// loops a processor. It counts deaths of processes that nobody killed.
func BenchmarkCrash(b *testing.B) {
	const n = 8
	for _, loops := range []int{0, 8 * runtime.NumCPU()} {
		b.Run(fmt.Sprintf("busy=%d", loops), func(b *testing.B) {
			seed := mustStart(b, coordinator(Loopback()))
			defer seed.Close()
			y := make([]*child, n)
			for i := range y {
				y[i] = startChild(b, i, n, seed.Addr())
			}
			for i := range y {
				y[i].complete(b)
			}
			for range loops {
				defer startBusyLoop(b).kill()
			}
			events, falseDeaths, victim := seed.Watch(b.Context()), 0, 0
			report(b, func() time.Duration {
				start := time.Now()
				y[victim].kill()
				for e := range events {
					if e.Kind == Died && e.Member.Name == fmt.Sprintf("node%d", victim) {
						break
					} else if e.Kind == Died {
						falseDeaths++
					}
				}
				took := time.Since(start)
				y[victim] = startChild(b, victim, n, seed.Addr())
				y[victim].complete(b)
				victim = (victim + 1) % n
				return took
			})
			b.ReportMetric(float64(falseDeaths), "false-deaths")
			for _, c := range y {
				c.kill()
			}
		})
	}
}

// report reports the median and the longest of the tries.
func report(b *testing.B, try func() time.Duration) {
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
