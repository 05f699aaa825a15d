package gossip

import (
	"context"
	"slices"
	"testing"

	"go.uber.org/zap"
)

// TestLedgerEvents tells a ledger what memberlist might, and looks at the
// events that follow.
func TestLedgerEvents(t *testing.T) {
	meta, err := fullMember.encode()
	if err != nil {
		t.Fatal(err)
	}
	n, garbled := node("peer~1", string(meta)), node("peer~1", "?")
	type call func(gatekeeper)
	join := func(g gatekeeper) { g.NotifyJoin(n) }
	update := func(g gatekeeper) { g.NotifyUpdate(n) }
	leave := func(g gatekeeper) { g.NotifyLeave(n) }
	farewell := func(g gatekeeper) { g.mark("peer~1") }
	for _, c := range []struct {
		name  string
		calls []call
		want  []EventKind
	}{
		{"crash", []call{join, leave}, []EventKind{Joined, Died}},
		{"leave", []call{join, farewell, leave}, []EventKind{Joined, Left}},
		{"a death retracted", []call{join, leave, join}, []EventKind{Joined, Died, Joined}},
		{"a farewell holds once", []call{join, farewell, leave, join, leave}, []EventKind{Joined, Left, Joined, Died}},
		{"a farewell of nobody", []call{farewell, join, leave}, []EventKind{Joined, Died}},
		{"update", []call{join, update}, []EventKind{Joined, Updated}},
		{"who never came can't go", []call{leave}, nil},
		{"garbage", []call{func(g gatekeeper) { g.NotifyJoin(garbled) }, leave}, nil},
	} {
		l := newLedger("self~1", "c1", zap.NewNop())
		events := l.watch(context.Background())
		for _, f := range c.calls {
			f(gatekeeper{l})
		}
		const end EventKind = -1
		l.mu.Lock()
		l.publish(Event{Kind: end})
		l.mu.Unlock()
		var got []EventKind
		for e := range events {
			if e.Kind == end {
				break
			}
			got = append(got, e.Kind)
		}
		l.close()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
