package kernel

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// engine is the copy engine of a (GPU, channel), or an engine of a switch: the
// blocks of all runs on it share what one SM moves, or a switch turns out. It is a port whose transfers all begin now or when
// the one before has ended, so the instant at which it is free says what a
// calendar would, in half a cache line.
type engine struct {
	rate  shaping.Rate
	free  shaping.Time
	lastB shaping.Bytes // the amount moved last, and what it takes: most are alike
	lastD shaping.Duration
}

// serve gives the engine b bytes to move, now. It returns when it begins and
// when it ends.
func (e *engine) serve(now shaping.Time, b shaping.Bytes) (start, end shaping.Time) {
	start = max(now, e.free)
	e.free = start.Add(e.need(b))
	return start, e.free
}

func (e *engine) need(b shaping.Bytes) shaping.Duration {
	if b != e.lastB {
		e.lastB, e.lastD = b, e.rate.Time(b)
	}
	return e.lastD
}

// engine returns the position of the engine that carries out a block. Engines
// outlive batches, as ports do.
func (k *Kernel) engine(e fabric.End, channel int) int32 {
	id, rate := k.fabric.Engine(e, channel)
	if i, ok := k.engineOf[id]; ok {
		return i
	}
	i := int32(len(k.engines))
	k.engines, k.engineIDs = append(k.engines, engine{rate: rate}), append(k.engineIDs, id)
	k.engineOf[id] = i
	return i
}
