package pace

import "github.com/railyard/railyard/shaping"

// Lateness is how well a process kept time in a batch.
type Lateness struct {
	// Departures is how many frames and credits were put on streams, and
	// MaxDeparture by how much the latest was behind the instant it should have
	// left at.
	Departures   uint64
	MaxDeparture shaping.Duration
	// Deliveries is how many came in, Late how many of them after their stamp:
	// those were clamped. The rest had no influence on any time.
	Deliveries, Late uint64
	MaxLate, SumLate shaping.Duration
	// Stall is the longest that the process was behind its own plans, in
	// nanoseconds of wall time: stopped, or not given a processor.
	Stall int64
}

// Frozen is how long a process must have been behind, in nanoseconds, to count as
// stopped (assumed: a host that is merely busy lets it run sooner). What it did
// not do in that time, its GPUs and NICs have not done. What a busy host holds up
// is made up for, in emulated time as if nothing had been.
const Frozen int64 = 300e6

// Departed notes what has left.
func (l *Lateness) Departed(by shaping.Duration) {
	l.Departures++
	l.MaxDeparture = max(l.MaxDeparture, by)
}

// Delivered notes what has come in, by so much too late; 0: in time.
func (l *Lateness) Delivered(by shaping.Duration) {
	l.Deliveries++
	if by > 0 {
		l.Late++
		l.MaxLate = max(l.MaxLate, by)
		l.SumLate += by
	}
}

// Add adds what another process, or another batch, has to say.
func (l *Lateness) Add(o Lateness) {
	l.Departures += o.Departures
	l.MaxDeparture = max(l.MaxDeparture, o.MaxDeparture)
	l.Deliveries += o.Deliveries
	l.Late += o.Late
	l.MaxLate = max(l.MaxLate, o.MaxLate)
	l.SumLate += o.SumLate
	l.Stall = max(l.Stall, o.Stall)
}

// Enough returns a dilation at which nothing would have been late: what came
// latest had at least slack to travel, and took that and its lateness.
func (l *Lateness) Enough(dilation int64, slack shaping.Duration) int64 {
	if l.MaxLate == 0 || slack <= 0 {
		return dilation
	}
	more := scale(int64(l.MaxLate), dilation, int64(slack))
	if more >= Never-dilation {
		return Never
	}
	return dilation + more + 1
}
