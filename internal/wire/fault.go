package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/proto"

	"github.com/railyard/railyard/emu"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// Struck is what strikes a session, and how it is borne.
type Struck struct {
	Faults  []emu.Fault
	Bear    emu.Resilience
	Seed    uint64
	Horizon shaping.Duration
}

// EncodeStruck returns s as it goes into Begin. A step of a plan has no place there:
// a rehearsal gives such a fault its instant first.
func EncodeStruck(s *Struck) *railyardv1.Struck {
	m := &railyardv1.Struck{Seed: s.Seed, HorizonPs: int64(s.Horizon), Resilience: &railyardv1.Resilience{
		IbTimeout: u32("ib_timeout", s.Bear.IBTimeout), IbRetry: u32("ib_retry", s.Bear.IBRetry),
		Failover: s.Bear.Failover, Failback: s.Bear.Failback, ProbePs: int64(s.Bear.Probe), RecoverPs: int64(s.Bear.Recover),
		SweepPs: int64(s.Bear.Sweep), ControlPs: int64(s.Bear.Control), WatchdogPs: int64(s.Bear.Watchdog)}}
	m.Faults = EncodeFaults(s.Faults)
	return m
}

func encodeFault(f *emu.Fault) *railyardv1.Fault {
	return &railyardv1.Fault{Name: text(f.Name), Type: text(f.Type), Target: text(f.Target),
		AtPs: int64(f.When.At), UntilPs: some(int64(f.When.Until)), EveryPs: some(int64(f.When.Every)), Times: some(u32("times", f.When.Times)), Chance: some(f.When.Chance),
		AfterOps:  u32("after_ops", f.When.AfterOps),
		Off:       f.Off,
		DownForPs: some(int64(f.DownFor)), Share: some(f.Share), Rate: some(int64(f.Rate)), LatencyPs: some(int64(f.Latency)), JitterPs: some(int64(f.Jitter)), Loss: some(f.Loss),
		Links: some(u32("links", f.Links)), Width: some(u32("width", f.Width)), Gen: some(u32("gen", f.Gen)),
		Element: proto.Int64(f.Element), Bit: proto.Int32(int32(f.Bit)), By: some(text(f.By)), Count: elements(f.Count)}
}

// elements is some for a count, of which 0 is one as well.
func elements(n int64) *int64 {
	if n == emu.NoElements {
		return proto.Int64(0)
	}
	return some(n)
}

// some returns a parameter as it is sent, not at all where a fault does not have it.
func some[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// empty notes parameters that were sent and are nothing: 0 stands for the default in
// a fault, which is not what somebody who sends it means.
func empty(bad *faults, in string, m *railyardv1.Fault) {
	r := m.ProtoReflect()
	fields := r.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if fd.HasOptionalKeyword() && r.Has(fd) && r.Get(fd).Equal(fd.Default()) && fd.Name() != "element" && fd.Name() != "bit" && fd.Name() != "count" {
			bad.note(fmt.Errorf("%s%s %q: must be more than nothing; leave it out for the default of the type", in, fd.Name(), r.Get(fd).String()))
		}
	}
}

// DecodeStruck returns what m says. Whether the faults can strike the cluster is
// for emu/fault to say.
func DecodeStruck(m *railyardv1.Struck) (Struck, error) {
	var bad faults
	r := m.GetResilience()
	s := Struck{Seed: m.GetSeed(), Horizon: shaping.Duration(m.GetHorizonPs()), Bear: emu.Resilience{
		IBTimeout: int(r.GetIbTimeout()), IBRetry: int(r.GetIbRetry()), Failover: r.GetFailover(), Failback: r.GetFailback(),
		Probe: shaping.Duration(r.GetProbePs()), Recover: shaping.Duration(r.GetRecoverPs()), Sweep: shaping.Duration(r.GetSweepPs()),
		Control: shaping.Duration(r.GetControlPs()), Watchdog: shaping.Duration(r.GetWatchdogPs())}}
	within(&bad, "resilience.ib_timeout", r.GetIbTimeout(), 0, 32)
	within(&bad, "resilience.ib_retry", r.GetIbRetry(), 0, 7)
	for _, d := range []struct {
		field string
		ps    int64
	}{{"probe_ps", r.GetProbePs()}, {"recover_ps", r.GetRecoverPs()}, {"sweep_ps", r.GetSweepPs()}, {"control_ps", r.GetControlPs()},
		{"watchdog_ps", r.GetWatchdogPs()}} {
		within(&bad, "resilience."+d.field, d.ps, 0, math.MaxInt64/4)
	}
	within(&bad, "horizon_ps", m.GetHorizonPs(), 0, math.MaxInt64/4)
	fs, err := DecodeFaults(m.GetFaults())
	s.Faults = fs
	bad.note(err)
	return s, bad.in("struck")
}

// EncodeFaults returns faults as they go to a coordinator.
func EncodeFaults(fs []emu.Fault) []*railyardv1.Fault {
	var out []*railyardv1.Fault
	for i := range fs {
		out = append(out, encodeFault(&fs[i]))
	}
	return out
}

// DecodeFaults returns the faults that ms are. Whether they can strike a cluster is
// for emu/fault to say.
func DecodeFaults(ms []*railyardv1.Fault) ([]emu.Fault, error) {
	var bad faults
	var out []emu.Fault
	for i, m := range ms {
		out = append(out, decodeFault(&bad, fmt.Sprintf("faults[%d].", i), m))
	}
	return out, bad.in("faults")
}

func decodeFault(bad *faults, in string, m *railyardv1.Fault) emu.Fault {
	f := emu.Fault{Name: m.GetName(), Off: m.GetOff(), Type: m.GetType(), Target: m.GetTarget(),
		When: emu.When{At: shaping.Duration(m.GetAtPs()), Until: shaping.Duration(m.GetUntilPs()), Every: shaping.Duration(m.GetEveryPs()),
			Times: int(m.GetTimes()), Chance: m.GetChance(), AfterOps: int(m.GetAfterOps())},
		DownFor: shaping.Duration(m.GetDownForPs()), Share: m.GetShare(), Rate: shaping.Rate(m.GetRate()),
		Latency: shaping.Duration(m.GetLatencyPs()), Jitter: shaping.Duration(m.GetJitterPs()), Loss: m.GetLoss(),
		Links: int(m.GetLinks()), Width: int(m.GetWidth()), Gen: int(m.GetGen()),
		Element: -1, Bit: -1, By: m.GetBy(), Count: m.GetCount()}
	if m.Element != nil {
		f.Element = m.GetElement()
	}
	if m.Bit != nil {
		f.Bit = int(m.GetBit())
	}
	if m.Count != nil && f.Count == 0 {
		f.Count = emu.NoElements
	}
	empty(bad, in, m)
	for _, v := range []struct {
		field string
		n     int64
	}{{"at_ps", m.GetAtPs()}, {"until_ps", m.GetUntilPs()}, {"every_ps", m.GetEveryPs()}, {"chance", m.GetChance()}, {"down_for_ps", m.GetDownForPs()},
		{"share", m.GetShare()}, {"rate", m.GetRate()}, {"latency_ps", m.GetLatencyPs()}, {"jitter_ps", m.GetJitterPs()}, {"loss", m.GetLoss()}} {
		within(bad, in+v.field, v.n, 0, math.MaxInt64/4)
	}
	within(bad, in+"times", m.GetTimes(), 0, math.MaxInt32)
	within(bad, in+"after_ops", m.GetAfterOps(), 0, math.MaxInt32)
	return f
}

// EncodeRunFailures returns what kernels gave up on as it goes into a Report.
func EncodeRunFailures(fs []emu.Failure) []*railyardv1.RunFailure {
	var out []*railyardv1.RunFailure
	for i := range fs {
		f := &fs[i]
		out = append(out, &railyardv1.RunFailure{Cause: wireCause(f.Cause), Run: u32("run", f.Run), Seq: f.Seq, Rank: u32("rank", f.Rank),
			Peer: u32("peer", f.Peer), Channel: u32("channel", f.Channel), Step: u32("step", f.Step), Link: text(f.Link), AtPs: int64(f.At)})
	}
	return out
}

// DecodeRunFailures returns what a Report says of a batch of so many runs.
func DecodeRunFailures(ms []*railyardv1.RunFailure, b *emu.Batch) ([]emu.Failure, error) {
	var bad faults
	var out []emu.Failure
	for i, m := range ms {
		in := fmt.Sprintf("failures[%d].", i)
		within(&bad, in+"run", int(m.GetRun()), 0, len(b.Runs)-1)
		within(&bad, in+"at_ps", m.GetAtPs(), 0, math.MaxInt64/2)
		if len(bad) > 0 {
			break
		}
		ranks := len(b.Runs[m.GetRun()].Comm)
		within(&bad, in+"rank", int(m.GetRank()), 0, ranks-1)
		within(&bad, in+"peer", int(m.GetPeer()), 0, ranks-1)
		out = append(out, emu.Failure{Cause: emuCause(m.GetCause()), Run: int(m.GetRun()), Seq: m.GetSeq(), Rank: int(m.GetRank()), Peer: int(m.GetPeer()),
			Channel: int(m.GetChannel()), Step: int(m.GetStep()), Link: m.GetLink(), Fault: -1, At: shaping.Time(m.GetAtPs())})
	}
	return out, bad.in("report")
}

// CauseOf returns the cause of a failed run.
func CauseOf(c emu.Cause) Cause {
	for _, k := range causes {
		if k.name == string(c) {
			return k.cause
		}
	}
	panic(fmt.Sprintf("wire: a cause %q has no place in the contract", c))
}

func wireCause(c emu.Cause) railyardv1.Cause {
	for _, k := range causes {
		if k.name == string(c) {
			return k.wire
		}
	}
	panic(fmt.Sprintf("wire: a cause %q has no place in the contract", c))
}

func emuCause(m railyardv1.Cause) emu.Cause {
	for _, k := range causes {
		if k.wire == m {
			return emu.Cause(k.name)
		}
	}
	return emu.Aborted
}

// EncodeProgress returns how far ranks have come as it goes into Finished.
func EncodeProgress(ps []emu.Progress) []*railyardv1.RankProgress {
	var out []*railyardv1.RankProgress
	for _, p := range ps {
		out = append(out, &railyardv1.RankProgress{Run: u32("run", p.Run), Rank: u32("rank", p.Rank),
			Entered: u32("entered", p.Entered), Finished: u32("finished", p.Finished)})
	}
	return out
}

// DecodeProgress returns what a Finished says of a batch.
func DecodeProgress(ms []*railyardv1.RankProgress, b *emu.Batch) ([]emu.Progress, error) {
	var bad faults
	var out []emu.Progress
	for i, m := range ms {
		in := fmt.Sprintf("progress[%d].", i)
		within(&bad, in+"run", int(m.GetRun()), 0, len(b.Runs)-1)
		if len(bad) > 0 {
			break
		}
		within(&bad, in+"rank", int(m.GetRank()), 0, len(b.Runs[m.GetRun()].Comm)-1)
		out = append(out, emu.Progress{Run: int(m.GetRun()), Rank: int(m.GetRank()), Entered: int(m.GetEntered()), Finished: int(m.GetFinished())})
	}
	return out, bad.in("finished")
}

func encodeCalls(m *railyardv1.Run, r *emu.Run) {
	for _, rank := range r.Absent {
		m.Absent = append(m.Absent, u32("absent", rank))
	}
	for _, o := range r.Odd {
		m.Odd = append(m.Odd, &railyardv1.OddCall{Rank: u32("odd", o.Rank), Says: text(o.Says)})
	}
	for _, l := range r.Late {
		m.Late = append(m.Late, &railyardv1.LateCall{Rank: u32("late", l.Rank), ByPs: int64(l.By)})
	}
	for _, run := range r.After {
		m.After = append(m.After, u32("after", int(run)+1))
	}
}

func decodeCalls(bad *faults, r *emu.Run, m *railyardv1.Run) {
	last := len(r.Comm) - 1
	for _, rank := range m.GetAbsent() {
		within(bad, "absent", int(rank), 0, last)
		r.Absent = append(r.Absent, int(rank))
	}
	for _, o := range m.GetOdd() {
		within(bad, "odd.rank", int(o.GetRank()), 0, last)
		r.Odd = append(r.Odd, emu.Odd{Rank: int(o.GetRank()), Says: o.GetSays()})
	}
	for _, l := range m.GetLate() {
		within(bad, "late.rank", int(l.GetRank()), 0, last)
		if l.GetByPs() < 0 {
			bad.note(fmt.Errorf("late.by_ps: %d must be 0 or more", l.GetByPs()))
		}
		r.Late = append(r.Late, emu.Late{Rank: int(l.GetRank()), By: shaping.Duration(l.GetByPs())})
	}
	if n := len(m.GetAfter()); n > 0 && n != len(r.Comm) {
		bad.note(fmt.Errorf("after: %d entries for %d ranks", n, len(r.Comm)))
	}
	for _, run := range m.GetAfter() {
		within(bad, "after", int(run), 0, math.MaxInt32)
		r.After = append(r.After, int32(run)-1)
	}
}
