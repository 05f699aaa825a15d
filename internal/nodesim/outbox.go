package nodesim

import (
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// outbox gathers the frames of a window into batches, one row a peer.
type outbox struct {
	a    *actor
	rows []row
}

type row struct {
	batch          wire.Batch
	bytes          int
	stamp, induced shaping.Time
}

func (a *actor) newOutbox() *outbox {
	o := &outbox{a: a, rows: make([]row, len(a.peers))}
	for i := range o.rows {
		o.rows[i].stamp, o.rows[i].induced = shaping.Never, shaping.Never
	}
	return o
}

func (o *outbox) add(to int, f wire.Frame, e *kernel.Emission) {
	r := &o.rows[to]
	if !f.Alone {
		r.stamp, r.induced = min(r.stamp, e.Tail), min(r.induced, e.Induced)
	}
	r.bytes += len(f.Data())
	r.batch.Frames = append(r.batch.Frames, f)
	o.a.sent[to]++
	if r.bytes >= wire.BatchBytes || len(r.batch.Frames) >= wire.MaxFrames {
		o.ship(to)
	}
}

func (o *outbox) ship(to int) {
	r := &o.rows[to]
	if len(r.batch.Frames) == 0 {
		return
	}
	r.batch.Session, r.batch.From, r.batch.Number = o.a.session, uint32(o.a.self), o.a.batch
	o.a.peers[to].out.post(r.batch)
	r.batch, r.bytes = wire.Batch{}, 0
}

func (o *outbox) flush() {
	for to := range o.rows {
		o.ship(to)
	}
}

// sent says what went to each peer: how many frames in all, and how early those
// of this window arrive.
func (o *outbox) sent() []*railyardv1.Sent {
	var all []*railyardv1.Sent
	for to, n := range o.a.sent {
		if n > 0 {
			all = append(all, &railyardv1.Sent{Participant: uint32(to), Frames: n,
				EarliestStampPs: int64(o.rows[to].stamp), EarliestInducedPs: int64(o.rows[to].induced)})
		}
	}
	return all
}
