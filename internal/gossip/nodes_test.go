package gossip

import (
	"slices"
	"strings"
	"testing"
)

func TestParseNodes(t *testing.T) {
	for _, c := range []struct {
		in, out string // out: as printed again, or the error it must contain
	}{
		{"", ""},
		{"0", "0"},
		{"0-7", "0-7"},
		{"3-3", "3"},
		{"9,0-2", "0-2,9"},
		{"0-3,4,5-7", "0-7"},
		{"1048575", "1048575"},
		{"1048576", "not a node"},
		{"0-99999999999999999999", "not a node"},
		{"5-3", "not a node"},
		{"-1", "not a node"},
		{"+1", "not a node"},
		{"1-2-3", "not a node"},
		{"1,,2", "not a node"},
		{" 1", "not a node"},
		{"1-4,3", "node 3 is listed twice"},
		{"7,7", "node 7 is listed twice"},
	} {
		n, err := ParseNodes(c.in)
		if err != nil {
			if !strings.Contains(err.Error(), c.out) || c.out == "" {
				t.Errorf("%q: error %q, want one that says %q", c.in, err, c.out)
			}
			continue
		}
		if n.String() != c.out {
			t.Errorf("%q: got %q, want %q", c.in, n, c.out)
		}
	}
}

func TestNodes(t *testing.T) {
	n := List(9, 2, 1, 0, 2)
	if got := slices.Collect(n.All()); !slices.Equal(got, []int{0, 1, 2, 9}) {
		t.Errorf("all: %v", got)
	}
	if n.String() != "0-2,9" || n.Len() != 4 {
		t.Errorf("%q has %d nodes", n, n.Len())
	}
	for i, want := range []bool{true, true, true, false} {
		if n.Contains(i) != want {
			t.Errorf("contains %d: %v", i, !want)
		}
	}
	for i := range n.All() {
		if i != 0 {
			t.Errorf("went on to %d after the loop ended", i)
		}
		break
	}
}

func TestListRefusesWhatIsNoNode(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	List(-1)
}

// FuzzParseNodes checks that whatever parses is a set in its one form.
func FuzzParseNodes(f *testing.F) {
	for _, s := range []string{"", "0-7,9", "5,3,4", "1-2,2", "0-1048575"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseNodes(s)
		if err != nil {
			return
		}
		for i, r := range n {
			if r.First < 0 || r.Last < r.First || r.Last > MaxNode || i > 0 && r.First <= n[i-1].Last+1 {
				t.Fatalf("%q: ranges %v are not ascending and apart", s, n)
			}
		}
		again, err := ParseNodes(n.String())
		if err != nil || !slices.Equal(n, again) {
			t.Fatalf("%q prints as %q and parses as %v, %v", s, n, again, err)
		}
	})
}
