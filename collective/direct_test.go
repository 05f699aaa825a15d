package collective

import (
	"slices"
	"testing"
)

func TestDirectIsProven(t *testing.T) {
	shapes := append(oneNode(), spread()...)
	for k, op := range directExchange.Ops {
		for i, s := range shapes {
			if n := s.NRanks(); n > 20 && (i+k)%8 > 0 {
				continue
			}
			o := Options{Channels: 1 + i%5, Root: i % s.NRanks(), Protocol: Protocol(i % 2)}
			provenExchange(t, "direct", op, s, o)
		}
	}
	for _, op := range []Op{AllReduce, ReduceScatter, AllToAll} { // several blocks a channel
		provenExchange(t, "direct", op, Uniform(1, 67), Options{Channels: 1})
	}
}

// provenExchange checks a plan as it is and, where the operation has that form,
// in place; and its blocks, messages and bytes against the table.
func provenExchange(t *testing.T, algorithm string, op Op, s Shape, o Options) {
	t.Helper()
	p := mustBuild(t, algorithm, op, s, o)
	if err := Check(p); err != nil {
		t.Fatalf("%s %v of %v with %+v: %v", algorithm, op, s, o, err)
	}
	if op.InPlace() {
		if err := CheckInPlace(p); err != nil {
			t.Fatalf("%s %v of %v with %+v, in place: %v", algorithm, op, s, o, err)
		}
	}
}

// A message to another node takes the channels of its receiver's rail, however
// many there are of either, and each chunk once.
func TestTracksFollowTheRail(t *testing.T) {
	for _, s := range []Shape{Uniform(2, 8), Uniform(3, 5), unequal()} {
		for channels := 1; channels <= 20; channels++ {
			l := newTracks(s, channels)
			for _, g := range s.Nodes {
				for i, r := range g.Ranks {
					next := 0
					for _, w := range l.toward[r] {
						if w.first != next || w.count < 1 {
							t.Fatalf("%d channels, to rank %d: %+v", channels, r, l.toward[r])
						}
						next += w.count
						if len(g.Heads) > 0 && len(g.Heads) <= channels && slices.Contains(g.Heads, r) && g.Head(w.channel) != r {
							t.Errorf("%d channels: what goes to rank %d, the %d-th of its node, takes channel %d, whose head is %d", channels, r, i, w.channel, g.Head(w.channel))
						}
					}
					if next != channels {
						t.Errorf("%d channels: chunks to rank %d end at %d", channels, r, next)
					}
				}
			}
		}
	}
}

// Steps are shared: Rank is called for every rank, and must not make them anew.
func TestDirectSharesSteps(t *testing.T) {
	p := mustBuild(t, "direct", AllToAll, Uniform(4, 8), Options{Channels: 8})
	if a, b := p.Rank(0)[0].Steps, p.Rank(8)[0].Steps; &a[0] != &b[0] {
		t.Error("steps of two ranks are not the same list")
	}
}
