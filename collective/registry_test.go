package collective

import (
	"fmt"
	"strings"
	"testing"
)

// allShapes is every number of ranks from 1 to 64, on one node and on one GPU a
// node, every cluster of 1 to 8 nodes of 1 to 16 ranks, and one of unlike nodes.
func allShapes() []Shape {
	list := []Shape{unequal()}
	for n := 1; n <= 64; n++ {
		list = append(list, Uniform(1, n), Uniform(n, 1))
	}
	for nodes := 2; nodes <= 8; nodes++ {
		for gpus := 2; gpus <= 16; gpus++ {
			list = append(list, Uniform(nodes, gpus))
		}
	}
	return list
}

// Every algorithm, for every number of ranks and every shape, is proven in and
// out of place, and takes the steps and bytes that its formulas say. Roots,
// channels and protocols take turns, and on few ranks all are tried.
func TestEveryAlgorithmKeepsItsWord(t *testing.T) {
	for _, a := range Algorithms() {
		for _, op := range a.Ops {
			t.Run(a.Name+"/"+op.String(), func(t *testing.T) {
				t.Parallel()
				turn := 0
				for _, s := range allShapes() {
					s.NVLS, s.SHARP = true, true
					tries := 1
					if s.NRanks() <= 12 {
						tries = 3
					}
					for range tries {
						turn++
						keepsItsWord(t, a, op, s, drawOptions(a, s.NRanks(), turn))
					}
				}
			})
		}
	}
}

// drawOptions takes the next root, number of channels and protocol in turn: of
// three, three and five (the algorithm's own list, from the front again), so that
// they meet in every combination. Many ranks have
// one channel, for time.
func drawOptions(a Algorithm, n, turn int) Options {
	o := Options{
		Root:     []int{0, n - 1, n / 2}[turn%3],
		Channels: 1 + turn/3%3,
	}
	if n > 32 {
		o.Channels = 1
	}
	list := a.Protocols
	if list == nil {
		list = Protocols()
	}
	o.Protocol = list[turn%5%len(list)]
	return o
}

func keepsItsWord(t *testing.T, a Algorithm, op Op, s Shape, o Options) {
	t.Helper()
	name := fmt.Sprintf("%s %s on %d nodes, %d ranks, %+v", a.Name, op, len(s.Nodes), s.NRanks(), o)
	if err := a.Check(Use{Op: op, DType: Float32, RedOp: Sum, Protocol: o.Protocol}, s); err != nil {
		if a.When == "" || !strings.Contains(err.Error(), a.Name) {
			t.Errorf("%s: refused: %v; When says %q", name, err, a.When)
		}
		return
	}
	p, err := Build(a.Name, op, s, o)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := Check(p); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if op.InPlace() && s.NRanks() <= 64 {
		if err := CheckInPlace(p); err != nil {
			t.Fatalf("%s, in place: %v", name, err)
		}
	}
	// Where nodes differ, who is busiest depends on the root, which a formula
	// does not know: there it bounds.
	if got, want := busiest(p), a.Steps(op, s); got > want || got < want && alike(s) {
		t.Errorf("%s: %d steps in the busiest block; the formula says %d", name, got, want)
	}
	for _, count := range []int64{0, 1, int64(p.Chunks), 4*int64(p.Chunks) + 3} {
		wireKept(t, name, a, p, s, count)
	}
}

// alike reports whether all nodes have as many ranks.
func alike(s Shape) bool {
	for _, g := range s.Nodes {
		if len(g.Ranks) != len(s.Nodes[0].Ranks) {
			return false
		}
	}
	return true
}

// busiest returns how many steps of the busiest block send or receive.
func busiest(p *Plan) int {
	most := 0
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			n := 0
			for i := range b.Steps {
				if k := b.Steps[i].Kind; k.Sends() || k.Receives() {
					n++
				}
			}
			most = max(most, n)
		}
	}
	return most
}

// wireKept compares the elements on links with the formula: exactly for a count
// that divides, else within one for each chunk of each message.
func wireKept(t *testing.T, name string, a Algorithm, p *Plan, s Shape, count int64) {
	t.Helper()
	g := p.Size(count, 1)
	in, out := p.Op.Parts(p.Ranks)
	got, slack := onWire(p, g)
	want := a.Wire(p.Op, s, int64(max(in, out))*count)
	if count%int64(p.Chunks*g.Loops) == 0 {
		slack = 0
	}
	if got < want-slack || got > want+slack {
		t.Errorf("%s: %d elements a part put %d on links; the formula says %d", name, count, got, want)
	}
}

// onWire returns the elements that all blocks together put on links, and the
// chunks these were. What a GPU sends counts once for each peer, for each copy
// crosses its own egress; what a switch sends to many ports counts once, as a
// multicast does.
func onWire(p *Plan, g Geometry) (elements, chunks int64) {
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			for i := range b.Steps {
				s := &b.Steps[i]
				if !s.Kind.Sends() {
					continue
				}
				n := int64(s.Send.Count())
				if b.Unit != SM {
					n = 1
				}
				ref := s.Dst
				if s.Kind.ReadsSrc() || s.Kind == Forward {
					ref = s.Src
				}
				for loop := range g.Loops {
					elements += n * g.Message(b.chunk(ref), s.Chunks(), loop)
					chunks += n * int64(s.Chunks())
				}
			}
		}
	}
	return elements, chunks
}

// What an algorithm says of itself is there, to be printed.
func TestEveryAlgorithmIsDescribed(t *testing.T) {
	for _, a := range Algorithms() {
		if a.About == "" || a.Paper == "" || a.StepsText == "" || a.WireText == "" || a.Steps == nil || a.Wire == nil {
			t.Errorf("%s: a field for listings is empty", a.Name)
		}
		if (a.When == "") != (a.Legal == nil) {
			t.Errorf("%s: When says %q, but a Legal function is there: %v", a.Name, a.When, a.Legal != nil)
		}
	}
}
