package pacer

import (
	"testing"
	"time"
)

// TestLateness compares quantiles with those of spans known one by one.
func TestLateness(t *testing.T) {
	var l Lateness
	if l.Quantile(0.5) != 0 {
		t.Error("a quantile of nothing is not zero")
	}
	for i := 1; i <= 1000; i++ {
		l.Add(time.Duration(i) * time.Microsecond)
	}
	for _, share := range []float64{0.001, 0.1, 0.5, 0.9, 0.99, 1} {
		exact := time.Duration(share*1000) * time.Microsecond
		if got := l.Quantile(share); got < exact || got > exact+exact/16+time.Microsecond {
			t.Errorf("quantile %v is %v, want %v to a sixteenth more", share, got, exact)
		}
	}
	l.Add(-time.Second) // counts as zero
	if l.Count != 1001 || l.Max != time.Millisecond || l.Sum != 500500*time.Microsecond {
		t.Errorf("count %d, max %v, sum %v", l.Count, l.Max, l.Sum)
	}
	sum := l
	sum.Merge(&l)
	if sum.Count != 2*l.Count || sum.Quantile(0.5) != l.Quantile(0.5) {
		t.Error("a histogram merged with itself has another median, or not twice the count")
	}
}

// TestBuckets walks over all buckets: each ends where the next begins.
func TestBuckets(t *testing.T) {
	n := len(Lateness{}.buckets)
	for i := range n - 1 {
		if bucket(top(i)) != i || bucket(top(i)+1) != i+1 {
			t.Fatalf("bucket %d ends at %d, which lies in %d, and the next nanosecond in %d", i, top(i), bucket(top(i)), bucket(top(i)+1))
		}
	}
	if last := bucket(1<<63 - 1); last >= n {
		t.Errorf("the longest span is in bucket %d of %d", last, n)
	}
}
