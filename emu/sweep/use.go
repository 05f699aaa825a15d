package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Use is where the time of a batch went.
type Use struct {
	// Span is how long the batch took, in emulated time.
	Span shaping.Duration
	// Ports are those that were busy.
	Ports []PortUse
	// Of all blocks together: moving bytes, and waiting for data, slots, steps.
	Busy, WaitData, WaitSlot, WaitDep shaping.Duration
}

// PortUse is how long a port was busy.
type PortUse struct {
	Port fabric.PortID
	Busy shaping.Duration
}

// nKinds is how many kinds of port Explain names.
const nKinds = 3

// Explain says in one line where the time went: how the blocks spent it, and
// the busiest port of each kind.
func (u *Use) Explain(f *fabric.Fabric) string {
	var b strings.Builder
	if all := u.Busy + u.WaitData + u.WaitSlot + u.WaitDep; all > 0 {
		fmt.Fprintf(&b, "blocks moved bytes %s, waited for data %s, for slots %s, for other blocks %s of the time",
			share(u.Busy, all), share(u.WaitData, all), share(u.WaitSlot, all), share(u.WaitDep, all))
	}
	slices.SortFunc(u.Ports, func(a, b PortUse) int {
		return cmp.Or(cmp.Compare(b.Busy, a.Busy), cmp.Compare(a.Port, b.Port))
	})
	seen := map[string]bool{}
	for _, p := range u.Ports {
		name := f.PortName(p.Port)
		kind := name[strings.LastIndexByte(name, '/')+1:]
		if seen[kind] || len(seen) == nKinds || u.Span <= 0 {
			continue
		}
		seen[kind] = true
		fmt.Fprintf(&b, "; %s busy %s", name, share(p.Busy, u.Span))
	}
	return b.String()
}

// share prints a part of a whole in per cent.
func share(part, whole shaping.Duration) string {
	return fmt.Sprintf("%d %%", (int64(part/1000)*100+int64(whole/2000))/max(int64(whole/1000), 1))
}
