package gossip

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hashicorp/memberlist"
	"go.uber.org/zap"
)

// gatekeeper is what memberlist calls. It decides who may enter the ledger,
// and writes down who came and went. memberlist holds its own locks meanwhile,
// so nothing here waits for anything but the ledger's.
type gatekeeper struct{ *ledger }

var (
	_ memberlist.AliveDelegate = gatekeeper{}
	_ memberlist.MergeDelegate = gatekeeper{}
	_ memberlist.EventDelegate = gatekeeper{}
	_ memberlist.PingDelegate  = gatekeeper{}
)

// NotifyAlive is asked about every member that gossip mentions. An error keeps
// it out, and keeps us from passing the word on: two clusters don't merge
// because somebody mentioned one to the other.
func (g gatekeeper) NotifyAlive(n *memberlist.Node) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.divides(n); err != nil {
		return err
	}
	if r := g.admit(n); r != nil {
		return r
	}
	return nil
}

// NotifyMerge is asked, on both sides, when a process joins. A stranger on the
// other side means that it is another cluster; nobody who can be read, that it
// is nothing we know.
func (g gatekeeper) NotifyMerge(peers []*memberlist.Node) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	var refused error
	welcome := 0
	for _, n := range peers {
		if n.Name == g.self { // from an earlier attempt
			continue
		}
		if err := g.divides(n); err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		r := g.admit(n)
		switch {
		case r == nil:
			welcome++
		case r.Cluster != "":
			return r
		default:
			refused = r
		}
	}
	if welcome == 0 {
		return refused
	}
	return nil
}

// refusal is what memberlist is told about a stray.
type refusal struct {
	Stray
	ours string // our cluster
}

func (r *refusal) Error() string { return fmt.Sprintf("not of cluster %q: %v", r.ours, r.Stray) }

// admit refuses a process that does not belong, and remembers it; mu is held.
func (l *ledger) admit(n *memberlist.Node) *refusal {
	if meta, known := l.admitted[n.Name]; known && meta == string(n.Meta) {
		return nil
	}
	m, err := decodeMember(n)
	if err != nil {
		name, _, _ := cutWireName(n.Name)
		return l.turnAway(n.Name, Stray{Name: clip(name), Addr: n.Address(), Reason: err.Error()})
	}
	if l.foreign(m) {
		return l.turnAway(n.Name, strayOf(m))
	}
	if l.cluster == "" {
		l.cluster = m.Cluster
	}
	l.admitted[n.Name] = string(n.Meta)
	return nil
}

// foreign reports whether a member is of another cluster. One without an id
// was given our address and nothing else, and is welcome.
func (l *ledger) foreign(m Member) bool {
	return m.Cluster != "" && l.cluster != "" && m.Cluster != l.cluster
}

// strayOf is the stray that a member of another cluster is.
func strayOf(m Member) Stray {
	return Stray{Name: m.Name, Addr: m.Addr, Cluster: m.Cluster, Reason: fmt.Sprintf("it is of cluster %q", m.Cluster)}
}

func (l *ledger) turnAway(wireName string, s Stray) *refusal {
	if _, known := l.strays[wireName]; !known && len(l.strays) < maxStrays && !l.closed() {
		l.strays[wireName] = s
		l.log.Warn("turned away a process that does not belong to this cluster",
			zap.String("name", s.Name), zap.String("addr", s.Addr), zap.String("reason", s.Reason))
	}
	return &refusal{Stray: s, ours: l.cluster}
}

// clip bounds a name that nobody has checked.
func clip(s string) string { return s[:min(len(s), maxText)] }

// NotifyJoin enters a member that was admitted.
func (g gatekeeper) NotifyJoin(n *memberlist.Node) { g.enter(Joined, n) }

// NotifyUpdate enters what a member now says of itself.
func (g gatekeeper) NotifyUpdate(n *memberlist.Node) { g.enter(Updated, n) }

func (l *ledger) enter(k EventKind, n *memberlist.Node) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, err := decodeMember(n)
	if err != nil || l.closed() || l.ended[n.Name] {
		return // NotifyAlive has turned it away
	}
	if m.Since = time.Now(); k == Updated {
		m.Since = l.here[n.Name].Since
	}
	l.here[n.Name] = m
	l.unbury(n.Name, m)
	l.heard[n.Name] = time.Now()
	l.publish(Event{Kind: k, Member: m})
}

// NotifyLeave strikes out a member that left or died.
func (g gatekeeper) NotifyLeave(n *memberlist.Node) { g.strike(n.Name, false) }

// strike strikes out a member. One that has ended will not come back: what is
// said of it from now on is old.
func (l *ledger) strike(wireName string, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.here[wireName]
	if !ok || l.closed() {
		return
	}
	e := Event{Kind: Died, Member: m, Silent: time.Since(l.heard[wireName])}
	switch {
	case l.leaving[wireName]:
		e.Kind, e.Silent = Left, 0
	case !ended:
		l.bury(wireName, m)
	}
	if ended && len(l.ended) < maxFormer {
		l.ended[wireName] = true
	}
	delete(l.here, wireName)
	delete(l.admitted, wireName)
	delete(l.leaving, wireName)
	delete(l.heard, wireName)
	l.publish(e)
}

// AckPayload is memberlist.PingDelegate's.
func (g gatekeeper) AckPayload() []byte { return nil }

// NotifyPingComplete notes that a member answered a probe of ours.
func (g gatekeeper) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, here := g.here[n.Name]; here {
		g.heard[n.Name] = time.Now()
	}
}
