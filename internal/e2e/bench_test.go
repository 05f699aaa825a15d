//go:build e2e

package e2e

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// measured is the part of bench's JSON that says what a run cost.
type measured struct {
	Results []struct {
		OutOfPlace struct {
			BusBW  float64 `json:"bus_bw"`
			NWrong float64 `json:"nwrong"`
		} `json:"out_of_place"`
	} `json:"results"`
	Railyard struct {
		Rounds uint64 `json:"rounds"`
		Grants uint64 `json:"grants"`
		Frames uint64 `json:"frames"`
		Events uint64 `json:"events"`
	} `json:"railyard"`
}

// BenchmarkRun times whole commands, from nothing to nothing left: processes
// start, join, run and end. Beside the wall time stand the rounds and grants of
// the virtual clock, which depend on no machine.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		args []string
	}{
		{"ring-1GiB-scaled-4-nodes", []string{"-b", "1G", "-e", "1G", "--nodes", "4", "--algo", "ring", "--payload", "scaled"}},
		{"ring-1MiB-4-nodes", []string{"-b", "1M", "-e", "1M", "--nodes", "4", "--algo", "ring"}},
		{"64MiB-full-4-nodes", []string{"-b", "64M", "-e", "64M", "--nodes", "4", "--payload", "full"}},
		{"1MiB-16-nodes", []string{"-b", "1M", "-e", "1M", "--nodes", "16"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			args := append([]string{"bench", "all_reduce", "--format", "json", "--quiet"}, c.args...)
			var m measured
			for b.Loop() {
				out, err := exec.CommandContext(b.Context(), binary(b, "coordinator"), args...).Output()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				m = measured{}
				if err := json.Unmarshal(out, &m); err != nil {
					b.Fatal(err)
				}
				if len(m.Results) != 1 || m.Results[0].OutOfPlace.NWrong != 0 {
					b.Fatalf("not one verified row: %s", out)
				}
			}
			b.ReportMetric(float64(m.Railyard.Rounds), "rounds")
			b.ReportMetric(float64(m.Railyard.Grants), "grants")
			b.ReportMetric(float64(m.Railyard.Frames), "frames")
			b.ReportMetric(m.Results[0].OutOfPlace.BusBW, "busbw-GB/s")
		})
	}
}
