package payload

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestPoolGivesBackWhatFits(t *testing.T) {
	var p pool
	for _, c := range []struct {
		put, get int
		again    bool
	}{
		{1000, 1000, true}, {1000, 996, true}, {1000, 1020, true}, // rounded up to 1024
		{1000, 1028, false}, // another power of two
		{1100, 1300, false}, // same power of two, too small
		{1, 1, true}, {64, 64, true},
	} {
		buf := p.get(c.put)
		p.put(buf)
		if got := p.get(c.get); (&got[0] == &buf[0]) != c.again || len(got) != c.get {
			t.Errorf("%d bytes after %d: the same buffer is %v; got %d bytes", c.get, c.put, !c.again, len(got))
		}
		p = pool{}
	}
	if p.get(0) != nil {
		t.Error("no bytes need no buffer")
	}
	p.put(nil)
	if p.held != 0 {
		t.Error("nil is held")
	}
}

func TestPoolStopsHolding(t *testing.T) {
	p := pool{held: maxHeld - 100}
	p.put(make([]byte, 101))
	if p.held != maxHeld-100 {
		t.Errorf("holds %d bytes, more than %d", p.held, maxHeld)
	}
	p.put(make([]byte, 100))
	if p.held != maxHeld {
		t.Errorf("holds %d bytes; there was room", p.held)
	}
}

// Nobody gets a buffer that somebody else has, and held is what is held.
func TestPoolOwnership(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var p pool
	owned := map[*byte][]byte{}
	for range 5000 {
		if rng.IntN(2) == 0 {
			buf := p.get(1 + rng.IntN(300))
			if owned[&buf[0]] != nil {
				t.Fatal("a buffer has two owners")
			}
			owned[&buf[0]] = buf
		} else {
			for k, buf := range owned {
				p.put(buf)
				delete(owned, k)
				break
			}
		}
	}
	free := 0
	for _, list := range p.free {
		for _, buf := range list {
			free += cap(buf)
		}
	}
	if free != p.held {
		t.Errorf("held says %d, the lists hold %d", p.held, free)
	}
}

func TestFIFOKeepsOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var f fifo
	in, out := 0, 0
	for range 10000 {
		if rng.IntN(2) == 0 && in-out < 20 {
			f.push(fmt.Append(nil, in))
			in++
		} else if msg, ok := f.pop(); ok != (in > out) {
			t.Fatalf("pop says %v with %d waiting", ok, in-out)
		} else if ok {
			if string(msg) != fmt.Sprint(out) {
				t.Fatalf("message %s came; want %d", msg, out)
			}
			out++
		}
	}
	for i, msg := range f.msgs[:cap(f.msgs)] {
		if (i < f.head || i >= len(f.msgs)) && msg != nil {
			t.Errorf("entry %d still holds a message that was popped", i)
		}
	}
	if cap(f.msgs) > 64 {
		t.Errorf("room for %d messages; at most 20 waited", cap(f.msgs))
	}
	f.push(nil)
	for msg, ok := f.pop(); ok; msg, ok = f.pop() {
		if out++; len(msg) == 0 && out != in+1 {
			t.Error("the empty message came early")
		}
	}
	if out != in+1 {
		t.Error("an empty message was lost")
	}
}
