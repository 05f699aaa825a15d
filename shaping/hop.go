package shaping

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Hop is what bytes meet on their way in one direction: a port with a rate, and
// what lies behind it. The zero value is a hop that changes nothing.
type Hop struct {
	Rate    Rate     // of the port; zero: no bound
	Latency Duration // from the port's end to the next one
	// Jitter is how much later a segment may be: each span from zero to it is as likely.
	Jitter Duration
	Loss   Loss // of packets, each drawn for itself
	// Retry is how much later what was lost arrives, each time. Zero: twice the
	// latency of the chain, as a receiver that asks for it at once gets it.
	Retry Duration
}

// Loss is a probability in parts of 10^9.
type Loss int64

// Certain is the probability of what always happens.
const Certain Loss = 1_000_000_000

// Bounds of a hop: with what lies within them no instant of a connection that
// lives for a month leaves int64.
const (
	minRate = 1000 * BytePerSecond // a packet in 4 s
	maxSpan = 3600 * Second
	maxLoss = Certain / 2 // beyond that a packet needs more than two attempts in the mean
)

var lossUnits = []unit{{"%", uint64(Certain / 100), 1}, {"ppm", uint64(Certain / 1_000_000), 1}}

// ParseLoss reads a share of packets: "0.1%", "20ppm".
func ParseLoss(s string) (Loss, error) {
	v, err := parse(s, lossUnits)
	if err != nil {
		return 0, fmt.Errorf("loss %q: %w; allowed are shares such as 0.1%% or 20ppm, down to 10^-9", clip(s), err)
	}
	return Loss(v), nil
}

// String returns the share exactly: "0.1%".
func (l Loss) String() string {
	s := fmt.Sprintf("%d", l/(Certain/100))
	if rest := l % (Certain / 100); rest != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%07d", rest), "0")
	}
	return s + "%"
}

// Check says what is wrong with a hop, all at once.
func (h Hop) Check() error {
	var errs []error
	if h.Rate != 0 && h.Rate < minRate {
		errs = append(errs, fmt.Errorf("rate %v: allowed are %v and above, or none for no bound", h.Rate, minRate))
	}
	for _, d := range []struct {
		name string
		span Duration
	}{{"latency", h.Latency}, {"jitter", h.Jitter}, {"retry", h.Retry}} {
		if d.span < 0 || d.span > maxSpan {
			errs = append(errs, fmt.Errorf("%s %v: allowed are spans from 0s to %v", d.name, d.span, maxSpan))
		}
	}
	if h.Loss < 0 || h.Loss > maxLoss {
		errs = append(errs, fmt.Errorf("loss %v: allowed are shares from 0%% to %v; to cut a link, close it", h.Loss, maxLoss))
	}
	return errors.Join(errs...)
}

// Dilate returns the hop as it is when time passes n times as slowly: latency,
// jitter and retry n-fold, the rate an n-th of it, rounded down. Zero and one
// change nothing. Spans that leave int64 become the longest there is, which
// Check refuses, as it does a rate that becomes too low.
func (h Hop) Dilate(n int64) Hop {
	if n <= 1 {
		return h
	}
	if h.Rate > 0 {
		h.Rate = max(h.Rate/Rate(n), 1)
	}
	for _, d := range []*Duration{&h.Latency, &h.Jitter, &h.Retry} {
		if *d > math.MaxInt64/Duration(n) {
			*d = math.MaxInt64
		} else {
			*d *= Duration(n)
		}
	}
	return h
}

// Set gives a field of a hop the value in a text: rate, latency, jitter, loss,
// retry.
func (h *Hop) Set(field, value string) (err error) {
	switch field {
	case "rate":
		h.Rate, err = ParseRate(value)
	case "latency":
		h.Latency, err = ParseDuration(value)
	case "jitter":
		h.Jitter, err = ParseDuration(value)
	case "retry":
		h.Retry, err = ParseDuration(value)
	case "loss":
		h.Loss, err = ParseLoss(value)
	default:
		return fmt.Errorf("field %q: unknown; allowed are rate, latency, jitter, loss, retry", clip(field))
	}
	return err
}

// String returns the hop as Set's fields, "unshaped" for one that changes nothing.
func (h Hop) String() string {
	var parts []string
	add := func(name, value string, there bool) {
		if there {
			parts = append(parts, name+"="+value)
		}
	}
	add("rate", h.Rate.String(), h.Rate != 0)
	add("latency", h.Latency.String(), h.Latency != 0)
	add("jitter", h.Jitter.String(), h.Jitter != 0)
	add("loss", h.Loss.String(), h.Loss != 0)
	add("retry", h.Retry.String(), h.Retry != 0)
	if parts == nil {
		return "unshaped"
	}
	return strings.Join(parts, ",")
}
