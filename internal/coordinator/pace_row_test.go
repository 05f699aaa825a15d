package coordinator

import (
	"strings"
	"testing"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// TestPaceComesBack: what a coordinator elsewhere says of a row is what it found.
func TestPaceComesBack(t *testing.T) {
	want := Pace{Dilation: 7, Chosen: true, Limit: "work", OutOfPlace: 1, InPlace: 2, Enough: 9, Straggler: "node3", ClockError: 11,
		Lateness: pace.Lateness{Departures: 1, MaxDeparture: 2, Deliveries: 30, Late: 4, MaxLate: 5, SumLate: 6, Stall: 7}}
	got, err := decodePace(encodePace(&want))
	if err != nil || *got != want {
		t.Errorf("%+v came back as %+v, %v", want, got, err)
	}
	if got, err := decodePace(encodePace(nil)); got != nil || err != nil {
		t.Errorf("nothing came back as %v, %v", got, err)
	}
	for _, bad := range []*railyardv1.PaceVerdict{
		{ClockErrorNs: -1}, {ComputedInPlacePs: -1}, {Dilation: 1 << 63}, {Lateness: &railyardv1.Lateness{Late: 1}},
	} {
		if _, err := decodePace(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

// TestOff: a time that is off at all is not exact, earlier or later.
func TestOff(t *testing.T) {
	const us = shaping.Microsecond
	for _, test := range []struct {
		got, computed shaping.Duration
		want          int64
	}{{us, us, 0}, {us + 1, us, 1}, {us - 1, us, 1}, {102 * us, 100 * us, 20}, {102*us + 1, 100 * us, 21}, {50 * us, 100 * us, 500}, {us, 0, 0}} {
		row := sweep.Row{OutOfPlace: sweep.Cell{Time: test.got}}
		if got := (&Pace{OutOfPlace: test.computed}).Off(&row); got != test.want {
			t.Errorf("%v for %v is off by %d ‰, want %d", test.got, test.computed, got, test.want)
		}
	}
}

// TestWait: what takes longer than two minutes is said before it begins.
func TestWait(t *testing.T) {
	for _, test := range []struct {
		span     shaping.Duration
		dilation int64
		want     string
	}{{12 * shaping.Millisecond, 10_000, ""}, {12*shaping.Millisecond + 1000, 10_000, "about 2m0s"}, {36 * shaping.Millisecond, 1_000_000, "about 10h0m0s"}} {
		got := wait(test.span, test.dilation)
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%v at %d: %q, want %q", test.span, test.dilation, got, test.want)
		}
	}
}
