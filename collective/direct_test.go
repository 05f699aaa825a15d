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

// busiest returns how many messages a loop the busiest block of any rank sends
// and receives, a step counting once.
func busiest(p *Plan) (most int) {
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			n := 0
			for i := range b.Steps {
				if b.Steps[i].Recv|b.Steps[i].Send != 0 {
					n++
				}
			}
			most = max(most, n)
		}
	}
	return most
}

// onLinks returns how many elements all ranks send.
func onLinks(p *Plan, g Geometry) (sum int64) {
	for r := range p.Ranks {
		own := g.For(r)
		sum += sent(p, own, r)
	}
	return sum
}

// The figures of the table, for node shapes 1..8 × 1..16 and a sample of
// channels; of large shapes every third.
func TestExchangesAreAsTheTableSays(t *testing.T) {
	for _, a := range []Algorithm{directExchange, pairwise, hierarchical} {
		for _, op := range a.Ops {
			for nodes := 1; nodes <= 8; nodes++ {
				for gpus := 1; gpus <= 16; gpus++ {
					if n := nodes * gpus; n <= 32 || (nodes+gpus)%3 == 0 {
						figures(t, &a, op, Uniform(nodes, gpus), 1+(nodes*5+gpus)%min(17, max(2, 300/n)))
					}
				}
			}
			for n := 17; n <= 64; n++ {
				figures(t, &a, op, Uniform(1, n), 1+n%3)
			}
			figures(t, &a, op, Uniform(2, 60), 1) // more than a block's 64 peers
		}
	}
}

func figures(t *testing.T, a *Algorithm, op Op, s Shape, channels int) {
	t.Helper()
	p := mustBuild(t, a.Name, op, s, Options{Channels: channels, Root: s.NRanks() / 2})
	if got, want := busiest(p), a.Steps(op, s); got != want {
		t.Errorf("%s %v of %d nodes, %d ranks, %d channels: the busiest block has %d messages; the table says %d",
			a.Name, op, len(s.Nodes), p.Ranks, channels, got, want)
	}
	in, out := op.Parts(p.Ranks)
	g := p.Size(int64(p.Chunks*p.Ranks), 1)
	if got, want := onLinks(p, g), a.Wire(op, s, g.Count*int64(max(in, out))); got != want {
		t.Errorf("%s %v of %d nodes, %d ranks, %d channels: %d elements on links; the table says %d",
			a.Name, op, len(s.Nodes), p.Ranks, channels, got, want)
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
