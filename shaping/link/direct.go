package link

import (
	"net"
	"syscall"
	"time"

	"github.com/railyard/railyard/shaping"
)

// What the pacer writes itself: the goroutine that would, takes 15 µs to wake.
const (
	directMost = 16 << 10               // bytes; copying more would keep other events waiting
	directLate = 100 * time.Microsecond // a pacer that is later than this has no time for it
	// mostLead bounds how much earlier it begins, so that the write has ended when
	// the segment is due.
	mostLead = 30 * shaping.Microsecond
)

// directly returns what writes to a connection without ever waiting, and says how
// much it took; nil where that is not a socket.
func directly(c net.Conn) func([]byte) int {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return nil
	}
	return func(b []byte) (n int) {
		// An error shows again when the pump writes the rest.
		_ = raw.Write(func(fd uintptr) bool {
			n, _ = syscall.Write(int(fd), b)
			return true
		})
		return max(n, 0)
	}
}

// isShort reports whether the pacer may write a segment when it is due: it is
// small, none is before it, and the pump is at rest.
func (f *flow) isShort(s *segment) bool {
	return f.direct != nil && !f.pumping && f.ready.empty() && s.mark == data && len(s.data) <= directMost
}

// short writes the first segment that flies if it is due, or will be when the write
// has ended. The pump gets what is left of it.
func (f *flow) short(now shaping.Time) {
	if f.flying.empty() || f.flying.first().due > now.Add(f.link.lead) || !f.isShort(f.flying.first()) {
		return
	}
	s := f.flying.pop()
	n := f.direct(s.data)
	ended := f.link.now()
	f.link.learn(ended.Sub(now))
	f.arrived(ended, s)
	if n < len(s.data) {
		f.hold(-n)
		f.ready.first().data = s.data[n:]
		return
	}
	done := f.ready.pop()
	f.hold(-done.cost())
	f.link.recycle(&done)
	f.free(ended)
}

// learn moves the lead towards how long a write takes: down at once, up slowly, so
// that hardly any ends before its segment is due.
func (l *Link) learn(took shaping.Duration) {
	if took = min(took, mostLead); took < l.lead {
		l.lead = took
	} else {
		l.lead += (took - l.lead) / 64
	}
}
