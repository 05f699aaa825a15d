package shaping

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// panics returns what f panics with, "" when it does not.
func panics(t *testing.T, f func()) (why string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			s, ok := p.(string)
			if !ok {
				t.Fatalf("panics with %v, which explains nothing to a reader", p)
			}
			why = s
		}
	}()
	f()
	return ""
}

func TestRateTimeByHand(t *testing.T) {
	for _, tc := range []struct {
		rate  Rate
		bytes Bytes
		want  Duration
	}{
		{50 * GBps, 0, 0},
		{50 * GBps, 1, 20},     // exact
		{1800 * GBps, 128, 72}, // 71.1 ps: up, or the port would carry more than its rate
		{3 * BytePerSecond, 1, 333_333_333_334},
		{48 * GBps, 512 * KiB, 10_922_667}, // 10 922 666.6…
		{400 * Gbps, GiB, 21_474_836_480},
		{GBps, 8 * GiB, 8_589_934_592_000},             // bytes × 10^12 is 2^33 × 10^12 ≈ 2^73
		{math.MaxInt64, math.MaxInt64, Second},         // both factors at their end
		{BytePerSecond, 9_223_372, 9_223_372 * Second}, // the longest that whole seconds give
		{0, 0, 0}, // nothing takes no time at any rate
	} {
		if got := tc.rate.Time(tc.bytes); got != tc.want {
			t.Errorf("%d B at %d B/s: %d ps, want %d", tc.bytes, tc.rate, got, tc.want)
		}
	}
}

func TestRateTimeRefuses(t *testing.T) {
	const tooLong = "longer than emulated time can say"
	for _, tc := range []struct {
		rate  Rate
		bytes Bytes
		want  string
	}{
		{BytePerSecond, 9_223_373, tooLong},     // one second more than int64 holds
		{BytePerSecond, math.MaxInt64, tooLong}, // the quotient leaves 64 bits
		{0, 1, "1 bytes at 0 B/s"},
		{-GBps, 1, "at -1000000000 B/s"},
		{GBps, -1, "-1 bytes"},
	} {
		if got := panics(t, func() { tc.rate.Time(tc.bytes) }); !strings.Contains(got, tc.want) {
			t.Errorf("%d B at %d B/s: panic %q, want %q in it", tc.bytes, tc.rate, got, tc.want)
		}
	}
}

// draw returns a number whose length in bits is uniform, so that small ones and
// those near the end of int64 are met as often.
func draw(rng *rand.Rand) int64 { return rng.Int64() >> rng.IntN(63) }

var picoseconds = big.NewInt(int64(Second))

// TestRateTimeAgainstBig compares the 128-bit arithmetic with integers that
// have no end: ceil(bytes × 10^12 / rate), or a panic where int64 cannot say it.
func TestRateTimeAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	fit := 0
	for range 20_000 {
		r, b := Rate(draw(rng)|1), Bytes(draw(rng))
		want := new(big.Int).Mul(big.NewInt(int64(b)), picoseconds)
		want.Add(want, big.NewInt(int64(r-1))).Quo(want, big.NewInt(int64(r)))
		var got Duration
		why := panics(t, func() { got = r.Time(b) })
		if !want.IsInt64() {
			if why == "" {
				t.Fatalf("%d B at %d B/s: %d ps, want a panic: it is %v", b, r, got, want)
			}
			continue
		}
		fit++
		if why != "" || int64(got) != want.Int64() {
			t.Fatalf("%d B at %d B/s: %d ps, panic %q; want %v", b, r, got, why, want)
		}
	}
	if fit < 5000 {
		t.Fatalf("only %d of 20000 draws had an answer: they test nothing", fit)
	}
}

// TestCarriesIsTheInverse: Time(b) is the first span in which b bytes fit.
func TestCarriesIsTheInverse(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for range 20_000 {
		r, b := Rate(draw(rng)|1), Bytes(draw(rng)|1)
		var d Duration
		if panics(t, func() { d = r.Time(b) }) != "" {
			continue
		}
		if got := r.Carries(d); got < b {
			t.Fatalf("rate %d: %d B take %d ps, in which only %d fit", r, b, d, got)
		}
		if got := r.Carries(d - 1); got >= b {
			t.Fatalf("rate %d: %d B take %d ps, but %d fit in one less", r, b, d, got)
		}
	}
}

func TestCarriesAtTheEdges(t *testing.T) {
	for _, tc := range []struct {
		rate Rate
		d    Duration
		want Bytes
	}{
		{50 * GBps, 0, 0},
		{50 * GBps, -1, 0},
		{0, Second, 0},
		{-1, Second, 0},
		{50 * GBps, 19, 0},
		{50 * GBps, 20, 1},
		{50 * GBps, Second, 50_000_000_000},
		{math.MaxInt64, Second, math.MaxInt64},
		{math.MaxInt64, Second + 1, math.MaxInt64},    // 64 bits, not 63
		{math.MaxInt64, math.MaxInt64, math.MaxInt64}, // beyond 64 bits: all there is
	} {
		if got := tc.rate.Carries(tc.d); got != tc.want {
			t.Errorf("rate %d carries %d B in %d ps, want %d", tc.rate, got, tc.d, tc.want)
		}
	}
}

func TestPermilleRoundsDown(t *testing.T) {
	for _, tc := range []struct {
		rate Rate
		n    int64
		want Rate
	}{
		{450 * GBps, 881, 396_450 * MBps},
		{400 * Gbps, 980, 49 * GBps},
		{999, 1, 0},
		{1999, 1, 1},
		{1, 999, 0},
		{GBps, 0, 0},
		{math.MaxInt64, 1000, math.MaxInt64}, // the product leaves 64 bits
		{math.MaxInt64, 500, math.MaxInt64 / 2},
	} {
		if got := tc.rate.Permille(tc.n); got != tc.want {
			t.Errorf("%d ‰ of %d: %d, want %d", tc.n, tc.rate, got, tc.want)
		}
	}
}

func TestTimeAdd(t *testing.T) {
	for _, tc := range []struct {
		at   Time
		d    Duration
		want Time
	}{
		{5, 3, 8},
		{5, -3, 2},
		{3, -5, -2}, // a calendar's bound before the session began
		{Never, 0, Never},
		{Never, Second, Never},
		{Never, -Second, Never}, // no bound known stays no bound known
		{Never - 2, 1, Never - 1},
	} {
		if got := tc.at.Add(tc.d); got != tc.want {
			t.Errorf("%d + %d = %d, want %d", tc.at, tc.d, got, tc.want)
		}
	}
}

func TestTimeAddNeverWraps(t *testing.T) {
	for _, tc := range []struct {
		at Time
		d  Duration
	}{
		{Never - 1, 2},
		{Never - 1, math.MaxInt64},
		{1, math.MaxInt64},
		{math.MinInt64, -1},
		{-2, math.MinInt64},
	} {
		if got := panics(t, func() { tc.at.Add(tc.d) }); !strings.Contains(got, "overflow") {
			t.Errorf("%d + %d: panic %q, want an overflow", tc.at, tc.d, got)
		}
	}
}

func TestUnitsHangTogether(t *testing.T) {
	if got := Time(7).Sub(10); got != -3 {
		t.Errorf("7 − 10 = %d ps", got)
	}
	if Second != 1_000_000_000_000 || GiB != 1<<30 || 400*Gbps != 50*GBps {
		t.Errorf("a second of %d ps, a GiB of %d B, 400 Gb/s of %d B/s", Second, GiB, 400*Gbps)
	}
}
