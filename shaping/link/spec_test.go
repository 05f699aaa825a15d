package link

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/shaping"
)

func TestParse(t *testing.T) {
	const ms, us, ns = shaping.Millisecond, shaping.Microsecond, shaping.Nanosecond
	for _, test := range []struct {
		spec string
		want []shaping.Hop
	}{
		{"ndr", []shaping.Hop{{Rate: 49 * shaping.GBps, Latency: 1795 * ns}}},
		{"ndr / 1000", []shaping.Hop{{Rate: 49 * shaping.MBps, Latency: 1795 * us}}},
		{"nvlink4/1000", []shaping.Hop{{Rate: 396_450 * shaping.BytePerSecond * 1000, Latency: 600 * us}}},
		{"rate=50MB/s", []shaping.Hop{{Rate: 50 * shaping.MBps}}},
		{"rate=50MB/s/10", []shaping.Hop{{Rate: 5 * shaping.MBps}}},
		{" rate = 400Gb/s , latency=2ms ", []shaping.Hop{{Rate: 50 * shaping.GBps, Latency: 2 * ms}}},
		{"xdr,latency=1us,loss=20ppm / 2", []shaping.Hop{{Rate: 49 * shaping.GBps, Latency: 2 * us, Loss: 20_000}}},
		{"ndr,rate=1GB/s", []shaping.Hop{{Rate: shaping.GBps, Latency: 1795 * ns}}}, // fields take the place of the link's own
		{"rate=1GB/s + rate=2GB/s,loss=1% + loss=2%", []shaping.Hop{{Rate: shaping.GBps}, {Rate: 2 * shaping.GBps, Loss: 10_000_000}, {Loss: 20_000_000}}},
		{"pcie5 + jitter=1ms", []shaping.Hop{{Rate: 55_440 * shaping.MBps, Latency: 1 * us}, {Jitter: ms}}},
	} {
		got, err := Parse(test.spec)
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%q: %v, %v, want %v", test.spec, got, err, test.want)
		}
	}
	if hops, err := Parse(Example); err != nil || len(hops) != 2 {
		t.Errorf("the example %q: %v", Example, err)
	}
}

// TestParseErrors: each names what is wrong, and what is allowed.
func TestParseErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                                   "empty",
		"ndr +":                              "empty",
		"nrd":                                `did you mean "ndr"?`,
		"ndr / 0":                            "allowed are 1 to 1000000000",
		"ndr / 99999999999999999999":         "allowed are 1 to 1000000000",
		"rate=50":                            "has no unit",
		"rate=1B/s":                          "allowed are 1kB/s and above",
		"rate=1GB/s / 1000000000":            "allowed are 1kB/s and above",
		"latency=2h":                         "unknown unit",
		"latency=4000s":                      "allowed are spans from 0s to 3600s",
		"latency=1000s / 1000000000":         "allowed are spans",
		"loss=60%":                           "allowed are shares from 0% to 50%",
		"loss=2":                             "has no unit",
		"latency=1ms,ndr":                    "has no value",
		"rate=50MB/s,rate=60MB/s":            `field "rate": is there twice`,
		"ndr,latency=1ms, latency = 1ms":     `field "latency": is there twice`,
		"loss=1%,jitter=1ms,loss=2%":         `field "loss": is there twice`,
		"ndr / 1000,latency=1ms":             `"ndr / 1000": a dilation stands once, after all fields`,
		"ndr,rate=5MB/s / 10,latency=1ms":    `"rate=5MB/s / 10": a dilation stands once`,
		"ndr / 10 / 100":                     `"ndr / 10": a dilation stands once`,
		"rate=5MB/s/10/10":                   `"rate=5MB/s/10": a dilation stands once`,
		"speed=3":                            `field "speed": unknown; allowed are rate`,
		strings.Repeat("ndr + ", 16) + "ndr": "allowed are up to 16",
		"nrd + latency=x":                    `duration "x"`,
	} {
		if _, err := Parse(spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something of %q", spec, err, want)
		}
	}
	for _, o := range []Options{{Dilation: -1}, {Linger: -1}, {Dilation: MaxDilation + 1}, {Dilation: MaxDilation}} {
		if l, err := Open("ndr", o); err == nil {
			t.Errorf("options %+v passed", o)
			_ = l.Close()
		}
	}
	if _, err := New(nil, Options{}); err == nil {
		t.Error("a link without hops passed")
	}
}

// FuzzParse: no text panics, and what is printed of one that passes is read back
// as the same.
func FuzzParse(f *testing.F) {
	for _, s := range []string{Example, "ndr", "ndr/3", "loss=0.1%", "rate=1kB/s+latency=1ps", "=,=/+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		hops, err := Parse(s)
		if err != nil {
			return
		}
		if slices.Contains(hops, shaping.Hop{}) {
			return // prints as "unshaped", which is no name
		}
		again, err := Parse(String(hops))
		if err != nil || !slices.Equal(again, hops) {
			t.Errorf("%q is %v, printed %q, read back %v: %v", s, hops, String(hops), again, err)
		}
	})
}
