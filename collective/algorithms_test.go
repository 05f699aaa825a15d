package collective

import (
	"math/bits"
	"strings"
	"testing"
)

// All ranks of an all-reduce end with identical bits, whatever the rounding:
// each output is made by the same additions of the same values, but for the
// order of two operands, and reductions commute.
func TestAllRanksAddUpAlike(t *testing.T) {
	for _, a := range Algorithms() {
		for _, op := range a.Ops {
			if !op.reducesForAll() {
				continue
			}
			tried := false
			for _, s := range append(spread()[:20], Uniform(1, 2), Uniform(1, 7), Uniform(1, 8), Uniform(11, 1)) {
				s.NVLS, s.SHARP = true, true
				if a.Check(Use{Op: op, DType: Float32, RedOp: Sum}, s) != nil {
					continue
				}
				tried = true
				p := mustBuild(t, a.Name, op, s, Options{Channels: 2})
				sums := additions(t, p)
				for r, chunks := range sums {
					for k := range chunks {
						if chunks[k] != sums[0][k] {
							t.Fatalf("%s %s, %d ranks on %d nodes: chunk %d is added up in other ways on ranks 0 and %d", a.Name, op, p.Ranks, len(s.Nodes), k, r)
						}
					}
				}
			}
			if !tried {
				t.Errorf("%s %s is legal on none of the shapes", a.Name, op)
			}
		}
	}
}

// additions carries a plan out on numbers that stand for expressions: joining
// two is commutative, and not associative. It returns each rank's output.
func additions(t *testing.T, p *Plan) [][]uint64 {
	t.Helper()
	f, err := newProof(p, false)
	if err == nil {
		err = f.pair()
	}
	if err != nil {
		t.Fatal(err)
	}
	order, err := f.schedule()
	if err != nil {
		t.Fatal(err)
	}
	cells := make([][]uint64, p.Ranks)
	for r := range cells {
		cells[r] = make([]uint64, f.cells())
		for k := range f.input {
			cells[r][k] = scramble(uint64(r)<<32 | uint64(k))
		}
	}
	sent := make([][]uint64, len(f.blockOf))
	for _, id := range order {
		b, i := f.at(id)
		s := &b.Steps[i]
		for k := range s.Chunks() {
			var terms []uint64
			if s.Kind.ReadsSrc() {
				terms = append(terms, cells[b.rank][f.cell(b, s.Src)+k])
			}
			for _, from := range f.senders(id) {
				terms = append(terms, sent[from][k])
			}
			if s.Kind == ReduceLocal {
				terms = append(terms, cells[b.rank][f.cell(b, s.Dst)+k])
			}
			if len(terms) == 0 {
				continue
			}
			v := terms[0]
			for _, w := range terms[1:] {
				v = scramble(v+w) ^ v ^ w
			}
			if s.Kind.WritesDst() {
				cells[b.rank][f.cell(b, s.Dst)+k] = v
			}
			sent[id] = append(sent[id], v)
		}
	}
	outputs := make([][]uint64, p.Ranks)
	for r := range outputs {
		outputs[r] = cells[r][f.base(r, Output):][:f.output]
	}
	return outputs
}

func scramble(v uint64) uint64 {
	hi, lo := bits.Mul64(v^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	return hi ^ lo
}

// carried adds up, over all messages between ranks of which far says yes, the
// elements in them.
func carried(p *Plan, g Geometry, far func(from, to int) bool) (yes, all int64) {
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			for i := range b.Steps {
				s := &b.Steps[i]
				ref := s.Dst
				if s.Kind.ReadsSrc() {
					ref = s.Src
				}
				for m := s.Send; m != 0; m &= m - 1 {
					n := g.Message(b.chunk(ref), s.Chunks(), 0)
					all += n
					if far(r, b.SendTo[m.Lowest()]) {
						yes += n
					}
				}
			}
		}
	}
	return yes, all
}

// Of what 32 ranks on nodes of 8 exchange, (P − P/g)/(P − 1) = 28/31 stays on
// the node.
func TestHalvingKeepsLongMessagesOnTheNode(t *testing.T) {
	p := mustBuild(t, "halving-doubling", AllReduce, Uniform(4, 8), Options{Channels: 2})
	g := p.Size(64*2, 4)
	inside, all := carried(p, g, func(from, to int) bool { return from/8 == to/8 })
	if inside*31 != all*28 {
		t.Errorf("%d of %d elements stay on the node; want 28 of 31", inside, all)
	}
	crossed, _ := carried(p, g, func(from, to int) bool { return from/8 != to/8 && from%8 != to%8 })
	if crossed != 0 {
		t.Errorf("%d elements go from one rail to another", crossed)
	}
}

// PAT's far messages carry one part, and Bruck's carry half of all.
func TestFarMessagesOfPATAreShort(t *testing.T) {
	far := func(from, to int) bool { return (from-to+16)%16 == 8 }
	for name, want := range map[string]int64{"pat": 16 * 1, "bruck": 16 * 8} { // order: each is tested alone
		p := mustBuild(t, name, AllGather, Uniform(16, 1), Options{Channels: 1})
		if got, _ := carried(p, p.Size(1, 4), far); got != want {
			t.Errorf("%s: %d parts go 8 ranks far; want %d", name, got, want)
		}
	}
}

func TestPATIsForOneGPUANode(t *testing.T) {
	a, err := Lookup("pat")
	if err != nil {
		t.Fatal(err)
	}
	use := Use{Op: AllGather, DType: Float32, RedOp: Sum}
	for _, s := range allShapes() {
		wide := false
		for _, g := range s.Nodes {
			wide = wide || len(g.Ranks) > 1
		}
		if err := a.Check(use, s); (err != nil) != wide || wide && !strings.Contains(err.Error(), "one GPU a node") {
			t.Errorf("%d ranks on %d nodes: %v", s.NRanks(), len(s.Nodes), err)
		}
	}
	use.Protocol = LL
	if err := a.Check(use, Uniform(2, 1)); err == nil || !strings.Contains(err.Error(), "it uses simple") {
		t.Errorf("protocol ll: %v", err)
	}
}

// An inner rank of a gather holds 2^31 bytes, 2^32, and parts of 2^31 elements
// and more: bytes and places stay right.
func TestGatherBeyond32Bits(t *testing.T) {
	for _, op := range []Op{Gather, Scatter} {
		for _, count := range []int64{1 << 27, 1 << 28, 1<<31 - 1, 1 << 31, 1<<32 + 5} { // 4 parts of 4 B each
			p := mustBuild(t, "binomial", op, Uniform(1, 8), Options{Channels: 4, Root: 3})
			g := p.Size(count, 4)
			got, slack := onWire(p, g)
			if count%int64(g.Loops*g.Chunks) == 0 {
				slack = 0
			}
			if want := binomialWire(op, Uniform(1, 8), 8*count); got < want-slack || got > want+slack {
				t.Errorf("%v of %d elements: %d on the wire, want %d", op, count, got, want)
			}
			if off, n := g.Chunk(8*g.Chunks-1, g.Loops-1); off+n != 8*count {
				t.Errorf("%v of %d elements: the last chunk ends at %d, want %d", op, count, off+n, 8*count)
			}
		}
	}
}

// A message is at most half of a connection's slots, however many parts are in
// it: chunks are cut down to that.
func TestWidestMessagesFit(t *testing.T) {
	for _, a := range Algorithms() {
		for _, op := range a.Ops {
			if a.Check(Use{Op: op}, Uniform(12, 1)) != nil {
				continue
			}
			p := mustBuild(t, a.Name, op, Uniform(12, 1), Options{Channels: 2})
			g := p.Size(1<<32, 4)
			for _, b := range p.Rank(0) {
				for i := range b.Steps {
					s := &b.Steps[i]
					if !s.Kind.Sends() {
						continue
					}
					_, n := g.Chunk(0, 0)
					if bytes, room := n*int64(s.Chunks())*4, p.Protocol.StepBytes()*int64(p.ChunkSteps); bytes > room {
						t.Errorf("%s %s: a message of %d B; %d steps hold %d B", a.Name, op, bytes, p.ChunkSteps, room)
					}
				}
			}
		}
	}
}

// Rank is called for both ends of every connection: lists of steps are shared.
func TestRoundsShareSteps(t *testing.T) {
	for name, op := range map[string]Op{"recursive-doubling": AllReduce, "bruck": AllGather, "pat": ReduceScatter} { // order: each is tested alone
		p := mustBuild(t, name, op, Uniform(64, 1), Options{Channels: 3})
		if a, b := p.Rank(1)[0].Steps, p.Rank(62)[0].Steps; &a[0] != &b[0] {
			t.Errorf("%s: steps of two ranks are not the same list", name)
		}
	}
}
