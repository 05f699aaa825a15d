package link

import (
	"sync"
	"time"
)

// deadline is until when reads, or writes, may wait.
type deadline struct {
	mu      sync.Mutex
	set     int           // how often it was
	expired chan struct{} // closed when it is past
	timer   *time.Timer
}

// past returns a channel that is closed when the deadline is past. Who waits on
// it sees later calls of to as well.
func (d *deadline) past() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now()
}

func (d *deadline) now() chan struct{} {
	if d.expired == nil {
		d.expired = make(chan struct{})
	}
	return d.expired
}

// to moves the deadline; the zero time is none.
func (d *deadline) to(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set++
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if isClosed(d.now()) {
		d.expired = make(chan struct{})
	}
	if t.IsZero() {
		return
	}
	left := time.Until(t)
	if left <= 0 {
		close(d.expired)
		return
	}
	set := d.set
	d.timer = time.AfterFunc(left, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.set == set { // else it was moved while the timer ran off
			close(d.expired)
		}
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
