package shaping

import (
	"math"
	"strings"
	"testing"
)

func TestLoss(t *testing.T) {
	for s, want := range map[string]Loss{"0%": 0, "1%": 10_000_000, "0.1%": 1_000_000, "20ppm": 20_000, "0.001ppm": 1, "100%": Certain} {
		got, err := ParseLoss(s)
		if err != nil || got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, err, want)
		}
		if back, err := ParseLoss(got.String()); err != nil || back != got {
			t.Errorf("%q prints as %q, which is %d: %v", s, got, back, err)
		}
	}
	if _, err := ParseLoss("0.0001ppm"); err == nil {
		t.Error("less than a part of 10^9 passed")
	}
}

func TestHopCheck(t *testing.T) {
	good := Hop{Rate: 50 * MBps, Latency: Millisecond, Jitter: Microsecond, Loss: 1, Retry: Second}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	bad := Hop{Rate: 1, Latency: -1, Jitter: maxSpan + 1, Loss: Certain, Retry: -5}
	err := bad.Check()
	for _, field := range []string{"rate", "latency", "jitter", "loss", "retry"} {
		if err == nil || !strings.Contains(err.Error(), field+" ") {
			t.Errorf("%s is not complained of: %v", field, err)
		}
	}
}

func TestDilate(t *testing.T) {
	h := Hop{Rate: 49 * GBps, Latency: 1795 * Nanosecond, Jitter: 1, Loss: 5, Retry: 2}
	if got, want := h.Dilate(1000), (Hop{Rate: 49 * MBps, Latency: 1795 * Microsecond, Jitter: 1000, Loss: 5, Retry: 2000}); got != want {
		t.Errorf("dilated a thousandfold: %v, want %v", got, want)
	}
	if h.Dilate(1) != h || h.Dilate(0) != h {
		t.Error("a dilation of one changes something")
	}
	far := Hop{Rate: 5 * GBps, Latency: Second}.Dilate(math.MaxInt64)
	if far.Rate != 1 || far.Latency != math.MaxInt64 || far.Check() == nil {
		t.Errorf("dilated by the most there is: %v", far)
	}
}
