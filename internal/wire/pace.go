package wire

import (
	"math"

	"github.com/railyard/railyard/emu/pace"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// EncodeLateness returns how well a process kept time as a message.
func EncodeLateness(l *pace.Lateness) *railyardv1.Lateness {
	return &railyardv1.Lateness{Departures: l.Departures, MaxDeparturePs: int64(l.MaxDeparture), Deliveries: l.Deliveries,
		Late: l.Late, MaxLatePs: int64(l.MaxLate), SumLatePs: int64(l.SumLate), StallNs: l.Stall}
}

// DecodeLateness returns what a message says of how well a process kept time.
func DecodeLateness(m *railyardv1.Lateness) (pace.Lateness, error) {
	l := pace.Lateness{Departures: m.GetDepartures(), MaxDeparture: shaping.Duration(m.GetMaxDeparturePs()), Deliveries: m.GetDeliveries(),
		Late: m.GetLate(), MaxLate: shaping.Duration(m.GetMaxLatePs()), SumLate: shaping.Duration(m.GetSumLatePs()), Stall: m.GetStallNs()}
	var bad faults
	within(&bad, "late", l.Late, 0, l.Deliveries)
	within(&bad, "max_departure_ps", m.GetMaxDeparturePs(), 0, math.MaxInt64)
	within(&bad, "max_late_ps", m.GetMaxLatePs(), 0, math.MaxInt64)
	within(&bad, "sum_late_ps", m.GetSumLatePs(), 0, math.MaxInt64)
	within(&bad, "stall_ns", m.GetStallNs(), 0, math.MaxInt64)
	return l, bad.in("lateness")
}
