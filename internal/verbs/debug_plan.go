package verbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/fabric"
)

// connect says by what each connection of a plan goes.
func (l *ncclLog) connect(p *collective.Plan) {
	for r := range p.Ranks {
		for _, b := range p.Rank(r) {
			for _, from := range b.RecvFrom {
				l.connection(p, r, from, r, b.Channel)
			}
			for _, to := range b.SendTo {
				l.connection(p, r, r, to, b.Channel)
			}
		}
	}
}

// connection is said by either end between nodes, by the sender inside one.
func (l *ncclLog) connection(p *collective.Plan, rank, from, to, channel int) {
	lane := channel
	if p.OwnNICs {
		lane |= fabric.OwnNICs
	}
	route := l.f.Route(l.comm[from], l.comm[to], lane, collective.Simple)
	way, end, subsystem := "P2P/CUMEM", "", "P2P"
	if route.Remote {
		end, subsystem = " [send]", "NET"
		nic, other := l.f.Rails(l.comm[from], l.comm[to], lane)
		if rank == to {
			end, nic = " [receive]", other
		}
		way = fmt.Sprintf("NET/IB/%d", nic)
		if route.SendProxy != l.comm[from] && rank == from {
			way += fmt.Sprintf("(%d)", slices.Index(l.comm, route.SendProxy)) // PXN: by the rail's owner
		}
		way += "/GDRDMA"
	} else if rank == to {
		return
	}
	if l.debug.Prints("INIT") || l.debug.Prints(subsystem) {
		l.say(rank, "Channel %02d/0 : %d[%d] -> %d[%d]%s via %s", channel, from, l.devices[from].GPU, to, l.devices[to].GPU, end, way)
	}
}

// circle follows a ring from rank 0.
func circle(p *collective.Plan, channel int) []int {
	order := []int{0}
	for at := next(p, 0, channel); at > 0 && len(order) < p.Ranks; at = next(p, at, channel) {
		order = append(order, at)
	}
	return order
}

// next is where a rank sends on a channel; −1 for nowhere.
func next(p *collective.Plan, rank, channel int) int {
	for _, b := range p.Rank(rank) {
		if b.Channel == channel && len(b.SendTo) > 0 {
			return b.SendTo[0]
		}
	}
	return -1
}

// kin prints a rank's place in a tree: its children, itself, its parent. The
// first block of a channel is the one that reduces upwards.
func kin(p *collective.Plan, rank, channel int) string {
	children, parent := [3]int{-1, -1, -1}, -1
	for _, b := range p.Rank(rank) {
		if b.Channel != channel {
			continue
		}
		copy(children[:], b.RecvFrom)
		if len(b.SendTo) > 0 {
			parent = b.SendTo[0]
		}
		break
	}
	return fmt.Sprintf("%d/%d/%d->%d->%d", children[0], children[1], children[2], rank, parent)
}

func join(ranks []int) string { return strings.Trim(fmt.Sprint(ranks), "[]") }
