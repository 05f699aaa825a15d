package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/railyard/railyard/internal/report"
)

// TestRemark: what a table says of times that can't be trusted, and of --compare,
// is said beside CSV as well, and nothing else is.
func TestRemark(t *testing.T) {
	for _, format := range []string{"table", "csv"} {
		for _, compare := range []bool{false, true} {
			for _, untrusted := range []bool{false, true} {
				var out, told bytes.Buffer
				a := &App{Stdout: &out, Stderr: &told}
				s, err := a.newScreen(&BenchConfig{Common: Common{Format: format, Quiet: true}, Compare: compare})
				if err == nil {
					err = s.Begin(report.Start{Ranks: 1})
				}
				if err == nil {
					err = s.End(report.Footer{Timing: "not trustworthy: why", Untrusted: untrusted, Explain: []string{"beside predict"}})
				}
				if err != nil {
					t.Fatal(err)
				}
				got := told.String()
				if strings.Contains(got, "not trustworthy: why") != (format == "csv" && untrusted) || strings.Contains(got, "beside predict") != (format == "csv" && compare) {
					t.Errorf("%s, compare %v, untrusted %v: %q", format, compare, untrusted, got)
				}
			}
		}
	}
}
