package collective

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

// rankSets gives every set of ranks one number, so that sets compare as
// numbers and a union that was formed before is looked up. It is exact: a set
// is found by its bits, not by a digest of them.
type rankSets struct {
	words int
	bits  []uint64 // words for each set
	known map[string]int32
	union map[[2]int32]int32
	key   []byte
}

// none is the number of the empty set. Rank r alone is number r + 1.
const none int32 = 0

func newRankSets(n int) *rankSets {
	s := &rankSets{words: (n + 63) / 64, known: map[string]int32{}, union: map[[2]int32]int32{}}
	set := make([]uint64, s.words)
	s.number(set)
	for r := range n {
		set[r/64] = 1 << (r % 64)
		s.number(set)
		set[r/64] = 0
	}
	return s
}

// alone returns the set of one rank.
func alone(rank int) int32 { return int32(rank) + 1 }

func (s *rankSets) set(number int32) []uint64 { return s.bits[int(number)*s.words:][:s.words] }

// number returns the number of a set, a new one if need be.
func (s *rankSets) number(set []uint64) int32 {
	s.key = s.key[:0]
	for _, w := range set {
		s.key = binary.LittleEndian.AppendUint64(s.key, w)
	}
	if n, ok := s.known[string(s.key)]; ok {
		return n
	}
	n := int32(len(s.known))
	s.known[string(s.key)] = n
	s.bits = append(s.bits, set...)
	return n
}

// join returns the union of two sets, or −1 if they have a rank in common.
func (s *rankSets) join(a, b int32) int32 {
	if n, ok := s.union[[2]int32{a, b}]; ok {
		return n
	}
	n := int32(-1)
	if !s.overlap(a, b) {
		set := make([]uint64, s.words)
		for i, w := range s.set(a) {
			set[i] = w | s.set(b)[i]
		}
		n = s.number(set)
	}
	s.union[[2]int32{a, b}] = n
	return n
}

func (s *rankSets) overlap(a, b int32) bool {
	for i, w := range s.set(a) {
		if w&s.set(b)[i] != 0 {
			return true
		}
	}
	return false
}

// common returns the ranks that are in both sets, as text.
func (s *rankSets) common(a, b int32) string {
	return s.text(func(i int) uint64 { return s.set(a)[i] & s.set(b)[i] })
}

// name returns the ranks in a set, as text.
func (s *rankSets) name(a int32) string { return s.text(func(i int) uint64 { return s.set(a)[i] }) }

// text lists the ranks in a set of bits: "rank 2", "ranks 0-2, 5".
func (s *rankSets) text(word func(i int) uint64) string {
	var runs []string
	size, from := 0, -1
	for r := range s.words*64 + 1 {
		in := r < s.words*64 && word(r/64)>>(r%64)&1 != 0
		switch {
		case in && from < 0:
			from = r
		case !in && from >= 0 && r-1 == from:
			runs = append(runs, fmt.Sprint(from))
		case !in && from >= 0:
			runs = append(runs, fmt.Sprintf("%d-%d", from, r-1))
		}
		if !in {
			from = -1
		}
	}
	for i := range s.words {
		size += bits.OnesCount64(word(i))
	}
	if size == 1 {
		return "rank " + runs[0]
	}
	return "ranks " + strings.Join(runs, ", ")
}
