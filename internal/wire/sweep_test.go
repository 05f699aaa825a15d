package wire

import (
	"math"
	"reflect"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/tuner"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

func TestSpecRoundTrip(t *testing.T) {
	want := sweep.Spec{
		Op: collective.AllGather, MinBytes: 16, MaxBytes: 1 << 30, Factor: 4, StepBytes: 3,
		Iterations: 20, Warmup: 5, Check: true, Root: 3, Sync: true,
		Algorithm: "ring", Protocol: collective.LL, Channels: 8, Slices: 2,
		DTypes:  []collective.DType{collective.Float64, collective.Int32},
		RedOps:  []collective.RedOp{collective.Max, collective.Sum},
		Payload: sweep.PayloadScaled, Budget: 1 << 33, Launch: 8_000_000, Seed: math.MaxUint64,
		AllRoots: true, Order: []int{3, 1, 2, 0}, Split: sweep.Split{Op: sweep.SplitMod, Value: 2, Ranks: 4},
		Paced: true, Dilation: 2000,
	}
	tuned := want
	tuned.Algorithm, tuned.AutoProtocol, tuned.Protocol = sweep.Auto, true, 0
	tuned.Tuning = tuner.Settings{Protocols: "^ll", MinChannels: 2, MaxChannels: 9, BufferBytes: 1 << 20, LLBufferBytes: 1 << 16,
		LL128BufferBytes: 1 << 17, Threads: 256, NoNVLS: true, NVLSChunk: 1 << 15, CollNet: true, Version: 27}
	for _, want := range []sweep.Spec{want, tuned} {
		m := over(t, EncodeSpec(&want, true), &railyardv1.BenchRequest{})
		if !m.GetTimeline() {
			t.Error("the wish for a timeline was lost")
		}
		got, err := DecodeSpec(m)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestSpecFromAnyone(t *testing.T) {
	op := railyardv1.Op_OP_ALL_REDUCE
	for _, c := range []struct {
		m    *railyardv1.BenchRequest
		want string
	}{
		{nil, "op OP_UNSPECIFIED: unknown; allowed are"},
		{&railyardv1.BenchRequest{Op: op, MinBytes: -1}, "min_bytes -1"},
		{&railyardv1.BenchRequest{Op: op, Dilation: 1 << 40}, "dilation 1099511627776: at most 100000000"},
		{&railyardv1.BenchRequest{Op: op, Protocol: 77}, "protocol 77: unknown; allowed are"},
		{&railyardv1.BenchRequest{Op: op, Tuning: &railyardv1.Tuning{Version: 17}}, "tuning.version 17: must be from 18 to 30, or 0"},
		{&railyardv1.BenchRequest{Op: op, Tuning: &railyardv1.Tuning{BufferBytes: -1}}, "tuning.buffer_bytes -1: must be from 0"},
		{&railyardv1.BenchRequest{Op: op, Payload: 77}, "payload 77: unknown"},
		{&railyardv1.BenchRequest{Op: op, Split: 77}, "split 77: unknown"},
		{&railyardv1.BenchRequest{Op: op, Split: railyardv1.SplitOp_SPLIT_OP_MOD}, "split by 0: MOD and DIV need a value of at least 1"},
		{&railyardv1.BenchRequest{Op: op, SplitValue: math.MaxUint32}, "split value 4294967295: must be from 0 to 2147483647"},
		{&railyardv1.BenchRequest{Op: op, Dtypes: []railyardv1.DataType{77}}, "dtype 77: unknown; allowed are"},
	} {
		_, err := DecodeSpec(c.m)
		sayAll(t, err, c.want)
	}
}

func TestRowRoundTrip(t *testing.T) {
	var want sweep.Row
	want.Size, want.Count, want.DType, want.RedOp, want.Root = 1<<30, 1<<28, collective.Int64, collective.Min, -1
	want.Chosen.Algorithm, want.Chosen.Protocol, want.Channels = "tree", collective.LL, 4
	want.Candidates = []tuner.Estimate{{Algorithm: "tree", Protocol: collective.LL, Time: 7}, {Algorithm: "nvls", Protocol: collective.Simple, Why: "no switch"}}
	want.Case.Payload, want.Run.Iterations = sweep.PayloadNone, 2
	want.OutOfPlace = sweep.Cell{Time: 123_456_789, Wrong: 7, Checked: true}
	want.InPlace = sweep.Cell{Time: 5}
	rooted := want
	rooted.Root, rooted.InPlace = 0, sweep.Cell{NA: true}
	for _, want := range []sweep.Row{want, rooted} {
		got, err := DecodeRow(over(t, EncodeRow(&want), &railyardv1.BenchRow{}))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, err := DecodeRow(&railyardv1.BenchRow{}); err == nil {
		t.Error("an empty row was accepted")
	}
}
