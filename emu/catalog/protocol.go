package catalog

import (
	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Efficiency returns how many of 1000 bytes on a link are data.
//
// Simple: a ring on 8 × H100 reaches 367–371 of the 396 GB/s a copy engine
// moves, and 46–48 of 49 GB/s a NIC; 950 lies between what the two tables ask
// for, pipeline losses left out [cal]. LL: 4 B of flag for 4 B of data [nccl].
// LL128: 120 B of data in lines of 128 B, rounded down [nccl].
func Efficiency(p collective.Protocol) int64 {
	switch p {
	case collective.LL:
		return 500
	case collective.LL128:
		return 937
	default:
		return 950
	}
}

// WireBytes returns the bytes on a link for n bytes of data, rounded up.
func WireBytes(p collective.Protocol, n shaping.Bytes) shaping.Bytes {
	eff := shaping.Bytes(Efficiency(p))
	return (n*1000 + eff - 1) / eff
}

// EngineBytes returns the least bytes an SM moves for n bytes of data: LL makes it
// write, and poll for, a flag with every word, LL128 one of 8 B with every 120 B,
// rounded up [nccl].
func EngineBytes(p collective.Protocol, n shaping.Bytes) shaping.Bytes {
	switch p {
	case collective.LL:
		return 2 * n
	case collective.LL128:
		return (n*128 + 119) / 120
	default:
		return n
	}
}

// Moves returns the bytes of Simple that an SM could move while it moves n bytes of
// data, rounded up: EngineBytes, or more where its rate for LL is known.
func (s *SM) Moves(p collective.Protocol, n shaping.Bytes) shaping.Bytes {
	if p != collective.LL || s.LL == 0 {
		return EngineBytes(p, n)
	}
	return (n*shaping.Bytes(s.Rate) + shaping.Bytes(s.LL) - 1) / shaping.Bytes(s.LL)
}

// FenceOf returns Fence for the protocol that has one.
func (l *NVLink) FenceOf(p collective.Protocol) (d shaping.Duration) {
	if p == collective.Simple {
		d = l.Fence
	}
	return d
}

// Of picks the latency of a protocol.
func (l PerProtocol) Of(p collective.Protocol) shaping.Duration {
	switch p {
	case collective.LL:
		return l.LL
	case collective.LL128:
		return l.LL128
	default:
		return l.Simple
	}
}
