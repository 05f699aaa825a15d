package survey

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// rateUnits are bytes a second, by the letters that other tools write. Bits and
// bytes differ by the case of the letter b.
var rateUnits = map[string]int64{
	"Bps": 1, "kBps": 1e3, "KBps": 1e3, "MBps": 1e6, "GBps": 1e9, "TBps": 1e12,
	"KiBps": 1 << 10, "MiBps": 1 << 20, "GiBps": 1 << 30,
	"GB/s": 1e9, "MB/s": 1e6,
}

// bitUnits are bits a second.
var bitUnits = map[string]int64{
	"bps": 1, "kbps": 1e3, "Kbps": 1e3, "Mbps": 1e6, "Gbps": 1e9, "Tbps": 1e12,
	"Gb/s": 1e9, "Mb/s": 1e6,
}

// timeUnits are picoseconds.
var timeUnits = map[string]int64{"ps": 1, "ns": 1e3, "us": 1e6, "ms": 1e9, "s": 1e12}

// parseRate reads "2880Gbps", "125MBps".
func parseRate(text string) (shaping.Rate, error) {
	number, unit := cutUnit(text)
	scale := big.NewRat(rateUnits[unit], 1)
	if bits, ok := bitUnits[unit]; ok {
		scale = big.NewRat(bits, 8)
	}
	v, err := scaled(number, scale)
	if err != nil {
		return 0, fmt.Errorf("%q must be a rate such as 400Gbps or 125MBps", clip(text))
	}
	return shaping.Rate(v), nil
}

// parseTime reads "0.0005ms", "50us".
func parseTime(text string) (shaping.Duration, error) {
	number, unit := cutUnit(text)
	v, err := scaled(number, big.NewRat(timeUnits[unit], 1))
	if err != nil {
		return 0, fmt.Errorf("%q must be a time such as 500ns or 0.5us", clip(text))
	}
	return shaping.Duration(v), nil
}

// milliseconds reads a number of them, without a unit.
func milliseconds(text string) (shaping.Duration, error) {
	return parseTime(strings.TrimSpace(text) + "ms")
}

// cutUnit splits a number from the letters behind it.
func cutUnit(text string) (number, unit string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// scaled returns number times scale, rounded down; an error when it is not a
// decimal number, or the scale is unknown (0), or the result does not fit.
func scaled(number string, scale *big.Rat) (int64, error) {
	v, ok := new(big.Rat).SetString(number)
	if len(number) > 30 || number == "" || !ok || scale.Sign() == 0 {
		return 0, fmt.Errorf("no number")
	}
	v.Mul(v, scale)
	whole := new(big.Int).Quo(v.Num(), v.Denom())
	const most = 1 << 60
	if !whole.IsInt64() || whole.Int64() > most {
		return 0, fmt.Errorf("too large")
	}
	return whole.Int64(), nil
}
