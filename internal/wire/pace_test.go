package wire

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/pace"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

func TestLatenessComesBack(t *testing.T) {
	want := pace.Lateness{Departures: 1, MaxDeparture: 2, Deliveries: 30, Late: 4, MaxLate: 5, SumLate: 6, Stall: 7}
	got, err := DecodeLateness(EncodeLateness(&want))
	if err != nil || got != want {
		t.Errorf("%+v came back as %+v, %v", want, got, err)
	}
}

func TestLatenessRefused(t *testing.T) {
	_, err := DecodeLateness(&railyardv1.Lateness{Deliveries: 1, Late: 2, MaxDeparturePs: -1, MaxLatePs: -1, SumLatePs: -1, StallNs: -1})
	if err == nil {
		t.Fatal("more late than came, and negative times, are accepted")
	}
	for _, field := range []string{"late 2", "max_departure_ps", "max_late_ps", "sum_late_ps", "stall_ns"} {
		if !strings.Contains(err.Error(), field) {
			t.Errorf("%q does not name %s", err, field)
		}
	}
}
