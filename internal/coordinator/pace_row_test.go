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
	want := Pace{Chosen: true, Limit: "work", Tried: 3, ClockError: 11,
		OutOfPlace: Half{Dilation: 7, Tries: 1, Computed: 1, Enough: 7},
		InPlace:    Half{Dilation: 8, Tries: 2, Computed: 2, Enough: 9, Straggler: "node3", Lateness: pace.Lateness{Stall: 7}}}
	want.InPlace.Lateness.Departed(2)
	want.InPlace.Lateness.Delivered(5000)
	got, err := decodePace(encodePace(&want))
	if err != nil || *got != want {
		t.Errorf("%+v came back as %+v, %v", want, got, err)
	}
	want.InPlace = Half{} // an operation that has none
	if got, err := decodePace(encodePace(&want)); err != nil || *got != want {
		t.Errorf("%+v came back as %+v, %v", want, got, err)
	}
	if got, err := decodePace(encodePace(nil)); got != nil || err != nil {
		t.Errorf("nothing came back as %v, %v", got, err)
	}
	for _, bad := range []*railyardv1.PaceVerdict{
		{ClockErrorNs: -1}, {InPlace: &railyardv1.PacedHalf{Dilation: 1, Enough: 1, ComputedPs: -1}},
		{OutOfPlace: &railyardv1.PacedHalf{Dilation: 1 << 63, Enough: 1 << 63}}, {OutOfPlace: &railyardv1.PacedHalf{Dilation: 2, Enough: 1}},
		{OutOfPlace: &railyardv1.PacedHalf{Dilation: 1, Enough: 1, Lateness: &railyardv1.Lateness{StallNs: -1}}},
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
		if got := (&Pace{OutOfPlace: Half{Computed: test.computed}}).Off(&row); got != test.want {
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
