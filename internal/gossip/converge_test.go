package gossip

import (
	"context"
	"sync"
	"testing"
	"time"
)

// joinAll starts n nodesims at once, waits until each sees all others, and
// returns how long that took, in virtual time.
func (y *yard) joinAll(n int) time.Duration {
	start := time.Now()
	configs := make([]Config, n)
	y.sims = make([]*Roster, n)
	for i := range configs {
		configs[i] = joining(nodesim(Loopback(), i), y.seed)
		configs[i].Transport = y.net.Listen()
	}
	var wg sync.WaitGroup
	for i, c := range configs {
		wg.Go(func() {
			y.sims[i] = mustStart(y.t, c)
			if _, err := y.sims[i].WaitFor(context.Background(), upTo(n)); err != nil {
				y.t.Error(err)
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// 64 members that start together all see each other within 5 s, though the
// network loses every fifth packet. (What it costs a real host is for
// BenchmarkJoin64 to say.)
func TestJoin64(t *testing.T) {
	inYard(t, func(y *yard) {
		y.net.Lose(200, 1)
		if took := y.joinAll(fleet); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// Even if gossip carried nothing at all, who waits learns of everybody from
// the one that all have joined.
func TestCatchUpNeedsNoGossip(t *testing.T) {
	inYard(t, func(y *yard) {
		y.net.Lose(1000, 1)
		if took := y.joinAll(16); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// A cluster in which nobody dies sees nobody die, though the network loses
// every tenth packet.
func TestNoFalseDeaths(t *testing.T) {
	inYard(t, func(y *yard) {
		y.net.Lose(100, 7)
		y.joinAll(8)
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		for e := range y.seed.Watch(ctx) {
			if e.Kind == Died {
				t.Errorf("%s died", e.Member.Name)
			}
		}
	})
}
