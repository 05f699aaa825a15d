package gossip

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/hashicorp/memberlist"
)

// memberlist's event for a member that left looks like that for one that died.
// So a process that leaves says farewell first, in a message of ours to each
// of the others; who departs after a farewell has left. One that gets lost
// makes a departure look like a death, and no more.

const farewell = "bye "

// voice is what memberlist asks for our metadata, and hands messages of ours.
type voice struct {
	*ledger
	meta   func() []byte
	rumour func(wireName string)
}

var _ memberlist.Delegate = voice{}

// sayFarewell tells the others that we are about to leave.
func (r *Roster) sayFarewell() {
	r.ledger.mark(r.ledger.self)
	r.tell(farewell + r.ledger.self)
}

// NotifyMsg hears a message of ours. A liar who says farewell in another's name
// does no more than make a death look like a departure.
func (v voice) NotifyMsg(b []byte) {
	if name, ok := strings.CutPrefix(string(b), farewell); ok && name != v.self {
		v.mark(name)
	}
	if name, ok := rumoured(b); ok {
		v.rumour(name)
	}
}

// mark notes that somebody who is here said farewell.
func (l *ledger) mark(wireName string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, here := l.here[wireName]; here {
		l.leaving[wireName] = true
	}
}

// NodeMeta is our metadata; Config.check has kept it within the limit.
func (v voice) NodeMeta(int) []byte { return v.meta() }

// GetBroadcasts, LocalState and MergeRemoteState would let messages ride on
// gossip and on full exchanges. None does.
func (v voice) GetBroadcasts(int, int) [][]byte { return nil }
func (v voice) LocalState(bool) []byte          { return nil }
func (v voice) MergeRemoteState([]byte, bool)   {}

// Ended reports whether the process of a member is certainly no more: its
// address refuses to be called. One that is stopped, or cut off, says nothing
// instead.
func Ended(ctx context.Context, m Member) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", m.Addr)
	if err == nil {
		_ = conn.Close()
	}
	return refused(err)
}

func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
