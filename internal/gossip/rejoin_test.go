package gossip

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// reunited is how long it takes, at most, until a network that was cut is one
// cluster again, as the package comment promises.
const reunited = 10 * time.Second

// names returns who somebody sees.
func (r *Roster) names() (all []string) {
	for _, m := range r.Members() {
		all = append(all, m.Name)
	}
	return all
}

// TestRejoin cuts a network in two for shorter and for longer than the dead are
// remembered by memberlist (reports 45: 10 s, 60 s, 120 s). Meanwhile each side
// sees only its own; afterwards all see all.
func TestRejoin(t *testing.T) {
	for _, cut := range []struct{ nodes, off int }{
		{3, 1}, // one of three
		{4, 2}, // half of four
	} {
		for _, lasts := range []time.Duration{10 * time.Second, 60 * time.Second, 120 * time.Second} {
			t.Run(fmt.Sprintf("%d of %d for %v", cut.off, cut.nodes, lasts), func(t *testing.T) {
				inYard(t, func(y *yard) {
					for i := range cut.nodes {
						y.sim(i)
					}
					y.acquainted(cut.nodes)
					y.part(y.sims[:cut.off], append([]*Roster{y.seed}, y.sims[cut.off:]...), lasts)
					y.reunite()
				})
			})
		}
	}
}

// TestRejoinWithoutSeed: two sides meet again although the one that all have
// joined has died meanwhile.
func TestRejoinWithoutSeed(t *testing.T) {
	inYard(t, func(y *yard) {
		for i := range 4 {
			y.sim(i)
		}
		y.acquainted(4)
		var far []string
		for _, r := range y.sims[:2] {
			far = append(far, r.Addr())
		}
		y.net.Part(far...)
		y.seed.Close()
		time.Sleep(time.Minute)
		y.net.Part()
		y.seed = y.sims[3]
		y.sims = y.sims[:3]
		y.reunite()
	})
}

// part cuts off some of a network for a time, in which each side must come to
// see its own alone.
func (y *yard) part(off, on []*Roster, lasts time.Duration) {
	y.t.Helper()
	var far []string
	for _, r := range off {
		far = append(far, r.Addr())
	}
	y.net.Part(far...)
	time.Sleep(lasts)
	for _, side := range [][]*Roster{off, on} {
		var own []string
		for _, r := range side {
			for _, m := range r.Members() {
				if m.Addr == r.Addr() {
					own = append(own, m.Name)
				}
			}
		}
		slices.Sort(own)
		for _, r := range side {
			if got := r.names(); !slices.Equal(got, own) {
				y.t.Errorf("cut off for %v: %v are seen, want %v", lasts, got, own)
			}
		}
	}
	y.net.Part()
}

// reunite waits for as long as is promised, and wants everybody to see
// everybody.
func (y *yard) reunite() {
	y.t.Helper()
	all := append([]*Roster{y.seed}, y.sims...)
	began := time.Now()
	for waiting := true; waiting && time.Since(began) < reunited; {
		time.Sleep(100 * time.Millisecond)
		waiting = slices.ContainsFunc(all, func(r *Roster) bool { return len(r.Members()) != len(all) })
	}
	for _, r := range all {
		if got := r.names(); len(got) != len(all) {
			y.t.Errorf("%v after it was mended: %v are seen, want %d", reunited, got, len(all))
		}
	}
	y.t.Logf("all saw all %v after it was mended", time.Since(began))
}

// TestRestarted: a process that is started again under its name, after it died
// or before that is known, is the one that hosts its node, without anybody's
// help and within the time that a crash takes to be noticed.
func TestRestarted(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Minute} {
		inYard(t, func(y *yard) {
			y.sim(0)
			old := y.sim(1)
			y.complete(2)
			old.Close()
			time.Sleep(pause)
			began := time.Now()
			fresh := y.sim(1)
			a, err := y.seed.Await(context.Background(), y.expect(2))
			if err != nil {
				t.Fatal(err)
			}
			if a.ByNode[1].Addr != fresh.Addr() {
				t.Errorf("node 1 is hosted by %v, want the process at %s", a.ByNode[1], fresh.Addr())
			}
			if took := time.Since(began); took > loopback.confirm(3) {
				t.Errorf("known %v after it was started again", took)
			}
			// Nobody looks for the predecessor any more.
			synctest.Wait()
			if lost := y.seed.ledger.lost(); len(lost) > 0 {
				t.Errorf("still looked for: %v", lost)
			}
		})
	}
}

// TestFormerAreBounded: what a hostile peer can make us look for is bounded.
func TestFormerAreBounded(t *testing.T) {
	l := newLedger("self~1", "c1", (&Config{}).logger())
	for i := range 2 * maxFormer {
		l.bury(fmt.Sprint(i), Member{Name: fmt.Sprint(i), Addr: fmt.Sprint(i)})
	}
	if len(l.former) != maxFormer || len(l.lost()) != sought {
		t.Errorf("%d remembered, %d sought", len(l.former), len(l.lost()))
	}
}
