package kernel

import "github.com/railyard/railyard/shaping"

// Pace is Run under the paced clock: every event up to an instant that has come
// is handled. Nothing is promised to anybody, so what is sent may be stamped
// before that instant. It is then late, and whoever gets it says so.
func (k *Kernel) Pace(until shaping.Time, budget int) int {
	k.until = 0
	return k.run(until, budget)
}

// Slack returns the least time between the departure of a frame or credit of
// the batch and its stamp, over all connections that cross to another
// participant: what the host has for the way. Never when there are none.
func (k *Kernel) Slack() shaping.Duration {
	least := shaping.Duration(shaping.Never)
	for _, ci := range k.far {
		r := k.remoteOf(ci)
		if !r.fromHere {
			least = min(least, k.conns[ci].credit)
			continue
		}
		p := &r.route.Wire
		for at := p.Inject; at <= len(p.Ports); at++ {
			if d := p.Before(int32(at)); d > 0 {
				least = min(least, d)
			}
			if at < len(p.Ports) && !k.Owns(p.Ports[at]) {
				break
			}
		}
	}
	return least
}
