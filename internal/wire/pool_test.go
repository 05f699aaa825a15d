package wire

import "testing"

func TestPool(t *testing.T) {
	var p pool
	for _, c := range []struct{ n, wantCap int }{
		{0, 2 << 10}, {1, 2 << 10}, {2 << 10, 2 << 10}, {2<<10 + 1, 4 << 10}, {16 << 10, 16 << 10},
		{1 << 20, 1 << 20}, {1<<20 + 1, 2 << 20}, {4 << 20, 4 << 20}, {4<<20 + 1, 4<<20 + 1},
	} {
		b := p.Get(c.n)
		if len(*b) != c.n || cap(*b) != c.wantCap {
			t.Errorf("Get(%d) returns length %d and capacity %d, want capacity %d", c.n, len(*b), cap(*b), c.wantCap)
		}
		p.Put(b)
	}
}

// A buffer of any capacity, put back with any length, must be large enough for
// whoever gets it next.
func TestPoolNeverHandsOutTooLittle(t *testing.T) {
	var p pool
	for n := 1; n < 10<<20; n = n*5 + 1 {
		b := make([]byte, n)[:n/2]
		p.Put(&b)
		for size := 1; size < 10<<20; size *= 8 {
			if got := p.Get(size); len(*got) != size || cap(*got) < size {
				t.Fatalf("after a buffer of %d bytes, Get(%d) returns %d of %d", n, size, len(*got), cap(*got))
			}
		}
	}
}
