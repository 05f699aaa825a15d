package nodesim

import (
	"go.uber.org/zap"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// begin lays out a batch. Batch 0 is the first of an emulated session: time,
// ports and counts begin anew.
func (a *actor) begin(m *railyardv1.Begin) error {
	b, err := wire.DecodeBatch(m.GetRuns())
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	a.batch, a.runs, a.blind = m.GetBatch(), b.Runs, false
	if a.batch == 0 {
		if err := a.suffer(m.GetStruck()); err != nil {
			return err
		}
		a.live = m.GetLive()
		a.kernel = kernel.New(kernel.Config{Fabric: a.fabric, Owners: a.owners, Me: a.self, Record: m.GetRecordTimeline(),
			Faults: a.faults, Bear: a.bear, Guarded: a.live})
		a.taken, a.sent = make([]uint64, len(a.peers)), make([]uint64, len(a.peers))
	}
	if a.kernel == nil {
		return wire.Failf(wire.Mismatch, "batch %d without a batch 0 before it", a.batch)
	}
	if err := a.bereaved(); err != nil {
		return err
	}
	for i := range b.Runs {
		for _, gpu := range b.Runs[i].Comm {
			if gpu >= a.fabric.GPUs() {
				return wire.Failf(wire.Config, "run %d: GPU %d; the cluster has 0 to %d", i, gpu, a.fabric.GPUs()-1)
			}
		}
	}
	a.wirings, err = kernel.Lay(a.fabric, b, func(node int) bool { return a.owners.Node[node] == a.self })
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	a.allocate(b.Runs)
	a.kernel.Begin(b, a.wirings)
	if m.GetPaced() {
		a.paced = newPaced(a)
	}
	a.log.Debug("batch", zap.Uint32("batch", a.batch), zap.Int("runs", len(b.Runs)))
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Begun{Begun: &railyardv1.Begun{
		Batch: a.batch, NextPs: int64(a.kernel.Next()), OutPs: int64(a.kernel.Out()), SlackPs: int64(a.kernel.Slack()),
		SeenPs: int64(a.kernel.Seen())}}})
}

// allocate makes the machines of a batch. The run in place follows the one out
// of place on the same data, whose inputs it takes over: allocating and filling
// memory is what large full payloads spend most of their time on.
func (a *actor) allocate(runs []emu.Run) {
	earlier := a.earlier
	a.earlier = nil
	a.machines = make([]*payload.Machine, len(runs))
	for i := range runs {
		r := &runs[i]
		if r.Real == 0 {
			continue
		}
		g := a.wirings[i].Plan.Size(r.Count, r.DType.Size()).Scale(r.Real)
		var from *payload.Machine
		if i < len(earlier) && earlier[i].Lends(r, a.wirings[i], g) {
			from = earlier[i]
		} else if i < len(earlier) {
			earlier[i] = nil // its memory may be needed
		}
		a.machines[i] = payload.New(*r, a.wirings[i], g, from)
	}
}

// verify compares the results of the batch with what they must be.
func (a *actor) verify(v *railyardv1.Verify) error {
	for _, f := range v.GetFlips() {
		if int(f.GetRun()) < len(a.machines) && a.machines[f.GetRun()] != nil {
			a.machines[f.GetRun()].FlipOutput(int(f.GetRank()), f.GetElement(), uint64(f.GetBit()))
		}
	}
	var out railyardv1.Verified
	for i, m := range a.machines {
		if m == nil {
			continue
		}
		for _, v := range m.VerifyAll() {
			out.Verdicts = append(out.Verdicts, &railyardv1.RankVerdict{Run: uint32(i), Rank: uint32(v.Rank),
				Wrong: v.Wrong, Elements: v.Elements, Digest: v.Digest, FirstWrong: v.First})
		}
	}
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Verified{Verified: &out}})
}

// maybeFinish ends the batch once every frame is here that must not come into the
// next one.
func (a *actor) maybeFinish() error {
	if a.ending == nil || !a.holds(a.ending.GetExpect()) {
		return nil
	}
	m := a.ending
	a.ending = nil
	for _, p := range m.GetDead() {
		a.bury(p)
	}
	return a.finish(m.GetAborted())
}

// finish says what the batch used and forgets it.
func (a *actor) finish(aborted bool) error {
	a.earlier = a.machines
	a.machines, a.wirings, a.grant = nil, nil, nil
	out := &railyardv1.Finished{Lateness: a.endPace()}
	if a.kernel != nil {
		for _, u := range a.kernel.Ports() {
			out.Ports = append(out.Ports, &railyardv1.PortUse{Port: uint32(u.Port), CarriedBytes: int64(u.Bytes), BusyPs: int64(u.Busy)})
		}
		s := a.kernel.Spent()
		out.Time = &railyardv1.BlockTime{BusyPs: int64(s.Busy), WaitDataPs: int64(s.WaitData),
			WaitSlotPs: int64(s.WaitSlot), WaitDepPs: int64(s.WaitDep)}
		for _, b := range a.kernel.Stuck() {
			out.Stuck = append(out.Stuck, &railyardv1.StuckBlock{Run: uint32(b.Run), Rank: uint32(b.Rank), Channel: uint32(b.Channel),
				Block: uint32(b.Block), Step: uint32(b.Step), Waits: b.Waits, Peer: uint32(b.Peer), Who: b.Who(), Whom: b.Whom()})
		}
		if a.faults != nil {
			out.RedoneBytes = int64(a.kernel.Redone())
			out.Progress = wire.EncodeProgress(a.kernel.Progress())
		}
		if aborted {
			a.kernel.Abort()
		}
	}
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Finished{Finished: out}})
}
