package payload

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
)

// What docs/numerics.md says, on data that are not exact: here rounding shows.

// started returns a cluster before its first move, whose inputs set has filled.
func started(t *testing.T, p *collective.Plan, d collective.DType, count int64, slices int, set func(rank int, input []byte)) *cluster {
	t.Helper()
	c := newCluster(t, newRun(p, d, collective.Sum, false), p, geometry(p, count, 1, slices), 2)
	for _, h := range c.hosts {
		for i := range h.ranks {
			set(h.ranks[i].rank, h.ranks[i].buffers[in])
		}
	}
	return c
}

// outputs carries all moves out and returns the ranks' outputs.
func (c *cluster) outputs(t *testing.T) (all [][]byte) {
	t.Helper()
	c.run(t)
	for _, h := range c.hosts {
		for i := range h.ranks {
			all = append(all, h.ranks[i].buffers[out])
		}
	}
	return all
}

// built is a plan of the registry.
func built(t *testing.T, algorithm string, s collective.Shape, channels int) *collective.Plan {
	t.Helper()
	p, err := collective.Build(algorithm, collective.AllReduce, s, collective.Options{Channels: channels})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// random fills an input with normal values of a 16-bit type, of either sign and
// many magnitudes, the same for the same seed and rank.
func random(d collective.DType, rank int, input []byte) {
	rng := rand.New(rand.NewPCG(41, uint64(rank)))
	for i := 0; i < len(input); i += 2 {
		u := uint16(rng.Uint32())
		if d == collective.Float16 {
			u = u&0x83ff | uint16(8+rng.IntN(14))<<10
		} else {
			u = u&0x807f | uint16(120+rng.IntN(14))<<7
		}
		binary.LittleEndian.PutUint16(input[i:], u)
	}
}

// Report 41: on 32 ranks half and bfloat16 sums of random data are bitwise equal
// across ranks and across repeats, with ring and tree. The order differs from a
// serial one's, and shows; a call that is split gives other bits.
func TestAllRanksEndWithIdenticalBits(t *testing.T) {
	const count = 700
	for _, algorithm := range []string{"ring", "tree"} {
		for _, d := range []collective.DType{collective.Float16, collective.BFloat16} {
			p := built(t, algorithm, collective.Uniform(4, 8), 2)
			first := started(t, p, d, count, 2, func(r int, b []byte) { random(d, r, b) }).outputs(t)
			again := started(t, p, d, count, 2, func(r int, b []byte) { random(d, r, b) }).outputs(t)
			for r := range first {
				if !bytes.Equal(first[r], first[0]) || !bytes.Equal(again[r], first[0]) {
					t.Errorf("%s %v: rank %d differs from rank 0, or from itself before", algorithm, d, r)
				}
			}
			if bytes.Equal(first[0], serial(d, 32, count)) {
				t.Errorf("%s %v: as if summed from rank 0 on: the data round nowhere", algorithm, d)
			}
			if algorithm == "ring" && bytes.Equal(first[0], halves(t, p, d, count)) {
				t.Errorf("%v: a split call moves elements to other chunks, which other ranks begin", d)
			}
		}
	}
}

// A ring sums each chunk from one rank on, in the ring's order: each chunk from
// another.
func TestRingSumsInItsOrder(t *testing.T) {
	const n, chunk = 8, 32
	p := built(t, "ring", collective.Uniform(1, n), 1)
	input := func(r int, b []byte) {
		rng := rand.New(rand.NewPCG(42, uint64(r)))
		for i := 0; i < len(b); i += 4 {
			binary.LittleEndian.PutUint32(b[i:], math.Float32bits(rng.Float32()-0.5))
		}
	}
	got := started(t, p, collective.Float32, n*chunk, 1, input).outputs(t)[0]
	begins := map[int]bool{}
	for start := range n {
		sum, in := make([]byte, len(got)), make([]byte, len(got))
		input(start, sum)
		for i := 1; i < n; i++ {
			input((start+i)%n, in)
			collective.Combine(sum, sum, in, collective.Float32, collective.Sum)
		}
		for c := range n {
			if at := c * chunk * 4; bytes.Equal(got[at:][:chunk*4], sum[at:][:chunk*4]) {
				begins[c] = true
			}
		}
	}
	if len(begins) != n {
		t.Errorf("only chunks %v are summed from one rank on, in order", begins)
	}
}

// serial is the sum from rank 0 on.
func serial(d collective.DType, n int, count int64) []byte {
	sum, in := make([]byte, 2*count), make([]byte, 2*count)
	random(d, 0, sum)
	for r := 1; r < n; r++ {
		random(d, r, in)
		collective.Combine(sum, sum, in, d, collective.Sum)
	}
	return sum
}

// halves is rank 0's output when the call is split in two.
func halves(t *testing.T, p *collective.Plan, d collective.DType, count int64) (all []byte) {
	t.Helper()
	for part := range int64(2) {
		all = append(all, started(t, p, d, count/2, 2, func(r int, b []byte) {
			whole := make([]byte, 2*count)
			random(d, r, whole)
			copy(b, whole[part*count:])
		}).outputs(t)[0]...)
	}
	return all
}

// Report 43: 1e8, 1, −1e8, 1 on four ranks in all orders. Pairwise float32 gives
// 0, 1 or 2, by the order and the place in the buffer; a switch with a wider
// accumulator gives 2 always.
func TestCancellation(t *testing.T) {
	const count = 64
	seen := map[string]map[float32]bool{}
	for name, p := range map[string]*collective.Plan{ // order: each is judged alone
		"ring":   built(t, "ring", collective.Uniform(1, 4), 1),
		"tree":   built(t, "tree", collective.Uniform(2, 2), 1),
		"switch": inSwitch(4),
	} {
		seen[name] = map[float32]bool{}
		for _, order := range orders([]float32{1e8, 1, -1e8, 1}) {
			outputs := started(t, p, collective.Float32, count, 1, func(r int, b []byte) {
				for i := 0; i < len(b); i += 4 {
					binary.LittleEndian.PutUint32(b[i:], math.Float32bits(order[r]))
				}
			}).outputs(t)
			for i := 0; i < len(outputs[0]); i += 4 {
				seen[name][math.Float32frombits(binary.LittleEndian.Uint32(outputs[0][i:]))] = true
			}
			for r := range outputs {
				if !bytes.Equal(outputs[r], outputs[0]) {
					t.Errorf("%s, %v: rank %d differs", name, order, r)
				}
			}
		}
	}
	for name, want := range map[string][]float32{"ring": {0, 1, 2}, "tree": {0, 1, 2}, "switch": {2}} { // order: each is judged alone
		for x := range seen[name] { // order: each is judged alone
			if !slices.Contains(want, x) {
				t.Errorf("%s gave %v; want one of %v", name, x, want)
			}
		}
		if name != "switch" && len(seen[name]) < 2 {
			t.Errorf("%s gave only %v: order must show", name, seen[name])
		}
	}
}

// orders returns all orders of the values, the report's six among them.
func orders(values []float32) (all [][]float32) {
	if len(values) == 1 {
		return [][]float32{values}
	}
	for i := range values {
		for _, rest := range orders(slices.Concat(values[:i], values[i+1:])) {
			all = append(all, append([]float32{values[i]}, rest...))
		}
	}
	return all
}

// inSwitch is an all-reduce in a switch: every rank sends to a block of the
// switch, which reduces all and multicasts the result. It is at rank 0, and to
// tell its connections from that rank's own, rank 0 has the result from rank 1.
func inSwitch(n int) *collective.Plan {
	p := collective.Plan{Op: collective.AllReduce, Ranks: n, Channels: 2, Blocks: 3, Chunks: 1}
	send := collective.Step{Kind: collective.Send, Src: ref(in, 0), Send: 1}
	recv := collective.Step{Kind: collective.Recv, Dst: ref(out, 0), Recv: 1}
	others := collective.FirstPeers(n - 1)
	return collective.NewPlan(p, func(rank int) []collective.Block {
		switch rank {
		case 0:
			return []collective.Block{
				{SendTo: []int{0}, Steps: []collective.Step{send}},
				{Unit: collective.NVSwitch, SendTo: upTo(1, n), RecvFrom: upTo(0, n), Steps: []collective.Step{
					{Kind: collective.Forward, Src: ref(in, 0), Recv: collective.FirstPeers(n), Send: others},
				}},
				{Channel: 1, RecvFrom: []int{1}, Steps: []collective.Step{recv}},
			}
		case 1:
			return []collective.Block{
				{SendTo: []int{0}, RecvFrom: []int{0}, Steps: []collective.Step{send, recv}},
				{Channel: 1, SendTo: []int{0}, Steps: []collective.Step{
					{Kind: collective.Send, Src: ref(out, 0), Send: 1, Deps: []collective.Dep{{Block: 0, Step: 1}}},
				}},
			}
		default:
			return []collective.Block{{SendTo: []int{0}, RecvFrom: []int{0}, Steps: []collective.Step{send, recv}}}
		}
	})
}

// In a switch every type and reduction comes out right, in place and not.
func TestSwitchIsRightForAll(t *testing.T) {
	p := inSwitch(5)
	for i, d := range types {
		for j, op := range redOps {
			runRight(t, newRun(p, d, op, (i+j)%2 == 0), p, geometry(p, 97, 1, 2), 1+i%3)
		}
	}
}

// Averages and premultiplied sums are what NCCL defines, by numbers worked out by
// hand, out of place, in place, and when inputs are lent.
func TestScalingHappensOnceAtEachEnd(t *testing.T) {
	p := ring(collective.AllReduce, 3)
	g := geometry(p, 96, 2, 1)
	for _, d := range types {
		for _, op := range []collective.RedOp{collective.Avg, collective.MulSum} {
			a := newCluster(t, newRun(p, d, op, false), p, g, 2)
			a.run(t)
			if w := a.wrong(); w != 0 || a.wrong() != 0 {
				t.Fatalf("%v %v: %d wrong, then %d", d, op, w, a.wrong())
			}
			b := following(t, a, newRun(p, d, op, true), p, g, 2)
			b.run(t)
			if w := b.wrong(); w != 0 {
				t.Errorf("%v %v with lent inputs, in place: %d wrong", d, op, w)
			}
		}
	}
}

// Where nothing is reduced, the reduction is of no consequence: inputs arrive as
// they were, not scaled.
func TestNothingIsScaledWhereNothingIsReduced(t *testing.T) {
	for _, op := range redOps {
		p := ring(collective.AllGather, 3)
		runRight(t, newRun(p, collective.Int8, op, false), p, geometry(p, 50, 1, 1), 1)
		runRight(t, newRun(p, collective.Float8E4M3, op, true), p, geometry(p, 50, 1, 1), 1)
	}
}
