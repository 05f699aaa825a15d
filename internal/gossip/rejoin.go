package gossip

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// memberlist talks to the living only. Two sides of a network that was cut for
// longer than a suspicion lasts have taken each other for dead, and would never
// meet again. So every roster goes on trying whom it once joined, and some of
// those that died on it; one that answers brings its whole side along.

const (
	// remember is how long those that died are looked for. Addresses that were
	// joined are looked for as long as the roster lives.
	remember = time.Hour
	// maxFormer bounds how many of them are remembered.
	maxFormer = 1024
	// sought is how many of them are tried in a round.
	sought = 3
	// again is when whoever answered is asked a second time. The first exchange
	// tells each side that the other takes it for dead; only the second carries
	// the objections.
	again = 500 * time.Millisecond
	// eager is how many rounds follow each other that soon when a cut has been mended:
	// the sides hear of that one after the other.
	eager = 4
)

// former is a member that died.
type former struct {
	Member
	since time.Time
}

// bury remembers a member that died, unless another of its name is here; mu is
// held.
func (l *ledger) bury(wireName string, m Member) {
	for w, n := range l.here { // order: any will do
		if w != wireName && n.Name == m.Name {
			return
		}
	}
	if len(l.former) < maxFormer {
		l.former[wireName] = former{m, time.Now()}
	}
}

// unbury forgets whoever is back, itself or restarted under its name; mu is
// held.
func (l *ledger) unbury(wireName string, m Member) {
	delete(l.former, wireName)
	for w, f := range l.former { // order: each is judged by itself
		if f.Name == m.Name || f.Addr == m.Addr || time.Since(f.since) > remember {
			delete(l.former, w)
		}
	}
}

// lost returns addresses of some members that died.
func (l *ledger) lost() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []string
	for _, f := range l.former { // order: shuffled below
		if time.Since(f.since) <= remember {
			all = append(all, f.Addr)
		}
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), sought)]
}

// at reports whether somebody who is here has that address.
func (l *ledger) at(addr string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.here { // order: any will do
		if m.Addr == addr {
			return true
		}
	}
	return false
}

// seek looks for those that are missing until the roster closes.
func (r *Roster) seek(life context.Context) {
	r.ledger.spawn(func() {
		for pause, soon := r.tuning.seekInterval, 0; ; {
			select {
			case <-time.After(pause):
			case <-r.mended:
				soon = eager
			case <-r.ledger.done:
				return
			}
			answered := r.seekOnce(life)
			if soon = max(soon-1, 0); soon > 0 || answered && pause != again {
				pause = again
			} else {
				pause = r.tuning.seekInterval
			}
		}
	})
}

// seekOnce tries everybody who is missing, at once, and reports whether
// somebody answered.
func (r *Roster) seekOnce(life context.Context) bool {
	ctx, cancel := context.WithTimeout(life, r.tuning.streamTimeout)
	defer cancel()
	targets := r.ledger.lost()
	for _, a := range r.joined {
		found, err := resolve(ctx, a)
		if err == nil {
			targets = append(targets, found...)
		}
	}
	tried, answers := map[string]bool{}, make([]bool, len(targets))
	var tries sync.WaitGroup
	for i, a := range targets {
		if tried[a] || r.ledger.at(a) {
			continue
		}
		tried[a] = true
		tries.Go(func() {
			n, _ := r.list.Join([]string{a}) // who does not answer is tried again
			answers[i] = n > 0
		})
	}
	tries.Wait()
	for _, ok := range answers {
		if ok {
			return true
		}
	}
	return false
}
