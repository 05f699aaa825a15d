package transit

import (
	"sort"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/shaping"
)

// Way says by which NICs and tables of switches a connection goes; 0 is its own
// NICs, and the tables that the network began with. A header carries it, so that
// all who forward the frame find the same path.
type Way uint64

// Bits of a Way: how often tables had changed, and the NICs, each less one.
const (
	wayNIC    = 16
	wayTables = 2 * wayNIC
)

// By returns the way by two NICs of the nodes.
func (w Way) By(from, to int) Way {
	return w>>wayTables<<wayTables | Way(from+1)<<wayNIC | Way(to+1)
}

// Own returns the way by the connection's own NICs.
func (w Way) Own() Way { return w >> wayTables << wayTables }

// Since returns the way by tables that have changed so often.
func (w Way) Since(changes int) Way {
	return Way(changes)<<wayTables | w&(1<<wayTables-1)
}

// nics returns the NICs of a way, and whether they are other ones than its own.
func (w Way) nics() (from, to int, other bool) {
	const mask = 1<<wayNIC - 1
	return int(w>>wayNIC&mask) - 1, int(w&mask) - 1, w&(1<<wayTables-1) != 0
}

// Ways finds the routes of ways.
type Ways struct {
	fabric  *fabric.Fabric
	changes []fault.Reroute
	tables  []*fabric.Fabric // after each change
	routes  map[wayKey]*fabric.Route
}

type wayKey struct {
	from, to, channel int32
	protocol          collective.Protocol
	way               Way
}

func newWays(f *fabric.Fabric, s *fault.Schedule, sweep shaping.Duration) *Ways {
	w := &Ways{fabric: f, changes: s.Reroutes(f, sweep), routes: map[wayKey]*fabric.Route{}}
	for _, c := range w.changes {
		w.tables = append(w.tables, f.Around(c.Dead))
	}
	return w
}

// Changes returns how often tables have changed by an instant.
func (w *Ways) Changes(at shaping.Time) int {
	if w == nil {
		return 0 // no faults yet
	}
	return sort.Search(len(w.changes), func(i int) bool { return w.changes[i].At > at })
}

// Next returns when tables change next after an instant; Never if they do not.
func (w *Ways) Next(at shaping.Time) shaping.Time {
	if i := w.Changes(at); i < len(w.changes) {
		return w.changes[i].At
	}
	return shaping.Never
}

// Route returns the route of a way.
func (w *Ways) Route(from, to, channel int32, p collective.Protocol, way Way) *fabric.Route {
	k := wayKey{from, to, channel, p, way}
	if r, ok := w.routes[k]; ok {
		return r
	}
	f := w.fabric
	if n := int(way >> wayTables); n > 0 {
		f = w.tables[min(n, len(w.tables))-1]
	}
	var r fabric.Route
	if a, b, other := way.nics(); other {
		r = f.RouteBy(int(from), int(to), int(channel), a, b, p)
	} else {
		r = f.Route(int(from), int(to), int(channel), p)
	}
	w.routes[k] = &r
	return &r
}

// Valid reports whether a way is one: its NICs are there.
func (w *Ways) Valid(from, to int32, way Way) bool {
	a, b, other := way.nics()
	return int(way>>wayTables) <= len(w.tables) &&
		(!other || a >= 0 && b >= 0 && a < w.fabric.NICs(w.fabric.NodeOf(int(from))) && b < w.fabric.NICs(w.fabric.NodeOf(int(to))))
}
