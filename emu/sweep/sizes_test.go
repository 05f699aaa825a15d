package sweep

import (
	"math"
	"reflect"
	"testing"

	"github.com/railyard/railyard/collective"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		least, most, factor, step int64
		want                      []int64
	}{
		{8, 128, 2, 1 << 20, []int64{8, 16, 32, 64, 128}},
		{8, 127, 2, 1 << 20, []int64{8, 16, 32, 64}},
		{16, 1 << 10, 4, 1, []int64{16, 64, 256, 1024}},
		{100, 400, 1, 100, []int64{100, 200, 300, 400}},
		{100, 399, 0, 100, []int64{100, 200, 300}},
		{5, 5, 2, 1, []int64{5}},
		{5, 4, 2, 1, nil},
		{0, 0, 2, 1, []int64{0}},
		{0, 9, 2, 1, []int64{0}}, // zero times anything is zero
		{0, 9, 1, 4, []int64{0, 4, 8}},
		{4, 9, 1, 0, []int64{4}},
		{math.MaxInt64 / 2, math.MaxInt64, 3, 1, []int64{math.MaxInt64 / 2}},
		{math.MaxInt64 - 1, math.MaxInt64, 1, 5, []int64{math.MaxInt64 - 1}},
	} {
		got, err := Sizes(c.least, c.most, c.factor, c.step)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("Sizes(%d, %d, %d, %d) = %v, %v; want %v", c.least, c.most, c.factor, c.step, got, err, c.want)
		}
	}
	if _, err := Sizes(0, MaxSizes, 1, 1); err == nil {
		t.Error("one size too many is accepted")
	}
	if s, err := Sizes(1, MaxSizes, 1, 1); err != nil || len(s) != MaxSizes {
		t.Errorf("%d sizes, %v; want %d", len(s), err, MaxSizes)
	}
}

// The figures are those of nccl-tests' getCollByteCount.
func TestMessage(t *testing.T) {
	for _, c := range []struct {
		op          collective.Op
		bytes, elem int64
		n           int
		count, size int64
	}{
		{collective.AllReduce, 1024, 4, 8, 256, 1024},
		{collective.AllReduce, 1023, 4, 8, 255, 1020},
		{collective.Broadcast, 24, 8, 3, 3, 24},
		{collective.SendRecv, 10, 1, 2, 10, 10},
		{collective.AllGather, 1024, 4, 8, 32, 1024},
		{collective.AllGather, 1024, 4, 3, 84, 1008}, // 85 rounded down to 16 B
		{collective.AllGather, 16, 4, 32, 0, 0},
		{collective.AllGather, 100, 4, 1, 24, 96},
		{collective.ReduceScatter, 1 << 20, 8, 32, 4096, 1 << 20},
		{collective.ReduceScatter, 1000, 8, 3, 40, 960}, // 41 rounded down
		{collective.AllToAll, 1000, 1, 3, 320, 960},
		{collective.Gather, 1000, 2, 4, 120, 960},
		{collective.Scatter, 1000, 2, 4, 120, 960},
		{collective.Reduce, 0, 4, 4, 0, 0},
	} {
		count, size := Message(c.op, c.bytes, c.elem, c.n)
		if count != c.count || size != c.size {
			t.Errorf("%s of %d B on %d ranks: count %d, size %d; want %d, %d", c.op, c.bytes, c.n, count, size, c.count, c.size)
		}
	}
}
