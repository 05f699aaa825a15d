package suggest

import (
	"math/rand"
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	systems := []string{"dgx-h100", "dgx-h200", "dgx-a100", "gb200-nvl72"}
	keys := []string{"count", "system", "gpus", "nics"}
	for _, c := range []struct {
		name  string
		known []string
		want  string
	}{
		{"dgx-h10", systems, "dgx-h100"},
		{"DGX-H100", systems, "dgx-h100"},
		{"dgxh200", systems, "dgx-h200"},
		{"cuont", keys, "count"},
		{"gpu", keys, "gpus"},
		{"sytem", keys, "system"},
		{"toaster", systems, ""},
		{"", keys, ""},
		{"x", keys, ""},
		{strings.Repeat("count", 100), keys, ""},
		{"a", nil, ""},
	} {
		got, ok := Closest(c.name, c.known)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("Closest(%q) = %q, %v; want %q", c.name, got, ok, c.want)
		}
	}
}

// Names that are much alike are told apart: only a single slip is one.
func TestSlip(t *testing.T) {
	known := []string{"NCCL_ALGO", "NCCL_PROTO", "NCCL_IB_TC", "NCCL_NVLS_ENABLE"}
	for name, want := range map[string]string{ // order: each is checked by itself
		"NCCL_ALGOO": `; did you mean "NCCL_ALGO"?`, "NCCL_PORTO": `; did you mean "NCCL_PROTO"?`, "nccl_algo": `; did you mean "NCCL_ALGO"?`,
		"NCCL_IB_SL": "", "NCCL_CUMEM_ENABLE": "", "": "", strings.Repeat("NCCL_ALGO", 100): "",
	} {
		if got := Slip(name, known); got != want {
			t.Errorf("Slip(%.20q) = %q, want %q", name, got, want)
		}
	}
}

func TestMessages(t *testing.T) {
	known := []string{"ring", "tree"}
	if got, want := Unknown("rign", known), `"rign" is unknown; allowed are ring, tree; did you mean "ring"?`; got != want {
		t.Errorf("Unknown = %s, want %s", got, want)
	}
	if got, want := Unknown("mesh", known), `"mesh" is unknown; allowed are ring, tree`; got != want {
		t.Errorf("Unknown = %s, want %s", got, want)
	}
	if got := Unknown(strings.Repeat("é", 1000), known); len(got) > 200 {
		t.Errorf("a hostile name gives a message of %d bytes", len(got))
	}
}

// distance is a metric as far as it is used: zero only for equal strings,
// symmetric, at most the longer length, and one for each single slip.
func TestDistance(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	word := func() string {
		b := make([]byte, rng.Intn(8))
		for i := range b {
			b[i] = "abc"[rng.Intn(3)]
		}
		return string(b)
	}
	for range 5000 {
		a, b := word(), word()
		d := distance(a, b)
		if (d == 0) != (a == b) || d != distance(b, a) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d", a, b, d)
		}
	}
	for _, c := range [][2]string{{"ring", "rign"}, {"ring", "ing"}, {"ring", "rings"}, {"ring", "rung"}, {"ab", "ba"}} {
		if d := distance(c[0], c[1]); d != 1 {
			t.Errorf("distance(%q, %q) = %d, want 1", c[0], c[1], d)
		}
	}
}
