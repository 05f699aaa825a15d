package coordinator

import (
	"fmt"

	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// encodePace returns nil for a row under the virtual clock.
func encodePace(p *Pace) *railyardv1.PaceVerdict {
	if p == nil {
		return nil
	}
	return &railyardv1.PaceVerdict{Chosen: p.Chosen, Limit: p.Limit, Tried: uint32(p.Tried), ClockErrorNs: p.ClockError,
		OutOfPlace: encodeHalf(&p.OutOfPlace), InPlace: encodeHalf(&p.InPlace)}
}

// encodeHalf returns nil for one that was not run.
func encodeHalf(h *Half) *railyardv1.PacedHalf {
	if h.Dilation == 0 {
		return nil
	}
	return &railyardv1.PacedHalf{Dilation: uint64(h.Dilation), Tries: uint32(h.Tries), ComputedPs: int64(h.Computed),
		Lateness: wire.EncodeLateness(&h.Lateness), Enough: uint64(h.Enough), Straggler: h.Straggler}
}

func decodePace(m *railyardv1.PaceVerdict) (*Pace, error) {
	if m == nil {
		return nil, nil
	}
	p := &Pace{Chosen: m.GetChosen(), Limit: m.GetLimit(), Tried: int(m.GetTried()), ClockError: m.GetClockErrorNs()}
	if p.ClockError < 0 {
		return nil, fmt.Errorf("pace: clock_error_ns %d: it may not be negative", p.ClockError)
	}
	var err error
	if p.OutOfPlace, err = decodeHalf(m.GetOutOfPlace()); err != nil {
		return nil, fmt.Errorf("pace: out_of_place: %w", err)
	}
	if p.InPlace, err = decodeHalf(m.GetInPlace()); err != nil {
		return nil, fmt.Errorf("pace: in_place: %w", err)
	}
	return p, nil
}

func decodeHalf(m *railyardv1.PacedHalf) (h Half, err error) {
	if m == nil {
		return h, nil
	}
	if h.Lateness, err = wire.DecodeLateness(m.GetLateness()); err != nil {
		return h, err
	}
	h.Dilation, h.Tries, h.Enough = int64(m.GetDilation()), int(m.GetTries()), int64(m.GetEnough())
	h.Computed, h.Straggler = shaping.Duration(m.GetComputedPs()), m.GetStraggler()
	if h.Dilation < 1 || h.Dilation > pace.MaxDilation || h.Computed < 0 || h.Enough < h.Dilation {
		return h, fmt.Errorf("dilation %d, enough %d, computed_ps %d: allowed are dilations of 1 to %d, what is no less, and no time before 0",
			m.GetDilation(), m.GetEnough(), m.GetComputedPs(), int64(pace.MaxDilation))
	}
	return h, nil
}
