package pace

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// Capacity is what a host can carry, as measured.
type Capacity struct {
	Wake   int64 // lateness of an alarm at the 99th percentile, in nanoseconds
	Stream int64 // what a frame needs from process to process at the 99th percentile, in nanoseconds
	Frames int64 // a second, each in a message of its own
	Bytes  int64 // of payload a second
}

// Demand is what a batch asks of a host.
type Demand struct {
	Span    shaping.Duration // how long the batch takes, in emulated time
	Slack   shaping.Duration // least time between a departure and its stamp
	Frames  int64            // from process to process
	Bytes   int64            // real ones that are moved
	Compute int64            // what kernels need, in nanoseconds
}

// Limit is what bounds the dilation from below.
type Limit struct {
	Dilation int64
	What     string // in words
	Work     bool   // it is the work, not the way of a frame
}

// Choose returns the least dilation at which a host can keep the times of a
// batch, as far as its capacity tells: frames must make their way within the
// slack, and all of the work must fit the span.
func Choose(d Demand, c Capacity) Limit {
	way := Limit{Dilation: 1, What: "nothing: no frame leaves its process"}
	if d.Slack != shaping.Duration(shaping.Never) && d.Slack > 0 {
		need := c.Wake + c.Stream
		way = Limit{Dilation: least(need, int64(d.Slack)), What: fmt.Sprintf(
			"deliveries: a frame needs %s from process to process, and the shortest way takes %v", micros(need), d.Slack)}
	}
	frames, data := over(d.Frames, c.Frames), over(d.Bytes, c.Bytes)
	work := Limit{Dilation: least(frames+data+d.Compute, int64(d.Span)), What: "work: ", Work: true}
	switch max(frames, data, d.Compute) {
	case data:
		work.What += fmt.Sprintf("%d MB of elements at %d MB/s", d.Bytes/1e6, c.Bytes/1e6)
	case frames:
		work.What += fmt.Sprintf("%d frames at %d a second", d.Frames, c.Frames)
	default:
		work.What += fmt.Sprintf("kernels compute for %s", micros(d.Compute))
	}
	work.What += fmt.Sprintf(", in an emulated %v", d.Span)
	if work.Dilation > way.Dilation {
		return work
	}
	return way
}

// least returns the dilation at which ps emulated picoseconds last ns
// nanoseconds of wall time.
func least(ns, ps int64) int64 {
	return min(scale(ns, psPerNs, max(ps, 1)), MaxDilation-1) + 1
}

// over returns what n of something take at a rate a second, in nanoseconds.
func over(n, rate int64) int64 {
	return min(scale(n, 1e9, max(rate, 1)), Never/4)
}

// micros prints nanoseconds.
func micros(ns int64) string { return fmt.Sprintf("%d µs", (ns+999)/1000) }
