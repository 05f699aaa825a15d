package link

import (
	"net"
	"syscall"
	"time"
)

// What the pacer writes itself: the goroutine that would, takes 15 µs to wake.
const (
	directMost = 16 << 10               // bytes; copying more would keep other events waiting
	directLate = 100 * time.Microsecond // a pacer that is later than this has no time for it
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

// short writes the one segment that is ready without the pump, if it is small and
// the pump is at rest. The pump gets what is left.
func (f *flow) short(late time.Duration) {
	if f.direct == nil || f.pumping || late > directLate || f.ready.len() != 1 {
		return
	}
	s := f.ready.first()
	if s.mark != data || len(s.data) > directMost {
		return
	}
	n := f.direct(s.data)
	if n < len(s.data) {
		f.held -= n
		s.data = s.data[n:]
		return
	}
	done := f.ready.pop()
	f.held -= done.cost()
	f.link.recycle(&done)
	signal(f.roomy)
}
