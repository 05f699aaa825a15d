package report

import (
	"fmt"
	"strconv"
	"strings"
)

// fit prints v in width columns with as many decimals as fit, at most two, and
// in scientific notation when not even whole digits fit.
func fit(v float64, width int) string {
	for prec := 2; prec >= 0; prec-- {
		if s := strconv.FormatFloat(v, 'f', prec, 64); len(s) <= width {
			return pad(s, width)
		}
	}
	prec := 0
	if width >= 7 {
		prec = 1
	}
	return pad(strconv.FormatFloat(v, 'e', prec, 64), width)
}

// general prints v as C's %g does: six digits, no trailing zeros.
func general(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// microseconds prints picoseconds as microseconds, all six decimals.
func microseconds(ps int64) string {
	return fmt.Sprintf("%d.%06d", ps/1_000_000, ps%1_000_000)
}

func pad(s string, width int) string {
	return strings.Repeat(" ", max(width-len(s), 0)) + s
}
