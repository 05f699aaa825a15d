package fault_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
)

// Whatever Set has read, Words prints, and Set reads back as the same: for every
// parameter of every type.
func TestWordsRoundTrip(t *testing.T) {
	examples := map[string][]string{
		"at": {"200us"}, "to": {"1.5s"}, "every": {"3ms"}, "period": {"3ms"}, "times": {"3"}, "afterOps": {"4"}, "chance": {"5%", "0.0001%"},
		"downFor": {"20ns"}, "share": {"50%", "0.5"}, "rate": {"100Gb/s"}, "latency": {"10us"}, "jitter": {"1us"}, "loss": {"0.001%"},
		"links": {"2"}, "width": {"8"}, "gen": {"4"}, "element": {"0", "77"}, "bit": {"0", "7"}, "count": {"9"}, "as": {"another thing"}, "by": {"a job"},
	}
	for _, k := range fault.Kinds() {
		ps, _ := k.Params()
		for _, p := range ps {
			if len(examples[p.Word]) == 0 {
				t.Fatalf("%s: no example of %s", k.Word, p.Word)
			}
			for _, value := range examples[p.Word] {
				want := emu.Fault{Type: k.Word, Element: -1, Bit: -1}
				set(t, &want, p.Word, value)
				words := fault.Words(&want)
				if len(words) != 1 {
					t.Errorf("%s with %s %s prints as %v", k.Word, p.Word, value, words)
					continue
				}
				got := emu.Fault{Type: k.Word, Element: -1, Bit: -1}
				set(t, &got, words[0][0], words[0][1])
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s with %s %s prints as %v, which reads as %+v", k.Word, p.Word, value, words, got)
				}
			}
		}
	}
	if fault.Words(&emu.Fault{Type: "no such"}) != nil {
		t.Error("a type that there is not has words")
	}
}

// Of every parameter of every type 0 is a value of its own, and kept, or refused: a
// 0 that would be read as "left out" strikes otherwise than it says.
func TestZeroIsNoDefault(t *testing.T) {
	own := map[string]bool{"at": true, "afterOps": true, "element": true, "bit": true}
	for _, k := range fault.Kinds() {
		own["count"] = k.Word == "mismatch" // that of a flap is how often
		ps, _ := k.Params()
		for _, p := range ps {
			zeros := []string{"0", "0%", "0.0", "0us", "0Gb/s"}
			if p.Word == "as" || p.Word == "by" {
				zeros = []string{""}
			}
			taken := 0
			for _, zero := range zeros {
				f := emu.Fault{Type: k.Word, Element: -1, Bit: -1}
				if fault.Set(&f, p.Word, zero) == nil {
					taken++
				}
				if own[p.Word] && taken > 0 && (f.Element != 0) == (p.Word == "element") && (f.Bit != 0) == (p.Word == "bit") {
					t.Errorf("%s: %s %q is taken for %+v", k.Word, p.Word, zero, f)
				}
			}
			if (taken > 0) != own[p.Word] {
				t.Errorf("%s: %s of nothing is taken %d times; a value of its own: %v", k.Word, p.Word, taken, own[p.Word])
			}
		}
	}
	for _, tc := range [][3]string{{"chance", "0%", "always does"}, {"downFor", "0us", "without to or downFor it is down for good"}, {"links", "0", "of a link all cables"}} {
		f := emu.Fault{Type: "down"}
		if err := fault.Set(&f, tc[0], tc[1]); err == nil || !strings.Contains(err.Error(), tc[2]) {
			t.Errorf("%s of nothing: %v, want it to say %q", tc[0], err, tc[2])
		}
	}
}
