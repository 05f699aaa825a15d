package gossip

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// EventKind says what became of a member.
type EventKind int

// The kinds of event. A member that left said so; one that died didn't, and
// was declared dead because it no longer answered. A death may be retracted, by
// Joined, if the process was only very slow.
const (
	Joined EventKind = iota
	Updated
	Left
	Died
)

var eventNames = [...]string{Joined: "joined", Updated: "updated", Left: "left", Died: "died"}

func (k EventKind) String() string { return eventNames[k] }

// Event is a change of the roster.
type Event struct {
	Kind   EventKind
	Member Member
	// Silent is for how long, in wall time, a member that Died has not answered
	// this process: at least the time that it took to notice.
	Silent time.Duration
}

// Stray is a process that came by and does not belong: of another cluster, or
// one whose metadata cannot be read.
type Stray struct {
	Name, Addr string
	// Cluster is the id of the cluster it is of, if it could be read.
	Cluster string
	// Reason says what is wrong with it.
	Reason string
}

// maxStrays bounds what a hostile peer can make us remember.
const maxStrays = 32

// ledger is the roster's book. memberlist has its own, but calls us with that
// one locked; so that no caller of ours ever waits inside memberlist, or it
// for us, every question is answered from this copy.
//
// Lock order: memberlist's locks, then mu. Nothing of memberlist is called
// with mu held.
type ledger struct {
	self string // our own wire name
	log  *zap.Logger

	mu      sync.Mutex
	cluster string            // empty until adopted
	here    map[string]Member // by wire name
	leaving map[string]bool   // wire names that said farewell
	// admitted is the metadata with which each wire name was let in. While
	// many processes join, memberlist asks about each some hundred times.
	admitted map[string]string
	strays   map[string]Stray     // by wire name
	former   map[string]former    // who died, by wire name
	heard    map[string]time.Time // when each last answered a probe of ours, by wire name
	ended    map[string]bool      // whose process is no more, by wire name
	beyond   Beyond               // who is cut off
	far      map[string]bool      // the addresses of those

	watchers map[*watcher]struct{}
	done     chan struct{} // closed by close
	pumps    sync.WaitGroup
}

func newLedger(self, cluster string, log *zap.Logger) *ledger {
	return &ledger{
		self: self, log: log, cluster: cluster,
		here: map[string]Member{}, leaving: map[string]bool{}, admitted: map[string]string{}, strays: map[string]Stray{}, former: map[string]former{},
		heard: map[string]time.Time{}, ended: map[string]bool{}, far: map[string]bool{},
		watchers: map[*watcher]struct{}{}, done: make(chan struct{}),
	}
}

// members returns everybody here, by name and then by instance.
func (l *ledger) members() []Member {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sorted()
}

func (l *ledger) addrOf(wireName string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.here[wireName].Addr
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.here)
}

func (l *ledger) sorted() []Member {
	return slices.SortedFunc(maps.Values(l.here), func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Instance, b.Instance))
	})
}

// strayed returns the strays seen so far, by name and then by address.
func (l *ledger) strayed() []Stray {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.strays), func(a, b Stray) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Addr, b.Addr))
	})
}

// watcher is one reader's queue. It grows while the reader is away, so that
// memberlist never waits for a reader.
type watcher struct {
	queue []Event
	wake  chan struct{} // holds one token while the queue may be non-empty
}

// publish tells every watcher; mu is held.
func (l *ledger) publish(e Event) {
	for w := range l.watchers {
		w.queue = append(w.queue, e)
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// watch returns a channel that yields everybody here as Joined, then every
// change, and is closed when ctx ends or the roster closes.
func (l *ledger) watch(ctx context.Context) <-chan Event {
	out := make(chan Event)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed() {
		close(out)
		return out
	}
	w := &watcher{wake: make(chan struct{}, 1)}
	l.watchers[w] = struct{}{}
	for _, m := range l.sorted() {
		w.queue = append(w.queue, Event{Kind: Joined, Member: m})
	}
	w.wake <- struct{}{}
	l.pumps.Go(func() { l.pump(ctx, w, out) })
	return out
}

// spawn runs f in a goroutine that close waits for; f ends when done closes.
func (l *ledger) spawn(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed() {
		l.pumps.Go(f)
	}
}

// pump moves events from a watcher's queue to its reader.
func (l *ledger) pump(ctx context.Context, w *watcher, out chan<- Event) {
	defer close(out)
	defer l.unwatch(w)
	for {
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		case <-l.done:
			return
		}
		for _, e := range l.take(w) {
			select {
			case out <- e:
			case <-ctx.Done():
				return
			case <-l.done:
				return
			}
		}
	}
}

func (l *ledger) take(w *watcher) []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := w.queue
	w.queue = nil
	return q
}

func (l *ledger) unwatch(w *watcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watchers, w)
}

func (l *ledger) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// close ends every watch. Whatever memberlist still has to say after it is
// ignored. It may be called once.
func (l *ledger) close() {
	l.mu.Lock()
	close(l.done)
	l.mu.Unlock()
	l.pumps.Wait()
}
