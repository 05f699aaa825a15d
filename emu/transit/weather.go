package transit

import (
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// weather is what faults make of a port: its state now, and until when that
// holds. Ports that no fault touches have none.
type weather struct {
	fault.State
	line     *fault.Line
	until    shaping.Time
	declared shaping.Rate
	// last is the tail of each connection's latest frame, where latency varies:
	// a connection's frames keep their order.
	last map[uint32]shaping.Time
}

// tune gives a port the rate that it has now. Bookings made earlier stand.
func (p *port) tune(now shaping.Time) {
	if p.weather == nil || now < p.until {
		return
	}
	p.State, p.until = p.line.At(now)
	if p.Share > 0 { // else nothing is booked any more: departs sees to that
		p.SetRate(p.declared.Part(p.Share, fault.Whole))
	}
}

// delay returns the latency that faults add behind a port for a frame.
func (p *port) delay(t *Transit, id fabric.PortID, f *Frame) shaping.Duration {
	if p.weather == nil {
		return 0
	}
	d := p.Extra
	if p.Jitter > 0 {
		d += shaping.Duration(t.faults.Draw(uint64(id), uint64(f.Source), uint64(f.Seq)) % uint64(p.Jitter+1))
	}
	return d
}

// inOrder returns when a frame's tail reaches the next port: not before that of
// the frame of its connection ahead of it.
func (p *port) inOrder(f *Frame, tail shaping.Time) shaping.Time {
	if p.weather == nil {
		return tail
	}
	if p.last == nil {
		p.last = map[uint32]shaping.Time{}
	}
	tail = max(tail, p.last[f.Conn])
	p.last[f.Conn] = tail
	return tail
}
