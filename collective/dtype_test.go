package collective

import (
	"slices"
	"strings"
	"testing"
)

func TestTypesAndReductionsParseTheirOwnNames(t *testing.T) {
	for _, d := range DTypes() {
		if got, err := ParseDType(d.String()); err != nil || got != d {
			t.Errorf("ParseDType(%q) = %v, %v", d, got, err)
		}
		for _, name := range strings.Fields(dtypes[d].also) {
			if got, err := ParseDType(name); err != nil || got != d {
				t.Errorf("ParseDType(%q) = %v, %v; want %v", name, got, err, d)
			}
		}
	}
	for _, o := range RedOps() {
		if got, err := ParseRedOp(o.String()); err != nil || got != o {
			t.Errorf("ParseRedOp(%q) = %v, %v", o, got, err)
		}
	}
}

// float16 is a half, and not the bfloat16 which a hint would have made of it.
func TestNamesOfFrameworks(t *testing.T) {
	for name, want := range map[string]DType{"float16": Float16, "float32": Float32, "float64": Float64, "bf16": BFloat16, "float8_e4m3fn": Float8E4M3} { // order: each is judged alone
		if got, err := ParseDType(name); err != nil || got != want {
			t.Errorf("ParseDType(%q) = %v, %v; want %v", name, got, err, want)
		}
	}
}

// A name that two types shared would make one of them unreachable.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]DType{}
	for _, d := range DTypes() {
		for _, n := range append(strings.Fields(dtypes[d].also), d.String()) {
			if other, twice := seen[n]; twice {
				t.Errorf("%q names both %v and %v", n, other, d)
			}
			seen[n] = d
		}
	}
}

func TestUnknownNamesSayWhatIsAllowed(t *testing.T) {
	const types = "float, half, bfloat16, double, int8, uint8, int32, uint32, int64, uint64, f8e4m3, f8e5m2"
	for _, c := range []struct {
		parse      func(string) error
		in, expect string
	}{
		{parseType, "flaot", `element type "flaot": unknown; allowed are ` + types},
		{parseType, "Double", `element type "Double": unknown; allowed are ` + types},
		{parseType, "int23", `element type "int23": unknown; allowed are ` + types},
		{parseType, "", `element type "": unknown; allowed are ` + types},
		{parseType, "complex", `element type "complex": unknown; allowed are ` + types},
		{parseOp, "Sum", `reduction "Sum": unknown; allowed are sum, prod, min, max, avg, mulsum`},
		{parseOp, "som", `reduction "som": unknown; allowed are sum, prod, min, max, avg, mulsum`},
		{parseOp, "average", `reduction "average": unknown; allowed are sum, prod, min, max, avg, mulsum`},
		{parseOp, "prodd", `reduction "prodd": unknown; allowed are sum, prod, min, max, avg, mulsum`},
	} {
		err := c.parse(c.in)
		if err == nil || err.Error() != c.expect {
			t.Errorf("%q:\n got %v\nwant %s", c.in, err, c.expect)
		}
	}
}

func parseType(s string) error { _, err := ParseDType(s); return err }
func parseOp(s string) error   { _, err := ParseRedOp(s); return err }

func FuzzParse(f *testing.F) {
	f.Add("float")
	f.Add(strings.Repeat("x", 1000))
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDType(s); err == nil && d.String() != s && !slices.Contains(strings.Fields(dtypes[d].also), s) {
			t.Errorf("%q became %v", s, d)
		}
		if o, err := ParseRedOp(s); err == nil && o.String() != s {
			t.Errorf("%q became %v", s, o)
		}
	})
}
