package shaping

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// unit is a suffix and what one of it is worth: num/den of the type's own unit.
// A bit is 1/8 of a byte, so rates need the denominator.
type unit struct {
	name     string
	num, den uint64
}

// Sizes count in 1024 whatever the suffix says, as nccl-tests reads -b and -e.
var byteUnits = prefixed(1024, "kmgt", []unit{{"", 1, 1}, {"b", 1, 1}, {"ib", 1, 1}})

// Rates count in 1000. Only the letter b tells bits from bytes, so its case
// matters; the case of the prefix does not.
var rateUnits = prefixed(1000, "kmgt", []unit{
	{"B/s", 1, 1}, {"Bps", 1, 1}, {"b/s", 1, 8}, {"bps", 1, 8}, {"bit/s", 1, 8},
})

var durationUnits = []unit{
	{"ps", uint64(Picosecond), 1},
	{"ns", uint64(Nanosecond), 1},
	{"us", uint64(Microsecond), 1},
	{"µs", uint64(Microsecond), 1}, // U+00B5, the micro sign
	{"μs", uint64(Microsecond), 1}, // U+03BC, the Greek letter
	{"ms", uint64(Millisecond), 1},
	{"s", uint64(Second), 1},
}

// ParseBytes reads a size as nccl-tests does: "8", "64K", "1M", "8G"; also
// "16MiB". K is 1024, upper and lower case mean the same, and a fraction is
// allowed where it gives whole bytes ("1.5K").
func ParseBytes(s string) (Bytes, error) {
	v, err := parse(strings.ToLower(s), byteUnits)
	if err != nil {
		return 0, fmt.Errorf("size %q: %w; allowed are whole bytes such as 8, 64K, 1M, 8G, 16MiB (K = 1024)", clip(s), err)
	}
	return Bytes(v), nil
}

// ParseRate reads a data rate: "400Gb/s", "400Gbps", "50GB/s", "1.5Tb/s".
// Prefixes are decimal; a small b is a bit and a capital B a byte.
func ParseRate(s string) (Rate, error) {
	v, err := parse(lowerPrefix(s), rateUnits)
	if err != nil {
		return 0, fmt.Errorf("rate %q: %w; allowed are whole bytes per second such as 400Gb/s, 50GB/s (G = 10^9, b = bit, B = byte)", clip(s), err)
	}
	return Rate(v), nil
}

// ParseDuration reads a span of emulated time: "2us", "1.5ms", "10ns", "3s",
// "500ps".
func ParseDuration(s string) (Duration, error) {
	v, err := parse(s, durationUnits)
	if err != nil {
		return 0, fmt.Errorf("duration %q: %w; allowed are whole picoseconds such as 2us, 1.5ms, 10ns, 3s, 500ps", clip(s), err)
	}
	return Duration(v), nil
}

// parse reads a decimal number and a unit of the table, exactly.
func parse(s string, units []unit) (int64, error) {
	suffix := strings.TrimLeft(s, "0123456789.")
	number := s[:len(s)-len(suffix)]
	if strings.Trim(number, ".") == "" {
		return 0, errors.New("must begin with a number, zero or above")
	}
	suffix = strings.TrimLeft(suffix, " ")
	for _, u := range units {
		if u.name == suffix {
			return exact(number, u)
		}
	}
	if suffix == "" {
		return 0, errors.New("has no unit")
	}
	return 0, fmt.Errorf("unknown unit %q", clip(suffix))
}

var errRange = errors.New("is too large")

// exact returns number × unit if that is a whole number within int64. The
// number is decimal digits and points; nothing is ever rounded.
func exact(number string, u unit) (int64, error) {
	whole, frac, _ := strings.Cut(number, ".")
	if strings.Contains(frac, ".") {
		return 0, errors.New("has more than one point")
	}
	m, ok := integer(whole + strings.TrimRight(frac, "0"))
	if !ok {
		return 0, errRange
	}
	den, ok := integer("1" + strings.Repeat("0", len(strings.TrimRight(frac, "0"))))
	if !ok || den > math.MaxUint64/u.den {
		return 0, errors.New("has too many digits after the point")
	}
	den *= u.den
	hi, lo := bits.Mul64(m, u.num)
	if hi >= den {
		return 0, errRange
	}
	q, r := bits.Div64(hi, lo, den)
	switch {
	case r != 0:
		return 0, errors.New("is not a whole number")
	case q > math.MaxInt64:
		return 0, errRange
	}
	return int64(q), nil
}

// integer returns the value of decimal digits, not ok when beyond uint64.
func integer(digits string) (v uint64, ok bool) {
	for _, d := range []byte(digits) {
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(d-'0'), 0)
		if hi != 0 || carry != 0 {
			return 0, false
		}
		v = sum
	}
	return v, true
}

// prefixed returns the units, then each of them again behind each prefix.
// A prefix is worth base times the one before it.
func prefixed(base uint64, prefixes string, units []unit) []unit {
	all := append([]unit(nil), units...)
	factor := uint64(1)
	for _, p := range prefixes {
		factor *= base
		for _, u := range units {
			all = append(all, unit{string(p) + u.name, factor * u.num, u.den})
		}
	}
	return all
}

// lowerPrefix returns s with the prefix of its unit in lower case. No other
// letter of a rate is one of these.
func lowerPrefix(s string) string {
	i := strings.IndexAny(s, "KMGT")
	if i < 0 {
		return s
	}
	return s[:i] + strings.ToLower(s[i:i+1]) + s[i+1:]
}

// clip shortens hostile input, so that an error stays one line.
func clip(s string) string {
	if len(s) <= 40 {
		return s
	}
	return s[:40] + "…"
}

// String returns the instant as a span since the session began, "never" for
// Never.
func (t Time) String() string {
	if t == Never {
		return "never"
	}
	return Duration(t).String()
}

// String returns the span exactly, in the largest unit not above it:
// "1.5us". ParseDuration reads it back.
func (d Duration) String() string {
	return decimal(int64(d), []string{"ps", "ns", "us", "ms", "s"})
}

// String returns the rate exactly, in the largest unit not above it:
// "50GB/s". ParseRate reads it back.
func (r Rate) String() string {
	return decimal(int64(r), []string{"B/s", "kB/s", "MB/s", "GB/s", "TB/s"})
}

// String returns the size in the largest binary unit that divides it:
// "64KiB", "1000B". ParseBytes reads it back.
func (b Bytes) String() string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for b != 0 && b%1024 == 0 && i < len(units)-1 {
		b, i = b/1024, i+1
	}
	return strconv.FormatInt(int64(b), 10) + units[i]
}

// decimal prints v with the largest of units, each 1000 of the one before,
// that leaves at least one whole unit. All digits are kept.
func decimal(v int64, units []string) string {
	sign, u := "", uint64(v)
	if v < 0 {
		sign, u = "-", -u
	}
	i, scale := 0, uint64(1)
	for i < len(units)-1 && u >= scale*1000 {
		i, scale = i+1, scale*1000
	}
	s := sign + strconv.FormatUint(u/scale, 10)
	if rest := u % scale; rest != 0 {
		s += "." + strings.TrimRight(fmt.Sprintf("%0*d", 3*i, rest), "0")
	}
	return s + units[i]
}
