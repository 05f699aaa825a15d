package pacer

import (
	"math/bits"
	"time"
)

// fine is how many buckets a doubling has: a quantile is at most 1/16 too high.
const fine = 16

// Lateness counts spans by size. The zero value is empty. It is a value: copies
// are snapshots. Negative spans count as zero.
type Lateness struct {
	Count uint64
	Sum   time.Duration
	Max   time.Duration

	buckets [(64 - 4) * fine]uint64
}

// Add counts a span.
func (l *Lateness) Add(d time.Duration) {
	d = max(d, 0)
	l.Count++
	l.Sum += d
	l.Max = max(l.Max, d)
	l.buckets[bucket(uint64(d))]++
}

// Merge adds what another one has counted.
func (l *Lateness) Merge(o *Lateness) {
	l.Count += o.Count
	l.Sum += o.Sum
	l.Max = max(l.Max, o.Max)
	for i, n := range o.buckets {
		l.buckets[i] += n
	}
}

// Quantile returns a span that the given share of all does not exceed, at most
// 1/16 above the least such one; zero if there are none.
func (l *Lateness) Quantile(share float64) time.Duration {
	rank := uint64(share * float64(l.Count))
	seen := uint64(0)
	for i, n := range l.buckets {
		if seen += n; n > 0 && seen >= rank {
			return min(time.Duration(top(i)), l.Max)
		}
	}
	return l.Max
}

// bucket returns the place of a span: below 16 ns its own, then 16 to a doubling.
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
