package payload

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/railyard/railyard/collective"
)

// finished returns a machine with a right all-reduce of a count that takes
// several chunks of verification.
func finished(t *testing.T, p *collective.Plan) *Machine {
	t.Helper()
	c := newCluster(t, newRun(p, collective.Float32, collective.Sum, false), p, geometry(p, 2*chunkElems+333, 1, 1), 1)
	c.run(t)
	return c.hosts[0].Machine
}

func TestVerifyCountsWrongElementsOfTheRank(t *testing.T) {
	m := finished(t, ring(collective.AllReduce, 3))
	right := m.VerifyAll()
	if whole := digest(m.ranks[1].buffers[out], 0); right[1].Digest != whole {
		t.Errorf("digest %x; of the whole output %x", right[1].Digest, whole)
	}
	o := m.ranks[1].buffers[out]
	for _, elem := range []int{0, chunkElems - 1, chunkElems, 2*chunkElems + 332} {
		o[elem*4+3] ^= 0x80
	}
	o[1] ^= 1 // element 0 again
	got := m.VerifyAll()
	if !reflect.DeepEqual(got[0], right[0]) || !reflect.DeepEqual(got[2], right[2]) {
		t.Errorf("ranks 0 and 2 were right: %+v", got)
	}
	if got[1].Wrong != 4 || got[1].Elements != 2*chunkElems+333 || got[1].Digest == right[1].Digest {
		t.Errorf("four elements of rank 1 are wrong: %+v", got[1])
	}
}

func TestVerifyOneEqualsVerifyAll(t *testing.T) {
	for _, op := range []collective.Op{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
		m := finished(t, ring(op, 3))
		m.ranks[2].buffers[out][7] ^= 4
		for r, want := range m.VerifyAll() {
			if got := m.Verify(r); !reflect.DeepEqual(got, want) {
				t.Errorf("%v rank %d: %+v; among all %+v", op, r, got, want)
			}
		}
	}
}

// Untouched memory is never taken for an answer.
func TestNothingDoneIsAllWrong(t *testing.T) {
	for _, c := range plans {
		p := c.build(3)
		for _, d := range types {
			for _, op := range redOps {
				c := newCluster(t, newRun(p, d, op, false), p, geometry(p, 100, 1, 1), 1)
				for _, v := range c.verdicts() {
					if v.Wrong != v.Elements {
						t.Errorf("%v %v %v: %+v before anything was done", p.Op, d, op, v)
					}
				}
			}
		}
	}
}

func TestDigestsOfPiecesAddUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	b := make([]byte, 1003)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	whole := digest(b, 0)
	for cut := 0; cut < len(b); cut += 8 {
		if digest(b[:cut], 0)+digest(b[cut:], uint64(cut/8)) != whole {
			t.Fatalf("cut at %d", cut)
		}
	}
	for i := range b {
		b[i] ^= 1
		if digest(b, 0) == whole {
			t.Errorf("byte %d does not count", i)
		}
		b[i] ^= 1
	}
	if digest([]byte{1, 2, 3, 4, 5, 6, 7, 8, 8, 7, 6, 5, 4, 3, 2, 1}, 0) == digest([]byte{8, 7, 6, 5, 4, 3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8}, 0) {
		t.Error("order does not count")
	}
}

// BenchmarkVerify reports bytes of output compared, for 8 ranks of a 32-rank
// all-reduce: what one server of four checks.
func BenchmarkVerify(b *testing.B) {
	const count = 1 << 20
	p := ring(collective.AllReduce, 32)
	h := newCluster(b, newRun(p, collective.Float32, collective.Sum, false), p, geometry(p, count, 1, 1), 4).hosts[0]
	for _, m := range h.ranks {
		o := m.buffers[out]
		h.data.Expect(o, m.rank, count, 0)
	}
	if w := h.VerifyAll()[0].Wrong; w != 0 {
		b.Fatalf("%d elements wrong", w)
	}
	b.SetBytes(8 * count * 4)
	for b.Loop() {
		h.VerifyAll()
	}
}
