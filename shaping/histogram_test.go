package shaping

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestHistogram compares percentiles with those of spans known one by one.
func TestHistogram(t *testing.T) {
	var h Histogram[Duration]
	if h.Percentile(50) != 0 {
		t.Error("a percentile of nothing is not zero")
	}
	for i := 1; i <= 1000; i++ {
		h.Add(Duration(i) * Microsecond)
	}
	for _, p := range []int{0, 1, 10, 50, 90, 99, 100} {
		exact := Duration(max(p*10, 1)) * Microsecond
		if got := h.Percentile(p); got < exact || got > exact+exact/16 {
			t.Errorf("percentile %d is %v, want %v to a sixteenth more", p, got, exact)
		}
	}
	h.Add(-Second) // counts as zero
	if h.Count != 1001 || h.Max != Millisecond || h.Sum != 500500*Microsecond || h.Above0() != 1000 {
		t.Errorf("count %d, of them above zero %d, max %v, sum %v", h.Count, h.Above0(), h.Max, h.Sum)
	}
	twice := h
	twice.Merge(&h)
	if twice.Count != 2*h.Count || twice.Percentile(50) != h.Percentile(50) || twice.Sum != 2*h.Sum {
		t.Error("a histogram merged with itself has another median, or not twice the count")
	}
}

// TestPercentileOfFew: of fewer than a hundred spans the 99th percentile leaves one
// out, and of two hundred two.
func TestPercentileOfFew(t *testing.T) {
	for _, test := range []struct {
		zeros, late int
		want        Duration
	}{{0, 1, Second}, {10, 1, 0}, {98, 1, 0}, {99, 1, 0}, {98, 2, Second}, {198, 2, 0}, {197, 3, Second}} {
		var h Histogram[Duration]
		for range test.zeros {
			h.Add(0)
		}
		for range test.late {
			h.Add(Second)
		}
		if got := h.Percentile(99); got != test.want {
			t.Errorf("the 99th percentile of %d zeros and %d seconds is %v, want %v", test.zeros, test.late, got, test.want)
		}
	}
}

// TestHistogramMerges: however spans are divided, all of them together give the
// same histogram.
func TestHistogramMerges(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	var whole, sum Histogram[Duration]
	var parts [5]Histogram[Duration]
	for range 10_000 {
		d := Duration(draw.Int64() >> draw.IntN(63))
		whole.Add(d)
		parts[draw.IntN(len(parts))].Add(d)
	}
	for i := range parts {
		sum.Merge(&parts[len(parts)-1-i])
	}
	if sum != whole {
		t.Error("parts that are merged are not the whole")
	}
	if whole.Sum != math.MaxInt64 {
		t.Errorf("a sum beyond all numbers is %d", whole.Sum)
	}
}

// TestHistogramComesBack: what All, Sum and Max say is all there is.
func TestHistogramComesBack(t *testing.T) {
	var h Histogram[Duration]
	for _, d := range []Duration{0, 0, 7, 16, 17, 1 << 40, math.MaxInt64} {
		h.Add(d)
	}
	var places []int
	var counts []uint64
	for place, n := range h.All() {
		places, counts = append(places, place), append(counts, n)
	}
	if got, err := Restore(places, counts, h.Sum, h.Max); err != nil || got != h {
		t.Errorf("%v came back as %v, %v", h, got, err)
	}
	if got, err := Restore[Duration](nil, nil, 0, 0); err != nil || got != (Histogram[Duration]{}) {
		t.Errorf("nothing came back as %v, %v", got, err)
	}
}

// TestRestoreRefuses: no histogram is made of what no spans can have left.
func TestRestoreRefuses(t *testing.T) {
	for _, test := range []struct {
		places     []int
		counts     []uint64
		sum, most  Duration
		complained string
	}{
		{[]int{1}, nil, 1, 1, "each has one"},
		{[]int{2, 1}, []uint64{1, 1}, 3, 2, "rising"},
		{[]int{-1}, []uint64{1}, 0, 0, "rising"},
		{[]int{Buckets}, []uint64{1}, 1, 1, "rising"},
		{[]int{1}, []uint64{0}, 0, 1, "1 or more"},
		{[]int{1, 2}, []uint64{math.MaxUint64, 1}, 9, 2, "1 or more"},
		{[]int{1}, []uint64{1}, 1, 2, "longest"},
		{[]int{1}, []uint64{1}, 0, 1, "longest"},
		{nil, nil, 1, 0, "longest"},
		{[]int{0}, []uint64{1}, 0, -1, "longest"},
	} {
		if _, err := Restore(test.places, test.counts, test.sum, test.most); err == nil || !strings.Contains(err.Error(), test.complained) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestBuckets walks over all buckets: each ends where the next begins.
func TestBuckets(t *testing.T) {
	for i := range Buckets - 1 {
		if bucket(top(i)) != i || bucket(top(i)+1) != i+1 {
			t.Fatalf("bucket %d ends at %d, which lies in %d, and the next span in %d", i, top(i), bucket(top(i)), bucket(top(i)+1))
		}
	}
	if last := bucket(math.MaxInt64); last >= Buckets {
		t.Errorf("the longest span is in bucket %d of %d", last, Buckets)
	}
}
