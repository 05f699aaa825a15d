package machine

import (
	"fmt"
	"strconv"
	"strings"
)

// Place is where a device hangs: on a bridge, or on a NUMA node. The zero value
// is NUMA node 0.
type Place struct {
	Bridge bool // whether Index is that of a bridge
	Index  int
}

// OnBridge returns the place behind a bridge.
func OnBridge(i int) Place { return Place{Bridge: true, Index: i} }

// OnNUMA returns the place at a NUMA node's own host bridge.
func OnNUMA(i int) Place { return Place{Index: i} }

// String returns "bridge3" or "numa0".
func (p Place) String() string {
	if p.Bridge {
		return fmt.Sprintf("bridge%d", p.Index)
	}
	return fmt.Sprintf("numa%d", p.Index)
}

// ParsePlace reads what String returns.
func ParsePlace(text string) (Place, error) {
	p := Place{}
	digits, ok := strings.CutPrefix(text, "numa")
	if !ok {
		digits, p.Bridge = strings.CutPrefix(text, "bridge")
	}
	i, err := strconv.Atoi(digits)
	p.Index = i
	if err != nil || p.String() != text || i < 0 {
		return Place{}, fmt.Errorf("%q is no place; allowed are numa0, numa1, … and bridge0, bridge1, …", clip(text))
	}
	return p, nil
}

// NUMAOf returns the NUMA node that a place belongs to.
func (m *Machine) NUMAOf(p Place) int {
	for p.Bridge {
		p = m.Bridges[p.Index].At
	}
	return p.Index
}

// clip shortens hostile input, so that an error stays one line.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
