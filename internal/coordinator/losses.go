package coordinator

import (
	"sync"
	"time"

	"github.com/railyard/railyard/internal/gossip"
)

// losses are the members whose sessions broke off, and when. A session tells
// sooner than the roster that a process is gone, so that for a second the roster
// still has it; one that is in the roster since a later time came back.
type losses struct {
	mu sync.Mutex
	at map[string]time.Time // by name and instance
}

// add notes a loss. Where nobody will gather again, l is nil and notes nothing.
func (l *losses) add(m gossip.Member) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		l.at = map[string]time.Time{}
	}
	l.at[m.Name+" "+m.Instance] = time.Now()
}

// has reports whether a member is lost.
func (l *losses) has(m gossip.Member) bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	at, ok := l.at[m.Name+" "+m.Instance]
	return ok && m.Since.Before(at)
}
