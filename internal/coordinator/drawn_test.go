package coordinator

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/simtest"
	"github.com/railyard/railyard/shaping"
)

const (
	drawnSeeds = 12
	// drawnEvents leaves out cases of which one alone would take longer than
	// all the others. In one goroutine, make sim runs those too.
	drawnEvents = 20_000
	// drawnReal is how many elements of a part are real at most: a few random
	// messages are of megabytes, on dozens of ranks.
	drawnReal = 4096
)

// TestDrawn is the law for random clusters, runs, types and sizes, over random
// delays: what make sim checks in one goroutine, here through the daemons and
// with real elements.
func TestDrawn(t *testing.T) {
	t.Parallel()
	for seed := range uint64(drawnSeeds) {
		c := simtest.Draw(seed)
		for i := range c.Batches {
			for j := range c.Batches[i].Runs {
				r := &c.Batches[i].Runs[j]
				r.Real = min(r.Count, drawnReal)
			}
		}
		f, err := fabric.New(c.Cluster)
		if err != nil {
			t.Fatal(err)
		}
		want, outcomes, err := foreseeCase(f, &c)
		if errors.Is(err, errLong) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := gather(t, c.Cluster, min(3, c.Cluster.Nodes()), hold(seed))
			if err := r.replay(&c, want, outcomes); err != nil {
				t.Errorf("%v\n%v", err, c)
			}
		})
	}
}

var errLong = errors.New("a case of too many events")

// foreseeCase runs a case in one kernel. It sets the offsets of its batches:
// each begins where the one before leaves off.
func foreseeCase(f *fabric.Fabric, c *simtest.Case) (timeline []byte, outcomes []emu.Outcome, err error) {
	s, lines := recorded(f)
	s.Stop = func() error {
		if s.Kernel().Popped() > drawnEvents {
			return errLong
		}
		return nil
	}
	at := shaping.Time(0)
	for _, b := range c.Batches {
		for i := range b.Runs {
			b.Runs[i].Offset = b.Runs[i].Offset.Add(at.Sub(0))
		}
		out, err := s.Execute(b)
		if err != nil {
			return nil, nil, err
		}
		outcomes = append(outcomes, out)
		at = out.Next()
	}
	return lines.Bytes(), outcomes, nil
}

// replay runs a case on the daemons and reports the first difference.
func (r *rig) replay(c *simtest.Case, timeline []byte, outcomes []emu.Outcome) error {
	var lines bytes.Buffer
	s := r.newSession(newMerger(&lines, r.fabric), true)
	for i, b := range c.Batches {
		res, _, err := s.execute(r.t.Context(), b)
		if err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
		if !slices.Equal(res.Ends, outcomes[i].Ends) || res.Events != outcomes[i].Events {
			return fmt.Errorf("batch %d: ends %v after %d events, predict says %v after %d",
				i, res.Ends, res.Events, outcomes[i].Ends, outcomes[i].Events)
		}
		for j, wrong := range res.Wrong {
			if wrong != 0 {
				return fmt.Errorf("batch %d run %d: %d elements wrong", i, j, wrong)
			}
		}
	}
	return identical(lines.Bytes(), timeline)
}
