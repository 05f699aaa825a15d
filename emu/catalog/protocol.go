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
func Efficiency(p collective.Protocol) int64 {
	if p == collective.LL {
		return 500
	}
	return 950
}

// WireBytes returns the bytes on a link for n bytes of data, rounded up.
func WireBytes(p collective.Protocol, n shaping.Bytes) shaping.Bytes {
	eff := shaping.Bytes(Efficiency(p))
	return (n*1000 + eff - 1) / eff
}

// EngineBytes returns the bytes an SM moves for n bytes of data: LL makes it
// write, and poll for, a flag with every word.
func EngineBytes(p collective.Protocol, n shaping.Bytes) shaping.Bytes {
	if p == collective.LL {
		return 2 * n
	}
	return n
}

// Of picks the latency of a protocol.
func (l PerProtocol) Of(p collective.Protocol) shaping.Duration {
	if p == collective.LL {
		return l.LL
	}
	return l.Simple
}
