package coordinator

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
)

// bench runs a sweep on the daemons and keeps the timeline.
func (r *rig) bench(spec sweep.Spec) (told, error) {
	r.t.Helper()
	var lines bytes.Buffer
	out, err := r.rows(spec, &lines)
	out.timeline = lines.Bytes()
	return out, err
}

// rows runs a sweep on the daemons. Without a timeline windows are longer, and
// runs sooner over.
func (r *rig) rows(spec sweep.Spec, timeline io.Writer) (out told, err error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	err = r.Bench(ctx, spec, Sink{
		Started: func(Started) error { return nil },
		Row: func(row Row) error {
			out.cost.Add(row.Cost)
			out.rows, out.where = append(out.rows, row.Row), append(out.where, row.Explain)
			return nil
		},
		Timeline: timeline,
	})
	return out, err
}

// execute runs one batch in an emulated session of its own, which the sweeps of
// Bench never do with more than one run.
func (r *rig) execute(b emu.Batch) ([]byte, sweep.Result, Cost) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), bound)
	defer cancel()
	var lines bytes.Buffer
	s := r.newSession(newMerger(&lines, r.fabric), true)
	res, cost, err := s.execute(ctx, b)
	if err != nil {
		r.t.Fatal(err)
	}
	return lines.Bytes(), res, cost
}

// hold returns a change that holds frames back for spans drawn from a seed, so
// that they arrive in ever new orders, before and after the grants that expect
// them.
func hold(seed uint64) change {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	draw := func() int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(64)
	}
	return func(_ int, c *nodesim.Config) {
		c.Hold = func([]wire.Frame) {
			switch n := draw(); {
			case n < 8:
				time.Sleep(time.Duration(n) * 50 * time.Microsecond)
			case n < 32:
				for range n {
					runtime.Gosched()
				}
			}
		}
	}
}
