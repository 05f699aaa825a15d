package gossip

import (
	"math/rand/v2"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// To tell a process that died from one that is slow memberlist has only time,
// and on a host whose processors are all taken the slow take seconds. But the
// address of a process that has ended refuses to be called, at once and beyond
// doubt, however busy the host. So on one host members also knock at each
// other's, in turn; who is refused says so to all, and they knock as well.

const gone = "gone "

// knock calls at the members' addresses, one after the other, until the roster
// closes.
func (r *Roster) knock() {
	if r.tuning.knockInterval == 0 {
		return
	}
	r.ledger.spawn(func() {
		var round []Member
		for {
			select {
			case <-time.After(r.pace()):
			case <-r.ledger.done:
				return
			}
			if len(round) == 0 {
				round = r.Members()
				rand.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
			}
			if len(round) == 0 {
				continue // we have left, and nobody else was here
			}
			m := round[0]
			round = round[1:]
			if r.knockAt(wireName(m.Name, m.Instance)) {
				r.tell(gone + wireName(m.Name, m.Instance))
			}
		}
	})
}

// pace is the time between knocks. All together knock as often at each member,
// so on a host of many each has to knock less.
func (r *Roster) pace() time.Duration {
	return max(r.tuning.knockInterval, time.Duration(r.ledger.count())*knockCost)
}

// knockCost is what a knock may cost: with it the members of one host knock 200
// times a second, whatever their number; at 0.1 ms (measured) that is 2 % of a core.
const knockCost = 5 * time.Millisecond

// knockAt knocks at a member and strikes it out if its process has ended.
func (r *Roster) knockAt(name string) bool {
	m, here := r.ledger.lookup(name)
	if !here || name == r.ledger.self {
		return false
	}
	conn, err := r.transport.DialAddressTimeout(memberlist.Address{Addr: m.Addr, Name: name}, r.tuning.streamTimeout)
	if err == nil {
		_ = conn.Close()
	}
	if !refused(err) {
		return false
	}
	r.ledger.strike(name, true)
	return true
}

// rumour is of a member that somebody says has ended: see for ourselves.
func (r *Roster) rumour(name string) {
	if _, here := r.ledger.lookup(name); here {
		r.ledger.spawn(func() { r.knockAt(name) })
	}
}

// tell sends a message of ours to all others.
func (r *Roster) tell(message string) {
	for _, m := range r.Members() {
		to := memberlist.Address{Addr: m.Addr, Name: wireName(m.Name, m.Instance)}
		if to.Name != r.ledger.self {
			_ = r.list.SendToAddress(to, []byte(message)) // it may get lost anyway
		}
	}
}

// lookup returns a member by its wire name.
func (l *ledger) lookup(wireName string) (Member, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, here := l.here[wireName]
	return m, here
}

// rumoured returns whom a message says has ended.
func rumoured(message []byte) (string, bool) { return strings.CutPrefix(string(message), gone) }
