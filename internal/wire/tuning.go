package wire

import (
	"fmt"

	"github.com/railyard/railyard/emu/tuner"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

func encodeTuning(s *tuner.Settings) *railyardv1.Tuning {
	if *s == (tuner.Settings{}) {
		return nil
	}
	return &railyardv1.Tuning{
		Protocols: s.Protocols, MinChannels: uint32(s.MinChannels), MaxChannels: uint32(s.MaxChannels),
		BufferBytes: s.BufferBytes, LlBufferBytes: s.LLBufferBytes, Ll128BufferBytes: s.LL128BufferBytes,
		Threads: uint32(s.Threads), NoNvls: s.NoNVLS, NvlsChunkBytes: s.NVLSChunk, Collnet: s.CollNet,
		Version: uint32(s.Version),
	}
}

// maxTuned is more than any number of a Tuning may sensibly be: channels,
// threads, bytes of a buffer.
const maxTuned = 1 << 30

func decodeTuning(m *railyardv1.Tuning) (tuner.Settings, error) {
	s := tuner.Settings{
		Protocols: m.GetProtocols(), MinChannels: int(m.GetMinChannels()), MaxChannels: int(m.GetMaxChannels()),
		BufferBytes: m.GetBufferBytes(), LLBufferBytes: m.GetLlBufferBytes(), LL128BufferBytes: m.GetLl128BufferBytes(),
		Threads: int(m.GetThreads()), NoNVLS: m.GetNoNvls(), NVLSChunk: m.GetNvlsChunkBytes(), CollNet: m.GetCollnet(),
		Version: int(m.GetVersion()),
	}
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"min_channels", int64(s.MinChannels)}, {"max_channels", int64(s.MaxChannels)}, {"threads", int64(s.Threads)},
		{"buffer_bytes", s.BufferBytes}, {"ll_buffer_bytes", s.LLBufferBytes}, {"ll128_buffer_bytes", s.LL128BufferBytes},
		{"nvls_chunk_bytes", s.NVLSChunk},
	} {
		if f.value < 0 || f.value > maxTuned {
			return s, fmt.Errorf("tuning.%s %d: must be from 0 to %d", f.name, f.value, maxTuned)
		}
	}
	if v := s.Version; v != 0 && (v < tuner.Oldest || v > tuner.Newest) {
		return s, fmt.Errorf("tuning.version %d: must be from %d to %d, or 0", v, tuner.Oldest, tuner.Newest)
	}
	return s, nil
}

func encodeCandidates(all []tuner.Estimate) []*railyardv1.Candidate {
	var ms []*railyardv1.Candidate
	for _, e := range all {
		ms = append(ms, &railyardv1.Candidate{Algorithm: e.Algorithm, Protocol: EncodeProtocol(e.Protocol), EstimatePs: int64(e.Time), Why: e.Why})
	}
	return ms
}

func decodeCandidates(ms []*railyardv1.Candidate) ([]tuner.Estimate, error) {
	var all []tuner.Estimate
	for _, m := range ms {
		p, err := DecodeProtocol(m.GetProtocol())
		if err != nil {
			return nil, err
		}
		all = append(all, tuner.Estimate{Algorithm: m.GetAlgorithm(), Protocol: p, Time: shaping.Duration(m.GetEstimatePs()), Why: m.GetWhy()})
	}
	return all, nil
}
