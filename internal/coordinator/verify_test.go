package coordinator

import (
	"fmt"
	"sync"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/nodesim"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

var (
	everyType = []collective.DType{collective.Float32, collective.Float64, collective.Int32, collective.Int64}
	everyOp   = []collective.RedOp{collective.Sum, collective.Prod, collective.Min, collective.Max}
)

// TestVerified: every element is looked at on every rank, and none is wrong, in
// every type and reduction, in place and out of place, in full and as a scale
// model, of messages that do not divide.
func TestVerified(t *testing.T) {
	t.Parallel()
	r := gather(t, trio(), 2)
	for _, test := range []struct {
		op        collective.Op
		algorithm string
		size      int64
		payload   sweep.Payload
		types     []collective.DType
		redOps    []collective.RedOp
	}{
		{collective.AllReduce, "tree", 8 * 1237, sweep.PayloadFull, everyType, everyOp},
		{collective.AllReduce, "ring", 8 * 1237, sweep.PayloadFull, everyType[:1], everyOp[:1]},
		{collective.AllReduce, "tree", 8 * 24_691, sweep.PayloadScaled, everyType, everyOp},
		{collective.AllReduce, "ring", 8 * 24_691, sweep.PayloadScaled, everyType[1:2], everyOp[:1]},
		{collective.ReduceScatter, "ring", 8 * 1237, sweep.PayloadFull, everyType[:1], everyOp},
		{collective.AllGather, "ring", 8 * 1237, sweep.PayloadFull, everyType, everyOp[:1]},
	} {
		t.Run(fmt.Sprintf("%v %s %v", test.op, test.algorithm, test.payload), func(t *testing.T) {
			spec := single(test.algorithm)
			spec.Op, spec.Payload = test.op, test.payload
			spec.MinBytes, spec.MaxBytes = test.size, test.size
			spec.DTypes, spec.RedOps = test.types, test.redOps
			got, err := r.rows(spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range got.rows {
				if row.Case.Payload != test.payload || !right(row.OutOfPlace) || !right(row.InPlace) {
					t.Errorf("%v %v, %d bytes, payload %v: %+v, in place %+v", row.DType, row.RedOp, row.Size, row.Case.Payload, row.OutOfPlace, row.InPlace)
				}
			}
			if len(got.rows) < len(test.types)*len(test.redOps) {
				t.Errorf("%d rows for %d types and %d reductions", len(got.rows), len(test.types), len(test.redOps))
			}
		})
	}
}

// flip returns a change that turns over one bit of the first elements that
// reach one nodesim.
func flip(n int) change {
	var once sync.Once
	return only(n, func(c *nodesim.Config) {
		c.Hold = func(frames []wire.Frame) {
			for i := range frames {
				if data := frames[i].Data(); len(data) > 0 {
					once.Do(func() { data[0] ^= 1 })
				}
			}
		}
	})
}

// TestCorrupted: one bit that the network turns over makes #wrong non-zero, in
// full and in a scale model, in the run it happened in and in no other.
func TestCorrupted(t *testing.T) {
	t.Parallel()
	for _, payload := range []sweep.Payload{sweep.PayloadFull, sweep.PayloadScaled} {
		t.Run(payload.String(), func(t *testing.T) {
			r := gather(t, trio(), 3, flip(2))
			spec := single("ring")
			spec.Payload, spec.DTypes = payload, []collective.DType{collective.Int32}
			got, err := r.bench(spec)
			if err != nil {
				t.Fatal(err)
			}
			if row := got.rows[0]; row.OutOfPlace.Wrong == 0 || row.InPlace.Wrong != 0 {
				t.Errorf("%d elements wrong in the run with a bit turned over, %d in the next; want some, and none",
					row.OutOfPlace.Wrong, row.InPlace.Wrong)
			}
		})
	}
}

// TestTally: what the daemons say of their ranks is not taken for right because
// it is missing, nor because it counts nothing wrong.
func TestTally(t *testing.T) {
	f, err := fabric.New(trio())
	if err != nil {
		t.Fatal(err)
	}
	b := pair(f)
	ranks := func(run uint32, digest func(rank int) uint64) (all []*railyardv1.RankVerdict) {
		for rank := range b.Runs[run].Comm {
			all = append(all, &railyardv1.RankVerdict{Run: run, Rank: uint32(rank), Elements: 1, Digest: digest(rank)})
		}
		return all
	}
	same, own := func(int) uint64 { return 7 }, func(rank int) uint64 { return uint64(rank) }
	for _, test := range []struct {
		name     string
		verdicts []*railyardv1.RankVerdict
		good     bool
	}{
		{"all ranks agree", append(ranks(0, same), ranks(1, same)...), true},
		{"ranks differ in bits", append(ranks(0, same), ranks(1, own)...), false},
		{"a rank that nobody looked at", append(ranks(0, same)[1:], ranks(1, same)...), false},
		{"a run that is not there", append(ranks(0, same), &railyardv1.RankVerdict{Run: 2}), false},
	} {
		if _, err := tally(b, test.verdicts, func(*emu.Run) int { return 0 }); (err == nil) != test.good {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
