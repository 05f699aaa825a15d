package shaping

import (
	"testing"
)

// TestPass works some passages out by hand. 4000 B at 1 MB/s take 4 ms, at 2 MB/s 2 ms.
func TestPass(t *testing.T) {
	const ms = Millisecond
	slow, fast, wire := Hop{Rate: MBps, Latency: 10 * ms}, Hop{Rate: 2 * MBps, Latency: 5 * ms}, Hop{Latency: 3 * ms}
	at := func(d Duration) Time { return Time(d) }
	for _, test := range []struct {
		name          string
		hops          []Hop
		left, arrives Duration
	}{
		{"nothing", []Hop{{}}, 0, 0},
		{"latency", []Hop{wire}, 0, 3 * ms},
		{"one port", []Hop{slow}, 4 * ms, 14 * ms},
		// Cut through: the first byte is at the second port after 10 ms, the last after 14.
		{"slow, then fast", []Hop{slow, fast}, 4 * ms, 19 * ms},
		// All bytes are at the second port after 7 ms, the first after 5: it ends at 9 ms.
		{"fast, then slow", []Hop{fast, slow}, 4 * ms, 19 * ms},
		{"latency before a port", []Hop{wire, slow}, 4 * ms, 17 * ms},
	} {
		c := NewChain(test.hops, 1, Second)
		p := c.Pass(0, 0, Segment{Size: 4000})
		if p.Left != at(test.left) || p.Arrives != at(test.arrives) || p.Lost != 0 {
			t.Errorf("%s: %+v, want left %v, arrives %v", test.name, p, test.left, test.arrives)
		}
		next := c.Pass(0, p.Left, Segment{Offset: 4000, Size: 4000})
		if next.Left != at(2*test.left) || next.Arrives != at(test.left+test.arrives) {
			t.Errorf("%s, the next segment: %+v, want left %v, arrives %v", test.name, next, 2*test.left, test.left+test.arrives)
		}
	}
}

// TestPassLate: a host that is late by less than the span loses nothing, and by
// more what is beyond it.
func TestPassLate(t *testing.T) {
	c := NewChain([]Hop{{Rate: MBps}}, 1, 100*Millisecond)
	if p := c.Pass(Time(90*Millisecond), 0, Segment{Size: 4000}); p.Arrives != Time(4*Millisecond) {
		t.Errorf("90 ms late: %+v, want the arrival at 4 ms", p)
	}
	if p := c.Pass(Time(500*Millisecond), Time(4*Millisecond), Segment{Size: 4000}); p.Arrives != Time(404*Millisecond) {
		t.Errorf("496 ms late: %+v, want the arrival at 404 ms", p)
	}
}

// TestDraws: what is drawn depends on seed, stream and place alone, whoever drew
// before; jitter fills its span and loss has its share.
func TestDraws(t *testing.T) {
	hop := Hop{Latency: 5 * Millisecond, Jitter: Millisecond, Loss: 50_000_000, Retry: 40 * Millisecond} // 5 %
	const n = 20_000
	one, other := NewChain([]Hop{hop}, 7, Second), NewChain([]Hop{hop}, 7, Second)
	lost, late, sum := 0, 0, Duration(0)
	for i := n - 1; i >= 0; i-- { // the other way round
		other.Pass(0, 0, Segment{Stream: 3, Offset: Bytes(i) * Packet, Size: 100})
	}
	for i := range n {
		s := Segment{Stream: 3, Offset: Bytes(i) * Packet, Size: 100}
		a, b := one.Pass(0, 0, s), other.Pass(0, 0, s)
		if a != b {
			t.Fatalf("segment %d: %+v and %+v", i, a, b)
		}
		lost += a.Lost
		d := a.Arrives.Sub(Time(Duration(a.Lost)*hop.Retry)) - hop.Latency
		if d < 0 || d > hop.Jitter {
			t.Fatalf("segment %d arrives %v after the latency, beyond jitter and retries", i, d)
		}
		if sum += d; d > hop.Jitter/2 {
			late++
		}
	}
	if want := n / 19; lost < want*9/10 || lost > want*11/10 { // p/(1−p) attempts too many a packet
		t.Errorf("%d packets lost, want some %d", lost, want)
	}
	if late < n*48/100 || late > n*52/100 || sum/n < hop.Jitter*49/100 || sum/n > hop.Jitter*51/100 {
		t.Errorf("%d of %d in the upper half of the jitter, mean %v", late, n, sum/n)
	}
}

// TestLossCosts: what is lost takes the ports before it once more, and delays by a
// retry, which is twice the latency of the chain unless told.
func TestLossCosts(t *testing.T) {
	hops := []Hop{{Rate: 2 * MBps, Latency: 10 * Millisecond}, {Rate: MBps, Loss: 200_000_000}, {Rate: 4 * MBps, Latency: 5 * Millisecond}}
	c, sure := NewChain(hops, 5, Second), NewChain([]Hop{hops[0], {Rate: MBps}, hops[2]}, 5, Second)
	total, once := 0, Bytes(0)
	for i := range 200 {
		s := Segment{Offset: Bytes(i) * Packet, Size: Packet}
		now := Time(i) * Time(Second)
		p, q := c.Pass(now, now, s), sure.Pass(now, now, s)
		extra := MBps.Time(Packet*Bytes(1+p.Lost)) - MBps.Time(Packet)
		want := q.Arrives.Add(extra + Duration(p.Lost)*30*Millisecond)
		if p.Arrives != want || p.Left != q.Left.Add(extra) {
			t.Fatalf("segment %d, lost %d times: %+v, want the arrival at %v", i, p.Lost, p, want)
		}
		total += p.Lost
		once += Packet
	}
	lost := Bytes(total) * Packet
	for i, want := range []Bytes{once + lost, once + lost, once} {
		if got, _ := c.ports[i].Booked(); got != want {
			t.Errorf("port %d carried %d B, want %d", i, got, want)
		}
	}
}

// TestCutting: however a stream is cut into segments at packets' ends, the same
// packets are lost.
func TestCutting(t *testing.T) {
	hops := []Hop{{Loss: 100_000_000}}
	lost := func(packets Bytes) (n int) {
		c := NewChain(hops, 9, Second)
		for at := Bytes(0); at < 960*Packet; at += packets * Packet {
			n += c.Pass(0, 0, Segment{Stream: 1, Offset: at, Size: packets * Packet}).Lost
		}
		return n
	}
	if a, b, c := lost(1), lost(16), lost(60); a != b || b != c || a == 0 {
		t.Errorf("%d, %d and %d packets lost of one stream", a, b, c)
	}
}

func TestQuantum(t *testing.T) {
	for r, want := range map[Rate]Bytes{0: 64 * Packet, MBps: Packet, 10 * MBps: Packet, 100 * MBps: 12 * Packet, 50 * GBps: 64 * Packet} {
		if got := NewChain([]Hop{{Rate: r}, {Latency: 1}}, 0, Second).Quantum(); got != want {
			t.Errorf("at %v segments of %d B, want %d", r, got, want)
		}
	}
	c := NewChain([]Hop{{Rate: 100 * MBps, Latency: 10 * Millisecond}, {Rate: 10 * MBps, Latency: 10 * Millisecond}}, 0, Second)
	if b, ok := c.Flight(); b != 200_000 || !ok {
		t.Errorf("%d B in flight, want 10 MB/s × 20 ms", b)
	}
	if _, ok := NewChain([]Hop{{Latency: 1}}, 0, Second).Flight(); ok {
		t.Error("a chain without a rate has a bound of what is in flight")
	}
}
