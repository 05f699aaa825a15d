package wire

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/emu/sweep"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// payloadModes pairs the modes of sweep with the contract's.
var payloadModes = [...]railyardv1.PayloadMode{
	sweep.PayloadAuto:   railyardv1.PayloadMode_PAYLOAD_MODE_UNSPECIFIED,
	sweep.PayloadFull:   railyardv1.PayloadMode_PAYLOAD_MODE_FULL,
	sweep.PayloadScaled: railyardv1.PayloadMode_PAYLOAD_MODE_SCALED,
	sweep.PayloadNone:   railyardv1.PayloadMode_PAYLOAD_MODE_NONE,
}

func decodePayload(m railyardv1.PayloadMode) (sweep.Payload, error) {
	for p, v := range payloadModes {
		if v == m {
			return sweep.Payload(p), nil
		}
	}
	return 0, fmt.Errorf("payload %d: unknown", m)
}

// splits pairs the operations of a split with the contract's.
var splits = [...]railyardv1.SplitOp{
	sweep.Whole:    railyardv1.SplitOp_SPLIT_OP_UNSPECIFIED,
	sweep.SplitAnd: railyardv1.SplitOp_SPLIT_OP_AND,
	sweep.SplitOr:  railyardv1.SplitOp_SPLIT_OP_OR,
	sweep.SplitMod: railyardv1.SplitOp_SPLIT_OP_MOD,
	sweep.SplitDiv: railyardv1.SplitOp_SPLIT_OP_DIV,
}

func decodeSplit(m *railyardv1.BenchRequest) (sweep.Split, error) {
	i := slices.Index(splits[:], m.GetSplit())
	if i < 0 {
		return sweep.Split{}, fmt.Errorf("split %d: unknown", m.GetSplit())
	}
	s := sweep.Split{Op: sweep.SplitOp(i), Value: int(m.GetSplitValue()), Ranks: int(m.GetSplitRanks())}
	return s, s.Valid()
}

// EncodeSpec returns a bench as a request.
func EncodeSpec(s *sweep.Spec, timeline bool) *railyardv1.BenchRequest {
	m := &railyardv1.BenchRequest{
		Op: EncodeOp(s.Op), MinBytes: s.MinBytes, MaxBytes: s.MaxBytes,
		StepFactor: uint32(s.Factor), StepBytes: s.StepBytes,
		Iterations: uint32(s.Iterations), Warmup: uint32(s.Warmup), Check: s.Check,
		Root: uint32(s.Root), Sync: s.Sync, Channels: uint32(s.Channels), Slices: uint32(s.Slices),
		Payload: payloadModes[s.Payload], PayloadBudgetBytes: s.Budget, LaunchPs: int64(s.Launch),
		Timeline: timeline, Seed: &s.Seed, File: s.File, Tuning: encodeTuning(&s.Tuning),
		AllRoots: s.AllRoots, Split: splits[s.Split.Op], SplitValue: u32("split value", s.Split.Value),
		SplitRanks: u32("split ranks", s.Split.Ranks), Paced: s.Paced, Dilation: uint64(s.Dilation),
	}
	for _, g := range s.Order {
		m.Gpus = append(m.Gpus, u32("gpus", g))
	}
	if s.Algorithm != sweep.Auto {
		m.Algorithm = s.Algorithm
	}
	if !s.AutoProtocol {
		m.Protocol = EncodeProtocol(s.Protocol)
	}
	for _, d := range s.DTypes {
		m.Dtypes = append(m.Dtypes, EncodeDType(d))
	}
	for _, r := range s.RedOps {
		m.Redops = append(m.Redops, EncodeRedOp(r))
	}
	return m
}

// DecodeSpec returns the bench that a request asks for. Errors name the field
// and its value.
func DecodeSpec(m *railyardv1.BenchRequest) (sweep.Spec, error) {
	s := sweep.Spec{
		MinBytes: m.GetMinBytes(), MaxBytes: m.GetMaxBytes(), Factor: int64(m.GetStepFactor()), StepBytes: m.GetStepBytes(),
		Iterations: int(m.GetIterations()), Warmup: int(m.GetWarmup()), Check: m.GetCheck(),
		Root: int(m.GetRoot()), Sync: m.GetSync(), Algorithm: m.GetAlgorithm(),
		Channels: int(m.GetChannels()), Slices: int(m.GetSlices()), Budget: m.GetPayloadBudgetBytes(),
		Launch: shaping.Duration(m.GetLaunchPs()), Seed: m.GetSeed(), AllRoots: m.GetAllRoots(), Paced: m.GetPaced(),
	}
	if m.GetDilation() > pace.MaxDilation {
		return s, fmt.Errorf("dilation %d: at most %d", m.GetDilation(), int64(pace.MaxDilation))
	}
	s.Dilation = int64(m.GetDilation())
	for _, g := range m.GetGpus() {
		s.Order = append(s.Order, int(g))
	}
	if s.MinBytes < 0 || s.StepBytes < 0 || s.Launch < 0 || s.Budget < 0 {
		return s, fmt.Errorf("min_bytes %d, step_bytes %d, launch_ps %d, payload_budget_bytes %d: must not be negative",
			s.MinBytes, s.StepBytes, int64(s.Launch), s.Budget)
	}
	if s.Algorithm == "" {
		s.Algorithm = sweep.Auto
	}
	var err error
	if s.Tuning, err = decodeTuning(m.GetTuning()); err != nil {
		return s, err
	}
	if err := decodeKinds(m, &s); err != nil || len(m.GetFile()) == 0 {
		return s, err
	}
	f, plan, err := plans.read(m.GetFile(), s.Root)
	if err != nil {
		return s, fmt.Errorf("file: %w", err)
	}
	s.UsePlan(plan, m.GetFile(), f.Meant())
	return s, nil
}

func decodeKinds(m *railyardv1.BenchRequest, s *sweep.Spec) (err error) {
	if s.Op, err = DecodeOp(m.GetOp()); err != nil {
		return err
	}
	if s.AutoProtocol = m.GetProtocol() == railyardv1.Protocol_PROTOCOL_UNSPECIFIED; !s.AutoProtocol {
		if s.Protocol, err = DecodeProtocol(m.GetProtocol()); err != nil {
			return err
		}
	}
	if s.Payload, err = decodePayload(m.GetPayload()); err != nil {
		return err
	}
	if s.Split, err = decodeSplit(m); err != nil {
		return err
	}
	for _, v := range m.GetDtypes() {
		d, err := DecodeDType(v)
		if err != nil {
			return err
		}
		s.DTypes = append(s.DTypes, d)
	}
	for _, v := range m.GetRedops() {
		r, err := DecodeRedOp(v)
		if err != nil {
			return err
		}
		s.RedOps = append(s.RedOps, r)
	}
	if len(s.DTypes) == 0 {
		s.DTypes = []collective.DType{collective.Float32}
	}
	if len(s.RedOps) == 0 {
		s.RedOps = []collective.RedOp{collective.Sum}
	}
	return nil
}

// EncodeRow returns a line of the table as a message.
func EncodeRow(r *sweep.Row) *railyardv1.BenchRow {
	m := &railyardv1.BenchRow{
		SizeBytes: r.Size, Count: r.Count, Dtype: EncodeDType(r.DType), Redop: EncodeRedOp(r.RedOp),
		OutOfPlace: encodeCell(&r.OutOfPlace), InPlace: encodeCell(&r.InPlace),
		Algorithm: r.Chosen.Algorithm, Protocol: EncodeProtocol(r.Chosen.Protocol), Channels: uint32(r.Channels),
		Payload: payloadModes[r.Case.Payload], Iterations: uint32(r.Run.Iterations),
		Candidates: encodeCandidates(r.Candidates),
	}
	if r.Root >= 0 {
		root := u32("root", r.Root)
		m.Root = &root
	}
	return m
}

// DecodeRow returns the line of the table that a message is.
func DecodeRow(m *railyardv1.BenchRow) (r sweep.Row, err error) {
	r.Size, r.Count, r.Channels = m.GetSizeBytes(), m.GetCount(), int(m.GetChannels())
	r.Run.Iterations, r.Root = int(m.GetIterations()), -1
	if m.Root != nil {
		r.Root = int(m.GetRoot())
	}
	r.OutOfPlace, r.InPlace = decodeCell(m.GetOutOfPlace()), decodeCell(m.GetInPlace())
	r.Chosen.Algorithm = m.GetAlgorithm()
	if r.Candidates, err = decodeCandidates(m.GetCandidates()); err != nil {
		return r, err
	}
	if r.DType, err = DecodeDType(m.GetDtype()); err != nil {
		return r, err
	}
	if r.RedOp, err = DecodeRedOp(m.GetRedop()); err != nil {
		return r, err
	}
	if r.Chosen.Protocol, err = DecodeProtocol(m.GetProtocol()); err != nil {
		return r, err
	}
	r.Case.Payload, err = decodePayload(m.GetPayload())
	return r, err
}

// encodeCell returns nil for a half that was not run.
func encodeCell(c *sweep.Cell) *railyardv1.BenchCell {
	if c.NA {
		return nil
	}
	m := &railyardv1.BenchCell{TimePs: int64(c.Time)}
	if c.Checked {
		m.Wrong = &c.Wrong
	}
	return m
}

func decodeCell(m *railyardv1.BenchCell) sweep.Cell {
	if m == nil {
		return sweep.Cell{NA: true}
	}
	return sweep.Cell{Time: shaping.Duration(m.GetTimePs()), Wrong: m.GetWrong(), Checked: m.Wrong != nil}
}
