//go:build e2e

package e2e

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// pacedResult is the part of bench's JSON that says what the paced clock's times
// are worth.
type pacedResult struct {
	Results []struct {
		OutOfPlace struct {
			NWrong float64 `json:"nwrong"`
		} `json:"out_of_place"`
		InPlace struct {
			NWrong float64 `json:"nwrong"`
		} `json:"in_place"`
	} `json:"results"`
	Railyard struct {
		Rows []struct {
			Pace struct {
				Dilation  int64   `json:"dilation"`
				Chosen    bool    `json:"chosen"`
				Limit     string  `json:"limit"`
				Late      int64   `json:"late_deliveries"`
				Straggler string  `json:"straggler"`
				Behind    float64 `json:"straggler_behind_seconds"`

				Tries      int       `json:"tries"`
				Departures int64     `json:"departures"`
				Deliveries int64     `json:"deliveries"`
				OutOfPlace pacedHalf `json:"out_of_place"`
				InPlace    pacedHalf `json:"in_place"`
			} `json:"pace"`
			Compare struct {
				PredictOut float64 `json:"predict_out_of_place_ps"`
				PacedOut   float64 `json:"paced_out_of_place_ps"`
				PredictIn  float64 `json:"predict_in_place_ps"`
				PacedIn    float64 `json:"paced_in_place_ps"`
			} `json:"compare"`
		} `json:"rows"`
		Trust struct {
			Trustworthy bool   `json:"trustworthy"`
			Why         string `json:"why"`
			Enough      int64  `json:"enough_dilation"`
		} `json:"trust"`
	} `json:"railyard"`
}

// pacedHalf is the run that one time of a row is of.
type pacedHalf struct {
	Tries      int           `json:"tries"`
	Departures pacedLateness `json:"departure_lateness"`
	Deliveries pacedLateness `json:"delivery_lateness"`
}

type pacedLateness struct {
	Count   int64      `json:"count"`
	P50     int64      `json:"p50_ps"`
	P99     int64      `json:"p99_ps"`
	Max     int64      `json:"max_ps"`
	Buckets [][2]int64 `json:"buckets"`
}

// whole checks that each span is in a bucket, the longest in the last.
func (l *pacedLateness) whole(t *testing.T) {
	t.Helper()
	n, end := int64(0), int64(-1)
	for _, b := range l.Buckets {
		if b[0] <= end || b[1] < 1 {
			t.Errorf("bucket up to %d ps with %d spans comes after one up to %d ps", b[0], b[1], end)
		}
		n, end = n+b[1], b[0]
	}
	if n == 0 || n != l.Count || l.P50 > l.P99 || l.P99 > l.Max || l.Max > end || l.Max < end-end/8 {
		t.Errorf("%d spans, %d in buckets up to %d ps: p50 %d, p99 %d, max %d", l.Count, n, end, l.P50, l.P99, l.Max)
	}
}

// paced starts a small all-reduce under the paced clock and returns where its
// JSON will be.
func paced(t *testing.T, args ...string) (*program, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	args = append([]string{"bench", "all_reduce", "--clock", "paced", "--compare", "--strict", "-J", file}, args...)
	return start(t, "coordinator", args...), file
}

// result reads it.
func result(t *testing.T, p *program, file string) (r pacedResult) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, p.stdout, p.stderr)
	}
	if len(r.Results) == 0 || len(r.Results) != len(r.Railyard.Rows) {
		t.Fatalf("%d results, %d rows: %s", len(r.Results), len(r.Railyard.Rows), text)
	}
	for _, x := range r.Results {
		if x.OutOfPlace.NWrong != 0 || x.InPlace.NWrong != 0 {
			t.Errorf("wrong elements: %s", text)
		}
	}
	for _, x := range r.Railyard.Rows {
		p, out, in := &x.Pace, &x.Pace.OutOfPlace, &x.Pace.InPlace
		for _, l := range []*pacedLateness{&out.Departures, &out.Deliveries, &in.Departures, &in.Deliveries} {
			l.whole(t)
		}
		if p.Departures != p.Deliveries || p.Departures != out.Departures.Count+in.Departures.Count || p.Deliveries != out.Deliveries.Count+in.Deliveries.Count ||
			out.Tries < 1 || in.Tries < 1 || p.Tries < out.Tries+in.Tries {
			t.Errorf("what left, what came and how often does not add up: %+v", p)
		}
	}
	return r
}

// offBy returns by which part of predict's times the paced ones are off, at most.
func (r *pacedResult) offBy() (most float64) {
	for _, x := range r.Railyard.Rows {
		c := x.Compare
		most = max(most, math.Abs(c.PacedOut/c.PredictOut-1), math.Abs(c.PacedIn/c.PredictIn-1))
	}
	return most
}

// small is a cluster on which a dilation of some ten thousands takes seconds.
var small = []string{"--nodes", "2", "--gpus-per-node", "2", "-b", "1M", "-e", "1M"}

// TestPacedKeepsTime: with time enough, the paced clock says what predict says.
func TestPacedKeepsTime(t *testing.T) {
	p, file := paced(t, append(small, "--dilation", "20000")...)
	code := p.wait()
	r := result(t, p, file)
	if code != 0 || !r.Railyard.Trust.Trustworthy || r.offBy() > 0.02 {
		t.Errorf("exit code %d, off by %.2f %%: %s", code, 100*r.offBy(), r.Railyard.Trust.Why)
	}
}

// TestPacedTellsTheTruth: whatever the host's load, a dilation is chosen, and
// what is called trustworthy is; what is not comes with the dilation that it
// needed.
func TestPacedTellsTheTruth(t *testing.T) {
	hog(t)
	p, file := paced(t, small...)
	code := p.wait()
	r := result(t, p, file)
	row := r.Railyard.Rows[0].Pace
	if !row.Chosen || row.Dilation < 1 || row.Limit == "" {
		t.Errorf("dilation %+v", row)
	}
	if right := r.offBy() <= 0.02; right != r.Railyard.Trust.Trustworthy || right != (code == 0) {
		t.Errorf("exit code %d, off by %.3f %%: %+v", code, 100*r.offBy(), r.Railyard.Trust)
	}
	if code == 2 && r.Railyard.Trust.Enough <= row.Dilation {
		t.Errorf("at %d, %d would have been enough", row.Dilation, r.Railyard.Trust.Enough)
	}
}

// TestPacedOverloaded: a dilation that no host keeps is no good, and said to be.
func TestPacedOverloaded(t *testing.T) {
	p, file := paced(t, append(small, "--dilation", "1")...)
	code := p.wait()
	r := result(t, p, file)
	if code != 2 || r.Railyard.Trust.Trustworthy || r.Railyard.Trust.Enough <= 1 {
		t.Errorf("exit code %d, %+v", code, r.Railyard.Trust)
	}
	if want := regexp.MustCompile(`(?m)^# Timing : not trustworthy: .*(--dilation \d+ would have been enough|run it again)`); !want.MatchString(p.stdout.String()) {
		t.Errorf("the table does not say %v:\n%s", want, p.stdout)
	}
}

// midway returns a paced bench that is in the middle of its first run, which
// takes some 5 s.
func midway(t *testing.T) (*program, string) {
	t.Helper()
	p, file := paced(t, append(small, "--algo", "ring", "--channels", "1", "-n", "1", "-w", "0", "--dilation", "20000")...)
	p.await(p.stderr, `running at dilation 20000`)
	time.Sleep(time.Second)
	return p, file
}

// TestPacedStopped: a nodesim that is stopped for a while makes ranks late by
// that much, and is named; data stay right.
func TestPacedStopped(t *testing.T) {
	p, file := midway(t)
	began := time.Now()
	if err := syscall.Kill(p.pid(1), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := syscall.Kill(p.pid(1), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	stopped := time.Since(began)
	code := p.wait()
	r := result(t, p, file)
	row := r.Railyard.Rows[0]
	late := time.Duration((row.Compare.PacedOut - row.Compare.PredictOut) * float64(row.Pace.Dilation) / 1000)
	if late < stopped/2 || late > 2*stopped {
		t.Errorf("stopped for %v, late by %v of wall time", stopped, late)
	}
	if row.Pace.Straggler != "node1" || row.Pace.Behind < stopped.Seconds()/2 {
		t.Errorf("%s is the straggler, %v s behind; want node1, %v", row.Pace.Straggler, row.Pace.Behind, stopped)
	}
	if code != 2 {
		t.Errorf("exit code %d: %s", code, r.Railyard.Trust.Why)
	}
}

// TestPacedEnds: a process that is killed, and Ctrl-C, end a paced run as they
// end any other.
func TestPacedEnds(t *testing.T) {
	p, _ := midway(t)
	at := time.Now()
	if err := syscall.Kill(p.pid(1), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(); code != 1 || p.ended.Sub(at) > crash {
		t.Errorf("killed: exit code %d after %v\n%s", code, p.ended.Sub(at), p.stderr)
	}
	p.nothingLeft(0)
	p, _ = midway(t)
	at = p.signal(os.Interrupt)
	if code := p.wait(); code != 2 || p.ended.Sub(at) > interrupt {
		t.Errorf("interrupted: exit code %d after %v\n%s", code, p.ended.Sub(at), p.stderr)
	}
	p.nothingLeft(0)
}

// BenchmarkPaced runs all-reduces of 1 MiB and up on four servers at the dilation
// that is chosen. On a host with nothing else to do every time must be within 2 %
// of predict's.
func BenchmarkPaced(b *testing.B) {
	for _, size := range []string{"1M", "4M", "16M", "64M"} {
		b.Run(size, func(b *testing.B) {
			args := []string{"bench", "all_reduce", "--clock", "paced", "--compare", "--quiet", "--format", "json", "--nodes", "4", "-b", size, "-e", size}
			var r pacedResult
			for b.Loop() {
				out, err := exec.CommandContext(b.Context(), binary(b, "coordinator"), args...).Output()
				if err == nil {
					r = pacedResult{}
					err = json.Unmarshal(out, &r)
				}
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				if r.offBy() > 0.02 || !r.Railyard.Trust.Trustworthy {
					b.Errorf("off by %.2f %%: %s", 100*r.offBy(), r.Railyard.Trust.Why)
				}
			}
			b.ReportMetric(float64(r.Railyard.Rows[0].Pace.Dilation), "dilation")
			b.ReportMetric(100*r.offBy(), "%-off")
		})
	}
}
