package coordinator

import (
	"context"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// readings is how often every clock is read before the first batch; the reading
// that took least counts.
const readings = 5

func (k *Cluster) probe(m *member) {
	m.say(&railyardv1.SessionRequest{Request: &railyardv1.SessionRequest_ClockProbe{
		ClockProbe: &railyardv1.ClockProbe{AskedNs: k.clock.Now()}}})
}

// synchronise learns what the members' clocks say. Those on this host share its
// clock; the others are compared with it, now and during each batch.
func (k *Cluster) synchronise(ctx context.Context) error {
	for range readings {
		for _, m := range k.members {
			k.probe(m)
		}
		err := k.each(ctx, func(i int, r *railyardv1.SessionResponse) (bool, error) {
			c := r.GetClockReading()
			if c == nil {
				return false, nil
			}
			k.members[i].host = c.GetHost()
			k.members[i].clock.Add(c.GetAskedNs(), c.GetNowNs(), k.heard)
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	for _, m := range k.members {
		m.shared = m.host == k.clock.Host()
	}
	return nil
}

// offset returns what to add to our time to get a member's, and by how much that
// may be wrong, in nanoseconds.
func (m *member) offset() (offset, err int64) {
	if m.shared {
		return 0, 0
	}
	return m.clock.Best()
}
