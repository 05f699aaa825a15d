package pace

import "github.com/railyard/railyard/shaping"

// Lateness is how well processes kept time in a batch: that of every frame and
// credit, in emulated time. By the wall it is as many times longer as the batch's
// dilation says.
type Lateness struct {
	// Departures is by how much what was put on streams was behind the instant it
	// should have left at.
	Departures shaping.Histogram[shaping.Duration]
	// Deliveries is by how much what came in was behind its stamp. What was at all
	// was clamped; the rest had no influence on any time.
	Deliveries shaping.Histogram[shaping.Duration]
	// Stall is the longest that a process was behind its own plans, in
	// nanoseconds of wall time: stopped, or not given a processor.
	Stall int64
}

// Frozen is how long a process must have been behind, in nanoseconds, to count as
// stopped (assumed: a host that is merely busy lets it run sooner). What it did
// not do in that time, its GPUs and NICs have not done. What a busy host holds up
// is made up for, in emulated time as if nothing had been.
const Frozen int64 = 300e6

// Departed notes what has left, so much behind its instant.
func (l *Lateness) Departed(by shaping.Duration) { l.Departures.Add(by) }

// Delivered notes what has come in, by so much too late; 0: in time.
func (l *Lateness) Delivered(by shaping.Duration) { l.Deliveries.Add(by) }

// Late returns how many deliveries were late.
func (l *Lateness) Late() uint64 { return l.Deliveries.Above0() }

// Add adds what another process, or another batch, has to say.
func (l *Lateness) Add(o *Lateness) {
	l.Departures.Merge(&o.Departures)
	l.Deliveries.Merge(&o.Deliveries)
	l.Stall = max(l.Stall, o.Stall)
}

// Enough returns a dilation at which nothing would have been late: what came
// latest had at least slack to travel, and took that and its lateness.
func (l *Lateness) Enough(dilation int64, slack shaping.Duration) int64 {
	late := l.Deliveries.Max
	if late == 0 || slack <= 0 {
		return dilation
	}
	more := scale(int64(late), dilation, int64(slack))
	if more >= Never-dilation {
		return Never
	}
	return dilation + more + 1
}
