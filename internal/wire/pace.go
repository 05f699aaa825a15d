package wire

import (
	"fmt"
	"math"

	"github.com/railyard/railyard/emu/pace"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// EncodeLateness returns how well a process kept time as a message.
func EncodeLateness(l *pace.Lateness) *railyardv1.Lateness {
	return &railyardv1.Lateness{Departures: encodeHistogram(&l.Departures), Deliveries: encodeHistogram(&l.Deliveries), StallNs: l.Stall}
}

// DecodeLateness returns what a message says of how well a process kept time.
func DecodeLateness(m *railyardv1.Lateness) (l pace.Lateness, err error) {
	l.Stall = m.GetStallNs()
	var bad faults
	if l.Departures, err = decodeHistogram(m.GetDepartures()); err != nil {
		bad.note(fmt.Errorf("departures: %w", err))
	}
	if l.Deliveries, err = decodeHistogram(m.GetDeliveries()); err != nil {
		bad.note(fmt.Errorf("deliveries: %w", err))
	}
	within(&bad, "stall_ns", l.Stall, 0, math.MaxInt64)
	return l, bad.in("lateness")
}

func encodeHistogram(h *shaping.Histogram[shaping.Duration]) *railyardv1.Histogram {
	m := &railyardv1.Histogram{SumPs: int64(h.Sum), MaxPs: int64(h.Max)}
	for place, n := range h.All() {
		m.Buckets = append(m.Buckets, uint32(place))
		m.Counts = append(m.Counts, n)
	}
	return m
}

func decodeHistogram(m *railyardv1.Histogram) (shaping.Histogram[shaping.Duration], error) {
	var places []int
	for _, b := range m.GetBuckets() {
		places = append(places, int(min(b, shaping.Buckets))) // beyond them all is beyond them
	}
	return shaping.Restore(places, m.GetCounts(), shaping.Duration(m.GetSumPs()), shaping.Duration(m.GetMaxPs()))
}
