package payload

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/railyard/railyard/collective"
)

// Verdict is what became of a rank's output.
type Verdict struct {
	Rank int
	// Wrong is how many elements are not, to the bit, what they must be.
	Wrong int64
	// First is the position of the first of them; 0 where none is wrong.
	First int64
	// Elements is how many were looked at: 0 on ranks to which the operation
	// gives nothing.
	Elements int64
	// Digest is a hash of the elements looked at. Where the operation leaves
	// the same on all ranks (Op.Uniform), all digests of a run are equal.
	Digest uint64
}

// chunkElems is how many elements are compared at a time: an expectation of
// 256 KiB at most, which stays in the second-level cache. Even, so that chunks
// of any type begin at a word of the digest.
const chunkElems = 32 << 10

// Verify compares the output of a hosted rank with the expectation.
func (m *Machine) Verify(rank int) Verdict {
	for i := range m.ranks {
		if m.ranks[i].rank == rank {
			return m.verify(m.ranks[i : i+1])[0]
		}
	}
	panic(fmt.Sprintf("payload: verdict on rank %d, which is not hosted here", rank))
}

// VerifyAll compares the outputs of all hosted ranks, in the order of ranks.
// Where they must be the same, the expectation is worked out once.
func (m *Machine) VerifyAll() []Verdict {
	if m.run.Op.Uniform() {
		return m.verify(m.ranks)
	}
	var all []Verdict
	for i := range m.ranks {
		all = append(all, m.verify(m.ranks[i:i+1])...)
	}
	return all
}

// verify compares ranks that must have the same output.
func (m *Machine) verify(ranks []memory) []Verdict {
	verdicts := make([]Verdict, len(ranks))
	if len(ranks) == 0 {
		return verdicts
	}
	like := ranks[0].rank
	elems := collective.Checked(m.run.Op, m.data.Ranks, like, m.data.Root, m.geo.Count)
	for i := range ranks {
		m.finish(&ranks[i], elems)
		verdicts[i] = Verdict{Rank: ranks[i].rank, Elements: elems}
	}
	want := make([]byte, min(elems, chunkElems)*m.size)
	for first := int64(0); first < elems; first += chunkElems {
		want = want[:min(elems-first, chunkElems)*m.size]
		m.data.Expect(want, like, m.geo.Count, first)
		at := first * m.size
		right := digest(want, uint64(at)/8)
		for i := range ranks {
			got := ranks[i].buffers[collective.Output][at:][:len(want)]
			if bytes.Equal(got, want) {
				verdicts[i].Digest += right // the same bytes have the same digest
				continue
			}
			if n := collective.CountWrong(got, want, m.run.DType); n > 0 {
				if verdicts[i].Wrong == 0 {
					verdicts[i].First = first + m.differ(got, want)
				}
				verdicts[i].Wrong += n
			}
			verdicts[i].Digest += digest(got, uint64(at)/8)
		}
	}
	return verdicts
}

// finish does to a rank's output what the last store of a result does: that of
// an average of integers divides. Once; what a run leaves is looked at only here.
func (m *Machine) finish(r *memory, elems int64) {
	if m.run.Op.Reduces() && !r.finished {
		collective.Finish(r.buffers[collective.Output][:elems*m.size], m.run.DType, m.run.RedOp, m.data.Ranks)
	}
	r.finished = true
}

// differ returns the first element in which two buffers differ.
func (m *Machine) differ(a, b []byte) int64 {
	i := int64(0)
	for bytes.Equal(a[i*m.size:][:m.size], b[i*m.size:][:m.size]) {
		i++
	}
	return i
}

// Flip turns a bit over in the result of a hosted rank: of an element as counted in
// what the operation gives the rank. A rank that it gives nothing has none.
func (m *Machine) Flip(rank int, element int64, bit int) {
	for i := range m.ranks {
		if m.ranks[i].rank != rank {
			continue
		}
		elems := collective.Checked(m.run.Op, m.data.Ranks, rank, m.data.Root, m.geo.Count)
		if elems == 0 {
			return
		}
		m.finish(&m.ranks[i], elems)
		at := element%elems*m.size + int64(bit/8)%m.size
		m.ranks[i].buffers[collective.Output][at] ^= 1 << (bit % 8)
	}
}

// digest returns the sum of hashes of the 8-byte words of b, the first of which
// is the at-th of a buffer: digests of a buffer's pieces add up to its own. A
// short last word is filled with zeros.
func digest(b []byte, at uint64) (sum uint64) {
	for ; len(b) >= 8; b = b[8:] {
		sum += hash(binary.LittleEndian.Uint64(b), at)
		at++
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		sum += hash(binary.LittleEndian.Uint64(last[:]), at)
	}
	return sum
}

// hash mixes a word with its position as wyhash does (Wang Yi, wyhash 4, public
// domain): the two halves of a 128-bit product.
func hash(word, at uint64) uint64 {
	hi, lo := bits.Mul64(word^0xa0761d6478bd642f, (at+1)*0xe7037ed1a0b428db)
	return hi ^ lo
}
