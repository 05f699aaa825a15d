package wire

import (
	"fmt"
	"math"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// EncodeBatch returns the runs of b as they go into Begin.
func EncodeBatch(b *emu.Batch) []*railyardv1.Run {
	var runs []*railyardv1.Run
	for i := range b.Runs {
		runs = append(runs, EncodeRun(&b.Runs[i]))
	}
	return runs
}

// DecodeBatch returns the runs of a Begin. Errors name the run.
func DecodeBatch(runs []*railyardv1.Run) (emu.Batch, error) {
	var b emu.Batch
	var bad faults
	for i, m := range runs {
		r, err := DecodeRun(m)
		if err != nil {
			bad.note(fmt.Errorf("%d: %w", i, err))
		}
		b.Runs = append(b.Runs, r)
	}
	return b, bad.in("runs")
}

// EncodeRun returns r as it goes into Begin.
func EncodeRun(r *emu.Run) *railyardv1.Run {
	m := &railyardv1.Run{
		Op: ops.encode(r.Op), Algorithm: r.Algorithm, Options: encodeOptions(r.Options),
		Comm:  make([]uint32, len(r.Comm)),
		Count: r.Count, Dtype: dtypes.encode(r.DType), Redop: redops.encode(r.RedOp),
		InPlace: r.InPlace, Real: r.Real, Seed: r.Seed,
		Iterations: u32("iterations", r.Iterations), LaunchPs: int64(r.Launch), Sync: r.Sync, OffsetPs: int64(r.Offset),
		File: r.File,
	}
	for rank, gpu := range r.Comm {
		m.Comm[rank] = u32("comm", gpu)
	}
	encodeCalls(m, r)
	return m
}

// DecodeRun returns the run that m describes. It checks that numbers can be
// meant, not that the plan can be built or that the cluster has the GPUs.
func DecodeRun(m *railyardv1.Run) (emu.Run, error) {
	var bad faults
	r := emu.Run{
		Algorithm: m.GetAlgorithm(), Comm: make([]int, len(m.GetComm())),
		Count: m.GetCount(), InPlace: m.GetInPlace(), Real: m.GetReal(), Seed: m.GetSeed(),
		Iterations: int(m.GetIterations()), Launch: shaping.Duration(m.GetLaunchPs()), Sync: m.GetSync(),
		Offset: shaping.Time(m.GetOffsetPs()),
	}
	decodeEnum(&bad, &r.Op, &ops, m.GetOp())
	decodeEnum(&bad, &r.DType, &dtypes, m.GetDtype())
	decodeEnum(&bad, &r.RedOp, &redops, m.GetRedop())
	r.Options = decodeOptions(&bad, m.GetOptions())
	for rank, gpu := range m.GetComm() {
		within(&bad, fmt.Sprintf("comm[%d]", rank), gpu, 0, math.MaxInt32)
		r.Comm[rank] = int(gpu)
	}
	if len(r.Comm) == 0 {
		bad.note(fmt.Errorf("comm: empty; name at least one GPU"))
	}
	within(&bad, "count", r.Count, 0, math.MaxInt64)
	within(&bad, "real", r.Real, 0, max(r.Count, 0))
	within(&bad, "iterations", m.GetIterations(), 1, math.MaxInt32)
	within(&bad, "launch_ps", m.GetLaunchPs(), 0, math.MaxInt64)
	within(&bad, "offset_ps", m.GetOffsetPs(), 0, math.MaxInt64)
	if len(m.GetFile()) > 0 {
		_, plan, err := plans.read(m.GetFile(), r.Options.Root)
		if err != nil {
			bad.note(fmt.Errorf("file: %w", err))
		}
		r.Plan, r.File = plan, m.GetFile()
	}
	decodeCalls(&bad, &r, m)
	return r, bad.in("run")
}

func encodeOptions(o collective.Options) *railyardv1.PlanOptions {
	return &railyardv1.PlanOptions{
		Protocol: protocols.encode(o.Protocol),
		Channels: u32("channels", o.Channels), Slices: u32("slices", o.Slices),
		Root: u32("root", o.Root), BufferBytes: o.BufferBytes, ChunkBytes: o.ChunkBytes,
	}
}

func decodeOptions(bad *faults, m *railyardv1.PlanOptions) collective.Options {
	o := collective.Options{Channels: int(m.GetChannels()), Slices: int(m.GetSlices()), Root: int(m.GetRoot()),
		BufferBytes: m.GetBufferBytes(), ChunkBytes: m.GetChunkBytes()}
	decodeEnum(bad, &o.Protocol, &protocols, m.GetProtocol())
	within(bad, "options.channels", m.GetChannels(), 1, math.MaxInt32)
	within(bad, "options.slices", m.GetSlices(), 0, math.MaxInt32)
	within(bad, "options.root", m.GetRoot(), 0, math.MaxInt32)
	within(bad, "options.buffer_bytes", m.GetBufferBytes(), 0, math.MaxInt64)
	within(bad, "options.chunk_bytes", m.GetChunkBytes(), 0, math.MaxInt64)
	return o
}

func decodeEnum[C comparable, P protoEnum](bad *faults, c *C, e *enum[C, P], p P) {
	v, err := e.decode(p)
	bad.note(err)
	*c = v
}

// EncodeEnds returns ends as they go into a Report.
func EncodeEnds(ends []emu.End) []*railyardv1.RankEnd {
	out := make([]*railyardv1.RankEnd, len(ends))
	for i, e := range ends {
		out[i] = &railyardv1.RankEnd{
			Run: u32("run", e.Run), Rank: u32("rank", e.Rank), Iteration: u32("iteration", e.Iteration),
			AtPs: int64(e.At),
		}
	}
	return out
}

// DecodeEnds returns the ends of a Report.
func DecodeEnds(ends []*railyardv1.RankEnd) ([]emu.End, error) {
	var bad faults
	out := make([]emu.End, len(ends))
	for i, e := range ends {
		within(&bad, fmt.Sprintf("ends[%d].run", i), e.GetRun(), 0, math.MaxInt32)
		within(&bad, fmt.Sprintf("ends[%d].rank", i), e.GetRank(), 0, math.MaxInt32)
		within(&bad, fmt.Sprintf("ends[%d].iteration", i), e.GetIteration(), 0, math.MaxInt32)
		within(&bad, fmt.Sprintf("ends[%d].at_ps", i), e.GetAtPs(), 0, math.MaxInt64)
		out[i] = emu.End{
			Run: int(e.GetRun()), Rank: int(e.GetRank()), Iteration: int(e.GetIteration()), At: shaping.Time(e.GetAtPs()),
		}
	}
	return out, bad.in("report")
}
