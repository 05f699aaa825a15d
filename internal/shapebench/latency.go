package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/railyard/railyard/shaping/link"
)

// delays sends messages of 64 bytes one way, one every 3 ms whatever their latency,
// and returns how long each took from before its write until it was read.
func delays(l *link.Link, n int) ([]time.Duration, error) {
	wires, err := connect(l, 1)
	if err != nil {
		return nil, err
	}
	w := wires[0]
	defer w.from.Close()
	defer w.to.Close()
	sent := make(chan time.Time, n)
	go func() {
		for range n {
			sent <- time.Now()
			if _, err := w.from.Write(make([]byte, 64)); err != nil {
				return
			}
			time.Sleep(3 * time.Millisecond)
		}
	}()
	took := make([]time.Duration, n)
	buf := make([]byte, 64)
	for i := range took {
		if _, err := io.ReadFull(w.to, buf); err != nil {
			return nil, err
		}
		now := time.Now()
		took[i] = now.Sub(<-sent)
	}
	return took, nil
}

func quantile(all []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// latency measures how far single messages are from their link's latency, the way
// through the host's own loopback included.
func (b *bench) latency() error {
	plain, err := delays(nil, b.messages)
	if err != nil {
		return err
	}
	b.add(line{what: "loopback, plain, a message", got: fmt.Sprintf("p50 %v, p99 %v", quantile(plain, 0.5), quantile(plain, 0.99)), kind: report})
	for _, ms := range []int{1, 2, 5, 10, 20, 50} {
		l := open(fmt.Sprintf("latency=%dms", ms))
		took, err := delays(l, b.messages)
		up, _ := l.Stats()
		_ = l.Close()
		if err != nil {
			return err
		}
		target := time.Duration(ms) * time.Millisecond
		half, most := quantile(took, 0.5)-target, quantile(took, 0.99)-target
		b.add(line{fmt.Sprintf("latency %v", target), fmt.Sprintf("p50 %+v, p99 %+v (the pacer %v, %v)", half, most,
			up.Lateness.Percentile(50), up.Lateness.Percentile(99)),
			"p50 within 50 µs, p99 within 1 ms", timing, half.Abs() <= 50*time.Microsecond && most.Abs() <= time.Millisecond})
	}
	return nil
}

// seeds sends the same messages three times, the third time with another seed. What
// was drawn shows in what was lost, and in how long each message took. The jitter is
// less than what lies between two messages, so that none waits for the one before.
func (b *bench) seeds() error {
	var lost [3]int64
	var took [3][]time.Duration
	for i, seed := range []uint64{7, 7, 8} {
		up, _, err := b.drawn("latency=2ms,loss=5%", seed)
		if err != nil {
			return err
		}
		lost[i] = up.Lost
		if _, took[i], err = b.drawn("latency=2ms,jitter=2ms", seed); err != nil {
			return err
		}
	}
	b.add(line{"packets lost with seeds 7, 7 and 8", fmt.Sprint(lost), "the first two alike", always, lost[0] == lost[1]})
	same, other := apart(took[0], took[1]), apart(took[0], took[2])
	b.add(line{"a message's delay, seed 7 again", fmt.Sprintf("p50 %v apart", same), "within 50 µs", timing, same <= 50*time.Microsecond})
	b.add(line{"a message's delay, seed 8", fmt.Sprintf("p50 %v apart", other), "more than 200 µs", timing, other > 200*time.Microsecond})
	return nil
}

func (b *bench) drawn(spec string, seed uint64) (up link.Stats, took []time.Duration, err error) {
	l, err := link.Open(spec, link.Options{Seed: seed})
	if err != nil {
		return up, nil, err
	}
	defer l.Close()
	took, err = delays(l, b.messages)
	up, _ = l.Stats()
	return up, took, err
}

// apart returns the median of how much messages differ.
func apart(a, b []time.Duration) time.Duration {
	var all []time.Duration
	for i := range a {
		all = append(all, (a[i] - b[i]).Abs())
	}
	return quantile(all, 0.5)
}
