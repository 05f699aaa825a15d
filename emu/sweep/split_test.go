package sweep

import (
	"reflect"
	"strings"
	"testing"
)

// The spellings are those of nccl-tests' README and of scripts found around it.
func TestParseSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want Split
	}{
		{"AND 0x7", Split{Op: SplitAnd, Value: 7}}, {"and 7", Split{Op: SplitAnd, Value: 7}}, {"&0x7", Split{Op: SplitAnd, Value: 7}}, {"AND0b11", Split{Op: SplitAnd, Value: 3}},
		{"OR 0x7", Split{Op: SplitOr, Value: 7}}, {"|7", Split{Op: SplitOr, Value: 7}}, {"MOD 4", Split{Op: SplitMod, Value: 4}}, {"%4", Split{Op: SplitMod, Value: 4}},
		{" DIV 8 ", Split{Op: SplitDiv, Value: 8}}, {"/ 8", Split{Op: SplitDiv, Value: 8}},
	} {
		got, err := ParseSplit(c.text)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
		if again, err := ParseSplit(got.String()); err != nil || again != got {
			t.Errorf("%q prints as %q, which is read as %+v, %v", c.text, got, again, err)
		}
	}
	for text, want := range map[string]string{ // order: each is checked by itself
		"": "must be AND, OR, MOD or DIV", "8": "must be AND", "XOR 3": "must be AND", "MOD": "after MOD comes a whole number",
		"% x": "after % comes", "DIV 0": "split by 0", "MOD 0": "split by 0", "AND -1": "after AND comes",
		"AND 0x80000000": "up to 2147483647", "MOD 4 4": "after MOD comes",
	} {
		if _, err := ParseSplit(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// NCCL_TESTS_SPLIT_MASK is hexadecimal, whatever it looks like.
func TestParseSplitMask(t *testing.T) {
	for text, want := range map[string]int{"0x7": 7, "7": 7, "10": 16, "0XF": 15, "0x0": 0} { // order: each is checked by itself
		if got, err := ParseSplitMask(text); err != nil || got != (Split{Op: SplitAnd, Value: want}) {
			t.Errorf("%q: %+v, %v; want AND %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0x", "seven", "-1", "0x80000000"} {
		if _, err := ParseSplitMask(text); err == nil || !strings.Contains(err.Error(), "hexadecimal") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		split Split
		want  []int
	}{
		{Split{}, []int{0, 0, 0, 0, 0, 0, 0, 0}},
		{Split{Op: SplitAnd, Value: 3}, []int{0, 1, 2, 3, 0, 1, 2, 3}},
		{Split{Op: SplitMod, Value: 3}, []int{0, 1, 2, 0, 1, 2, 0, 1}},
		{Split{Op: SplitDiv, Value: 4}, []int{0, 0, 0, 0, 1, 1, 1, 1}},
		{Split{Op: SplitOr, Value: 3}, []int{3, 3, 3, 3, 7, 7, 7, 7}},
		{Split{Op: SplitMod, Value: 2, Ranks: 2}, []int{0, 0, 1, 1, 0, 0, 1, 1}}, // -g 2: by process
	} {
		var got []int
		for r := range 8 {
			got = append(got, c.split.Group(r))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.split, got, c.want)
		}
	}
}
