package shaping

import (
	"math"
	"math/rand"
	"strings"
	"testing"
)

func TestParseBytes(t *testing.T) {
	for in, want := range map[string]Bytes{
		"0": 0, "8": 8, "8b": 8, "8B": 8, "64K": 64 << 10, "64k": 64 << 10, "64KB": 64 << 10, "64KiB": 64 << 10,
		"1M": MiB, "1m": MiB, "16MiB": 16 * MiB, "8G": 8 * GiB, "8g": 8 * GiB, "8gib": 8 * GiB, "2T": 2048 * GiB,
		"1.5K": 1536, "0.5M": 512 << 10, ".5K": 512, "8.": 8, "8.000": 8, "64 K": 64 << 10, "007": 7,
		"9223372036854775807": math.MaxInt64, "8388607T": 8388607 << 40,
	} {
		if got, err := ParseBytes(in); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v; want %d", in, int64(got), err, int64(want))
		}
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string]Rate{
		"400Gb/s": 400 * Gbps, "400Gbps": 400 * Gbps, "400gbps": 400 * Gbps, "400Gbit/s": 400 * Gbps,
		"50GB/s": 50 * GBps, "50GBps": 50 * GBps, "50 GB/s": 50 * GBps, "8b/s": 1, "1B/s": 1, "0B/s": 0,
		"1.5Tb/s": 187_500_000_000, "1.8TB/s": 1_800_000_000_000, "46.123456789GB/s": 46_123_456_789,
		"12kB/s": 12_000, "12KB/s": 12_000,
	} {
		if got, err := ParseRate(in); err != nil || got != want {
			t.Errorf("ParseRate(%q) = %d, %v; want %d", in, int64(got), err, int64(want))
		}
	}
}

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]Duration{
		"500ps": 500, "10ns": 10 * Nanosecond, "2us": 2 * Microsecond, "2µs": 2 * Microsecond, "2μs": 2 * Microsecond,
		"1.5ms": 1500 * Microsecond, "3s": 3 * Second, "0s": 0, "0.000001us": 1, "9223372.036854775807s": math.MaxInt64,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %d, %v; want %d", in, int64(got), err, int64(want))
		}
	}
}

func TestParseErrors(t *testing.T) {
	parsers := map[string]func(string) (int64, error){
		"size":     func(s string) (int64, error) { v, err := ParseBytes(s); return int64(v), err },
		"rate":     func(s string) (int64, error) { v, err := ParseRate(s); return int64(v), err },
		"duration": func(s string) (int64, error) { v, err := ParseDuration(s); return int64(v), err },
	}
	for _, c := range []struct{ kind, in, reason string }{
		{"size", "", "must begin with a number"},
		{"size", "-1", "must begin with a number"},
		{"size", "+1", "must begin with a number"},
		{"size", ".", "must begin with a number"},
		{"size", "K", "must begin with a number"},
		{"size", "1.2.3K", "more than one point"},
		{"size", "8Q", `unknown unit "q"`},
		{"size", "0x10", `unknown unit "x10"`},
		{"size", "1e3", `unknown unit "e3"`},
		{"size", "0.1K", "not a whole number"},
		{"size", "1.5", "not a whole number"},
		{"size", "8388608T", "too large"},
		{"size", "99999999999999999999", "too large"},
		{"size", "18446744073709551616", "too large"},
		{"size", "0.00000000000000000001K", "too many digits"},
		{"rate", "400", "has no unit"},
		{"rate", "400G", `unknown unit "g"`},
		{"rate", "1b/s", "not a whole number"},
		{"rate", "10EB/s", "unknown unit"},
		{"rate", "10000000TB/s", "too large"},
		{"rate", "0.0000000000000000001b/s", "too many digits"},
		{"duration", "5", "has no unit"},
		{"duration", "5m", `unknown unit "m"`},
		{"duration", "5S", `unknown unit "S"`},
		{"duration", "0.5ps", "not a whole number"},
		{"duration", "-1us", "must begin with a number"},
		{"duration", "9223373s", "too large"},
	} {
		v, err := parsers[c.kind](c.in)
		if err == nil {
			t.Errorf("%s %q is read as %d", c.kind, c.in, v)
			continue
		}
		for _, part := range []string{c.kind + " ", c.reason, "allowed are"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s %q: error %q lacks %q", c.kind, c.in, err, part)
			}
		}
	}
}

func TestParseErrorIsShort(t *testing.T) {
	_, err := ParseBytes(strings.Repeat("1", 1<<20) + strings.Repeat("x", 1<<20))
	if err == nil || len(err.Error()) > 300 {
		t.Errorf("a hostile size gives an error of %d bytes", len(err.Error()))
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Duration(0).String(), "0ps"},
		{Duration(999).String(), "999ps"},
		{Duration(1500).String(), "1.5ns"},
		{(2 * Microsecond).String(), "2us"},
		{Duration(123_456_789).String(), "123.456789us"},
		{Duration(1_000_000_000_001).String(), "1.000000000001s"},
		{(5000 * Second).String(), "5000s"},
		{Duration(-1500).String(), "-1.5ns"},
		{Duration(math.MinInt64).String(), "-9223372.036854775808s"},
		{Time(1500).String(), "1.5ns"},
		{Never.String(), "never"},
		{Bytes(0).String(), "0B"},
		{Bytes(1000).String(), "1000B"},
		{Bytes(1536).String(), "1536B"},
		{(64 * KiB).String(), "64KiB"},
		{(8 * GiB).String(), "8GiB"},
		{(3000 * 1024 * GiB).String(), "3000TiB"},
		{(400 * Gbps).String(), "50GB/s"},
		{Rate(46_123_456_789).String(), "46.123456789GB/s"},
		{Rate(7).String(), "7B/s"},
	} {
		if c.got != c.want {
			t.Errorf("printed %q, want %q", c.got, c.want)
		}
	}
}

// What is printed reads back as the same value, whatever its magnitude.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 20_000 {
		v := rng.Int63() >> rng.Intn(63)
		v -= v % []int64{1, 8, 1000, 1024, 1_000_000, 1 << 20}[rng.Intn(6)]
		if b, err := ParseBytes(Bytes(v).String()); err != nil || int64(b) != v {
			t.Fatalf("%d B prints %q, which reads as %d, %v", v, Bytes(v), int64(b), err)
		}
		if r, err := ParseRate(Rate(v).String()); err != nil || int64(r) != v {
			t.Fatalf("%d B/s prints %q, which reads as %d, %v", v, Rate(v), int64(r), err)
		}
		if d, err := ParseDuration(Duration(v).String()); err != nil || int64(d) != v {
			t.Fatalf("%d ps prints %q, which reads as %d, %v", v, Duration(v), int64(d), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"64K", "400Gb/s", "1.5ms", "8.", "..", "1e9", "18446744073709551616", "0.1b/s", "\u212a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := ParseBytes(s); err == nil {
			if again, err := ParseBytes(b.String()); err != nil || again != b || b < 0 {
				t.Errorf("size %q → %d → %q → %d, %v", s, int64(b), b, int64(again), err)
			}
		}
		if r, err := ParseRate(s); err == nil {
			if again, err := ParseRate(r.String()); err != nil || again != r || r < 0 {
				t.Errorf("rate %q → %d → %q → %d, %v", s, int64(r), r, int64(again), err)
			}
		}
		if d, err := ParseDuration(s); err == nil {
			if again, err := ParseDuration(d.String()); err != nil || again != d || d < 0 {
				t.Errorf("duration %q → %d → %q → %d, %v", s, int64(d), d, int64(again), err)
			}
		}
	})
}
