package coordinator

import (
	"fmt"

	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// encodePace returns nil for a row under the virtual clock.
func encodePace(p *Pace) *railyardv1.PaceVerdict {
	if p == nil {
		return nil
	}
	return &railyardv1.PaceVerdict{Dilation: uint64(p.Dilation), Chosen: p.Chosen, Limit: p.Limit,
		ComputedOutOfPlacePs: int64(p.OutOfPlace), ComputedInPlacePs: int64(p.InPlace), Lateness: wire.EncodeLateness(&p.Lateness),
		Enough: uint64(p.Enough), Straggler: p.Straggler, ClockErrorNs: p.ClockError}
}

func decodePace(m *railyardv1.PaceVerdict) (*Pace, error) {
	if m == nil {
		return nil, nil
	}
	l, err := wire.DecodeLateness(m.GetLateness())
	if err != nil {
		return nil, err
	}
	p := &Pace{Dilation: int64(m.GetDilation()), Chosen: m.GetChosen(), Limit: m.GetLimit(),
		OutOfPlace: shaping.Duration(m.GetComputedOutOfPlacePs()), InPlace: shaping.Duration(m.GetComputedInPlacePs()), Lateness: l,
		Enough: int64(m.GetEnough()), Straggler: m.GetStraggler(), ClockError: m.GetClockErrorNs()}
	if p.Dilation < 0 || p.OutOfPlace < 0 || p.InPlace < 0 || p.Enough < 0 || p.ClockError < 0 {
		return nil, fmt.Errorf("pace: %v: nothing in it may be negative", m)
	}
	return p, nil
}
