package gossip

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestKnock: that a process has ended is known to all, also on a network that
// carries no packet at all, when each has knocked at each; suspicion, which takes
// longer here than the test, has no part in it. Nor is it looked for any more.
func TestKnock(t *testing.T) {
	inYard(t, func(y *yard) {
		patient := loopback
		patient.suspicionMult = 1000
		for i := range 8 {
			c := joining(nodesim(Loopback(), i), y.seed)
			c.tuning = &patient
			y.start(c)
		}
		y.acquainted(8)
		witness := y.sims[0]
		events := witness.Watch(y.t.Context())
		for range 8 {
			next(events)
		}
		y.net.Lose(1000, 1)
		began := time.Now()
		y.sims[3].Close()
		y.wantEvent(events, Died, "node3")
		const members = 9 // whose turn was first in a round may be last in the next
		if took := time.Since(began); took > 2*members*loopback.knockInterval {
			t.Errorf("known after %v", took)
		}
		if lost := witness.ledger.lost(); len(lost) > 0 {
			t.Errorf("still looked for: %v", lost)
		}
		y.net.Lose(0, 1)
	})
}

// TestKnockAlone: who has left, and is alone, knocks at nobody.
func TestKnockAlone(t *testing.T) {
	inYard(t, func(y *yard) {
		y.seed.Leave(time.Second)
		time.Sleep(time.Second)
		if n := len(y.seed.Members()); n > 0 {
			t.Errorf("%d members are left: the test proves nothing", n)
		}
	})
}

// TestRumour: who hears that somebody has ended sees for itself. A liar does no
// harm, and the truth makes the first who knocks tell all.
func TestRumour(t *testing.T) {
	inYard(t, func(y *yard) {
		y.sim(0)
		y.sim(1)
		y.acquainted(2)
		m, _ := y.seed.Lookup("node1")
		name := wireName(m.Name, m.Instance)
		y.seed.rumour(name)
		synctest.Wait()
		if _, here := y.seed.Lookup("node1"); !here {
			t.Error("a rumour was believed")
		}
		y.sims[1].Close()
		y.seed.rumour(name)
		synctest.Wait()
		if _, here := y.seed.Lookup("node1"); here {
			t.Error("the truth was not")
		}
	})
}
