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
	// Elements is how many were looked at: 0 on ranks to which the operation
	// gives nothing.
	Elements int64
	// Digest is a hash of the elements looked at. Where the operation leaves
	// the same on all ranks (Op.Uniform), all digests of a run are equal.
	Digest uint64
	// First are the first elements that are wrong, up to mostListed.
	First []int64
}

// mostListed is how many wrong elements a verdict lists: enough to see a pattern.
const mostListed = 8

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
			verdicts[i].Wrong += collective.CountWrong(got, want, m.run.DType)
			verdicts[i].First = m.list(verdicts[i].First, got, want, first)
			verdicts[i].Digest += digest(got, uint64(at)/8)
		}
	}
	return verdicts
}

// list adds to a list the elements in which two pieces differ, the first of which is
// the given one of the output, up to mostListed.
func (m *Machine) list(all []int64, got, want []byte, first int64) []int64 {
	for i := int64(0); i < int64(len(got)) && len(all) < mostListed; i += m.size {
		if !bytes.Equal(got[i:i+m.size], want[i:i+m.size]) {
			all = append(all, first+i/m.size)
		}
	}
	return all
}

// finish does to a rank's output what the last store of a result does: that of
// an average of integers divides. Once; what a run leaves is looked at only here.
func (m *Machine) finish(r *memory, elems int64) {
	if m.run.Op.Reduces() && !r.finished {
		collective.Finish(r.buffers[collective.Output][:elems*m.size], m.run.DType, m.run.RedOp, m.data.Ranks)
	}
	r.finished = true
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
