package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/railyard/railyard/shaping/link"
)

// errNoStamp is what stamped says of bytes of which the kernel does not say when
// they came.
var errNoStamp = errors.New("the kernel does not say when bytes came")

// delay is how long a message took from before its write: until it was in the
// socket of the far end, and until the program there had read it.
type delay struct{ socket, program time.Duration }

// settling is how many messages come before those that count: a kernel takes its
// time to begin with time stamps.
const settling = 20

// delays sends messages of 64 bytes one way, one every 3 ms whatever their latency.
func delays(l *link.Link, n int) ([]delay, error) {
	wires, err := connect(l, 1)
	if err != nil {
		return nil, err
	}
	w := wires[0]
	defer w.from.Close()
	defer w.to.Close()
	read, err := stamped(w.to)
	if err != nil {
		return nil, err
	}
	sent := make(chan time.Time, settling+n)
	go func() {
		for range cap(sent) {
			sent <- time.Now()
			if _, err := w.from.Write(make([]byte, 64)); err != nil {
				return
			}
			time.Sleep(3 * time.Millisecond)
		}
	}()
	took := make([]delay, n)
	buf := make([]byte, 64)
	for i := -settling; i < n; i++ {
		arrived, err := read(buf)
		now, began := time.Now(), <-sent
		if err != nil && (i >= 0 || !errors.Is(err, errNoStamp)) {
			return nil, err
		}
		if i < 0 {
			continue
		}
		took[i] = delay{time.Duration(arrived.UnixNano() - began.UnixNano()), now.Sub(began)}
	}
	return took, nil
}

// socket and program return one of both.
func socket(all []delay) (some []time.Duration) {
	for _, d := range all {
		some = append(some, d.socket)
	}
	return some
}

func program(all []delay) (some []time.Duration) {
	for _, d := range all {
		some = append(some, d.program)
	}
	return some
}

func quantile(all []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// latency measures how far single messages are from their link's latency: in the
// socket, where the link's part ends and which is judged, and read by a program, which
// the host must wake first, as without a link.
func (b *bench) latency() error {
	plain, err := delays(nil, b.messages)
	if err != nil {
		return err
	}
	b.add(line{what: "loopback, plain, a message", got: spread(plain, 0), kind: report})
	for _, ms := range []int{1, 2, 5, 10, 20, 50} {
		l := open(fmt.Sprintf("latency=%dms", ms))
		took, err := delays(l, b.messages)
		_ = l.Close()
		if err != nil {
			return err
		}
		target := time.Duration(ms) * time.Millisecond
		half, most := quantile(socket(took), 0.5)-target, quantile(socket(took), 0.99)-target
		late := quantile(program(took), 0.99) - target
		b.add(line{fmt.Sprintf("latency %v", target), spread(took, target),
			"p50 within 50 µs, p99 within 1 ms, read too", timing,
			half.Abs() <= 50*time.Microsecond && most.Abs() <= time.Millisecond && late.Abs() <= time.Millisecond})
	}
	return nil
}

// spread says how far delays are from what they should be.
func spread(all []delay, target time.Duration) string {
	micros := func(some []time.Duration, share float64) string {
		return fmt.Sprintf("%+d", (quantile(some, share) - target).Microseconds())
	}
	return fmt.Sprintf("p50 %s, p99 %s µs; read %s, %s µs", micros(socket(all), 0.5), micros(socket(all), 0.99),
		micros(program(all), 0.5), micros(program(all), 0.99))
}

// seeds sends the same messages three times, the third time with another seed. What
// was drawn shows in what was lost, and in how long each message took. The jitter is
// less than what lies between two messages, so that none waits for the one before.
func (b *bench) seeds() error {
	var lost [3]int64
	var took [3][]time.Duration // until messages were in the socket
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
	all, err := delays(l, b.messages)
	up, _ = l.Stats()
	return up, socket(all), err
}

// apart returns the median of how much messages differ.
func apart(a, b []time.Duration) time.Duration {
	var all []time.Duration
	for i := range a {
		all = append(all, (a[i] - b[i]).Abs())
	}
	return quantile(all, 0.5)
}
