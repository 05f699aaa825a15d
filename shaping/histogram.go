package shaping

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// fine is how many buckets a doubling has: a percentile is at most 1/16 too high.
const fine = 16

// Buckets is how many buckets a Histogram has.
const Buckets = (64 - 4) * fine

// Histogram counts spans by size, in whatever unit they come: below 16 units each
// size for itself, then in 16 buckets to a doubling. The zero value is empty. It is
// a value: copies are snapshots, and the order in which spans come, or histograms
// are merged, makes no difference. Negative spans count as zero.
type Histogram[D ~int64] struct {
	Count uint64
	Sum   D // the greatest D where it is more
	Max   D

	buckets [Buckets]uint64
}

// Add counts a span.
func (h *Histogram[D]) Add(d D) {
	d = max(d, 0)
	h.Count++
	h.Sum = sum(h.Sum, d)
	h.Max = max(h.Max, d)
	h.buckets[bucket(uint64(d))]++
}

// Merge adds what another one has counted.
func (h *Histogram[D]) Merge(o *Histogram[D]) {
	h.Count += o.Count
	h.Sum = sum(h.Sum, o.Sum)
	h.Max = max(h.Max, o.Max)
	for i, n := range o.buckets {
		h.buckets[i] += n
	}
}

// Above0 returns how many spans are longer than zero.
func (h *Histogram[D]) Above0() uint64 { return h.Count - h.buckets[0] }

// Percentile returns a span that so many in a hundred do not exceed, rounded down to
// whole spans: of fewer than a hundred the 99th leaves one out. It is at most 1/16
// above the least such span; zero if there are none.
func (h *Histogram[D]) Percentile(hundredths int) D {
	hi, lo := bits.Mul64(h.Count, uint64(hundredths))
	rank, _ := bits.Div64(hi, lo, 100)
	seen := uint64(0)
	for i, n := range h.buckets {
		if seen += n; n > 0 && seen >= rank {
			return min(D(top(i)), h.Max)
		}
	}
	return h.Max
}

// String says how many there are and how long, for people.
func (h Histogram[D]) String() string {
	return fmt.Sprintf("%d spans: p50 %v, p99 %v, max %v", h.Count, h.Percentile(50), h.Percentile(99), h.Max)
}

// All returns the buckets that have counted something, by size: their places, and
// how many spans each has.
func (h *Histogram[D]) All() iter.Seq2[int, uint64] {
	return func(yield func(int, uint64) bool) {
		for i, n := range h.buckets {
			if n > 0 && !yield(i, n) {
				return
			}
		}
	}
}

// Restore returns the histogram that All, Sum and Max were taken of. Places must
// rise, and nothing may be there that no spans could have left.
func Restore[D ~int64](places []int, counts []uint64, whole, longest D) (h Histogram[D], err error) {
	if len(places) != len(counts) {
		return h, fmt.Errorf("%d buckets with %d counts: each has one", len(places), len(counts))
	}
	last := -1
	for i, at := range places {
		if at <= last || at >= Buckets || counts[i] == 0 || counts[i] > math.MaxUint64-h.Count {
			return h, fmt.Errorf("bucket %d after %d counts %d: allowed are 1 or more in rising places below %d", at, last, counts[i], Buckets)
		}
		last = at
		h.Count += counts[i]
		h.buckets[at] = counts[i]
	}
	if longest < 0 || whole < longest || last >= 0 && bucket(uint64(longest)) != last || last < 0 && whole > 0 {
		return h, fmt.Errorf("the longest is %d and the sum %d, where the last bucket is %d: the one must lie in it, the other be no less", longest, whole, last)
	}
	h.Sum, h.Max = whole, longest
	return h, nil
}

// BucketEnd returns the longest span that a bucket counts.
func BucketEnd(place int) int64 { return int64(top(place)) }

func sum[D ~int64](a, b D) D {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// bucket returns the place of a span: below 16 its own, then 16 to a doubling.
func bucket(v uint64) int {
	if v < fine {
		return int(v)
	}
	exp := bits.Len64(v) - 5
	return exp*fine + int(v>>exp)
}

// top returns the longest span of a bucket.
func top(i int) uint64 {
	if i < fine {
		return uint64(i)
	}
	exp := i/fine - 1
	return (uint64(i-exp*fine)+1)<<exp - 1
}
