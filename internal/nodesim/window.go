package nodesim

import (
	"time"

	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/payload"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// arrived takes frames of a peer: the kernel gets their headers, the payload
// their elements. A window that waited for them may begin.
func (a *actor) arrived(e *event) error {
	// Counts of frames see to it that all of a batch arrive before it is over.
	if a.wirings == nil || e.batch != a.batch {
		return wire.Failf(wire.Mismatch, "%s sends frames of batch %d, which is not the one that runs", a.names[e.from], e.batch)
	}
	for i := range e.frames {
		if err := a.take(e.from, &e.frames[i]); err != nil {
			return err
		}
	}
	if a.ending != nil {
		return a.maybeFinish()
	}
	return a.maybeRun()
}

// take takes one frame. What a peer says is checked: it may be of another build.
func (a *actor) take(from int, f *wire.Frame) error {
	if err := a.kernel.Check(&f.Header); err != nil {
		return wire.Failf(wire.Mismatch, "%s sends %v", a.names[from], err)
	}
	if f.Payload && !f.Credit && a.blind {
		a.discard(f)
	} else if f.Payload && !f.Credit {
		run, conn, _ := a.kernel.Locate(f.Conn)
		if a.machines[run] == nil {
			return wire.Failf(wire.Mismatch, "%s sends elements for run %d, which moves headers only", a.names[from], run)
		}
		a.machines[run].Put(conn, f.Take())
	}
	if !f.Alone {
		a.kernel.Accept(f.Header)
	}
	a.taken[from]++
	return nil
}

// granted takes the coordinator's leave to run a window.
func (a *actor) granted(g *railyardv1.Grant) error {
	if a.grant != nil || a.kernel == nil || a.wirings == nil || a.paced != nil {
		return wire.Failf(wire.Mismatch, "a grant while another is pending, without a batch, or under the paced clock")
	}
	for _, m := range g.GetFabricFrames() {
		h, err := wire.DecodeHeader(m)
		if err != nil {
			return wire.Failf(wire.Mismatch, "%v", err)
		}
		if err := a.kernel.Check(&h); err != nil {
			return wire.Failf(wire.Mismatch, "the fabric hands on %v", err)
		}
		a.kernel.Accept(h)
	}
	a.grant = g
	return a.maybeRun()
}

// maybeRun runs the granted window once every frame it needs is here.
func (a *actor) maybeRun() error {
	if a.grant == nil {
		return nil
	}
	if !a.holds(a.grant.GetExpect()) {
		return nil
	}
	g := a.grant
	a.grant = nil
	return a.window(g)
}

// holds reports whether all frames are here that others say they sent.
func (a *actor) holds(expect []*railyardv1.Expect) bool {
	for _, e := range expect {
		if p := int(e.GetParticipant()); p >= len(a.taken) || a.taken[p] < e.GetFrames() && !a.silent(p) {
			return false
		}
	}
	return true
}

// slice is how many events are handled before their effects are carried out:
// enough to amortise, few enough that payload in flight stays small.
const slice = 4096

// maxRecords is how many records of the timeline go into one report.
const maxRecords = 1 << 14

func (a *actor) window(g *railyardv1.Grant) error {
	until := shaping.Time(g.GetUntilPs())
	r := &railyardv1.Report{Round: g.GetRound()}
	out := a.newOutbox()
	for a.kernel.Next() < until {
		a.kernel.Run(until, slice)
		e := a.kernel.Effects()
		a.move(e.Moves)
		for i := range e.Out {
			a.post(&e.Out[i], out, r)
		}
		r.Ends = append(r.Ends, wire.EncodeEnds(e.Ends)...)
		r.Failures = append(r.Failures, wire.EncodeRunFailures(e.Failures)...)
		if err := a.records(e, r); err != nil {
			return err
		}
		a.kernel.Forget()
		if err := a.stillHere(r.GetRound()); err != nil {
			return err
		}
	}
	out.flush()
	r.NextPs, r.OutPs, r.NowPs = int64(a.kernel.Next()), int64(a.kernel.Out()), int64(a.kernel.Now())
	r.Sent, r.Events, r.SeenPs = out.sent(), a.kernel.Popped(), int64(a.kernel.Seen())
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Report{Report: r}})
}

// heartbeat is how long a window may last, in wall time, before the coordinator
// is told that it goes on.
const heartbeat = time.Second

func (a *actor) stillHere(round uint32) error {
	if time.Since(a.said) < heartbeat {
		return nil
	}
	return a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Report{
		Report: &railyardv1.Report{Round: round, More: true}}})
}

// move carries out on real elements what the kernel has decided.
func (a *actor) move(moves []kernel.Move) {
	for _, m := range moves {
		machine := a.machines[m.Run]
		if machine != nil && m.Flip > 0 {
			e, b := a.faults.Bit(int(m.Flip) - 1)
			machine.FlipWaiting(int(m.Block), int(m.Slice), e, b)
			continue
		}
		if machine != nil {
			machine.Apply(payload.Move{Block: m.Block, Step: m.Step, Slice: m.Slice, Loop: m.Loop})
		}
	}
}

// post sends a frame on its way: straight to the peer, or its header to the
// fabric with the report and its elements straight to the peer.
func (a *actor) post(e *kernel.Emission, out *outbox, r *railyardv1.Report) {
	f := wire.Frame{Header: e.Header}
	f.Payload = e.Payload && !a.blind
	to := e.To
	if to == a.owners.Shared {
		r.FabricFrames = append(r.FabricFrames, wire.EncodeHeader(&e.Header))
		if to = a.kernel.Host(e); to == a.self || !f.Payload {
			return // the elements are here already, or there are none
		}
		f.Alone = true
	}
	if f.Payload {
		f.Give(a.machines[e.Run].Take(int(e.Conn)))
	}
	out.add(to, f, e)
}

// records adds the timeline's records to the report; when there are many they
// go ahead in a part of their own.
func (a *actor) records(e *kernel.Effects, r *railyardv1.Report) error {
	for recs := e.Records; len(recs) > 0; {
		n := min(len(recs), maxRecords)
		part := &railyardv1.Report{Round: r.GetRound(), More: true, Records: wire.EncodeRecords(recs[:n])}
		if err := a.say(&railyardv1.SessionResponse{Response: &railyardv1.SessionResponse_Report{Report: part}}); err != nil {
			return err
		}
		recs = recs[n:]
	}
	return nil
}
