package coordinator

import (
	"runtime"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// TestFaultsInForce: faults are added with names, all or none, listed and taken back.
func TestFaultsInForce(t *testing.T) {
	t.Parallel()
	c := serve(t).connect()
	ctx := t.Context()
	got, _, err := c.AddFaults(ctx, emu.Fault{Type: "Xid79", Target: "node1/gpu0", When: at(ms)}, emu.Fault{Name: "mine", Type: "down", Target: "node0/nic0"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "gpu-lost-1" || got[0].Type != "gpu-lost" || got[1].Name != "mine" {
		t.Errorf("added %+v", got)
	}
	for _, bad := range []struct {
		faults []emu.Fault
		says   string
	}{
		{[]emu.Fault{{Type: "down", Target: "node0/nic1"}, {Type: "down", Target: "node9/nic0"}}, "target: "},
		{[]emu.Fault{{Type: "dwon", Target: "node0/nic0"}}, "did you mean"},
		{[]emu.Fault{{Name: "mine", Type: "down", Target: "node0/nic1"}}, "a fault of that name is in force"},
		{[]emu.Fault{{Type: "down", Target: "node0/nic1", When: emu.When{AfterOps: 3}}}, "scenario"},
		{[]emu.Fault{{Type: "reorder", Target: "node0/gpu0"}}, "scenario"},
		{[]emu.Fault{{Type: "coordinator-crash", When: at(ms)}}, "would end the cluster"},
	} {
		if _, _, err := c.AddFaults(ctx, bad.faults...); err == nil || cause(t, err).Cause != wire.Config || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%+v: %v, want %q", bad.faults, err, bad.says)
		}
	}
	if all, err := c.Faults(ctx); err != nil || len(all) != 2 || all[1].Target != "node0/nic0" || all[0].When.At != ms {
		t.Errorf("in force: %+v, %v", all, err)
	}
	if _, _, err := c.RemoveFaults(ctx, "mine", "mnie"); err == nil || !strings.Contains(err.Error(), `did you mean "mine"`) {
		t.Errorf("an unknown name: %v", err)
	}
	if gone, _, err := c.RemoveFaults(ctx, "mine"); err != nil || len(gone) != 1 || gone[0].Name != "mine" {
		t.Errorf("removed %+v, %v", gone, err)
	}
	if gone, _, err := c.RemoveFaults(ctx); err != nil || len(gone) != 1 || gone[0].Name != "gpu-lost-1" {
		t.Errorf("reset removed %+v, %v", gone, err)
	}
}

// TestBenchUnderFaults: a bench on a cluster with faults takes the time that predict
// says, one that fails says who waits for whom, and the cluster serves the next.
func TestBenchUnderFaults(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c, ctx, spec := s.connect(), t.Context(), single("ring")
	slow := []emu.Fault{{Name: "slow", Type: "rate", Target: "node1/nic0", Share: fault.Whole / 4}, {Name: "far", Type: "latency", Target: "node2/nic1", Latency: 3 * us}}
	if _, _, err := c.AddFaults(ctx, slow...); err != nil {
		t.Fatal(err)
	}
	got, err := s.bench(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	want, sound := foreseeUnder(t, spec, slow), foresee(t, trio(), spec).rows[0].OutOfPlace.Time
	if len(got.rows) != 1 || got.rows[0].OutOfPlace.Time != want || want <= sound || !right(got.rows[0].OutOfPlace) {
		t.Errorf("under faults %+v, predict says %v, without faults %v", got.rows, want, sound)
	}
	if m, err := c.Explain(ctx); err != nil || m.GetVerdict() != "done" || strings.Join(m.GetFaults(), " ") != "slow far" || len(m.GetAccounts()) != 1 {
		t.Errorf("explained as %v, %v", m, err)
	}
	if _, _, err := c.RemoveFaults(ctx); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fault emu.Fault
		cause wire.Cause
		hang  emu.Hang
	}{
		{emu.Fault{Type: "gpu-hang", Target: "node1/gpu2", When: at(30 * us)}, wire.Timeout, emu.MissingExit},
		{emu.Fault{Type: "skip", Target: "node1/gpu2", When: emu.When{AfterOps: 1}}, wire.Timeout, emu.MissingEnter},
		{emu.Fault{Type: "gpu-lost", Target: "node1/gpu2", When: at(30 * us)}, wire.PeerLost, ""},
		{emu.Fault{Type: "mismatch", Target: "node1/gpu2"}, wire.Mismatch, emu.SignatureMismatch},
	} {
		added, _, err := c.AddFaults(ctx, test.fault)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.bench(ctx, spec)
		f := cause(t, err)
		if f.Cause != test.cause || f.Place.Rank != 5 || f.At == wire.NoInstant || f.ExitCode() != 1 {
			t.Errorf("%s: %+v, want %v of rank 5", test.fault.Type, f, test.cause)
		}
		m, err := c.Explain(ctx)
		if err != nil || m.GetVerdict() != "failed" || m.GetHang() != string(test.hang) || len(m.GetRanks()) != 9 || m.GetFailure().GetText() != f.Text {
			t.Fatalf("%s: explained as %v, %v", test.fault.Type, m, err)
		}
		r := m.GetRanks()[5]
		if r.GetNode() != 1 || r.GetGpu() != 2 || test.cause != wire.Mismatch && (!r.GetLost() || r.GetFinished() >= m.GetSeq()) {
			t.Errorf("%s: rank 5 is %v in operation %d", test.fault.Type, r, m.GetSeq())
		}
		if test.hang == emu.MissingEnter && (r.GetEntered() != -1 || m.GetRanks()[4].GetEntered() != 0) {
			t.Errorf("%s: rank 5 is %v, rank 4 %v, want one that never entered", test.fault.Type, r, m.GetRanks()[4])
		}
		if test.hang == emu.MissingExit && len(m.GetWaiting()) == 0 {
			t.Errorf("%s: nobody waits", test.fault.Type)
		}
		if st, err := c.Status(ctx); err != nil || len(st.GetFaults()) != 1 || st.GetLast().GetVerdict() != "failed" {
			t.Errorf("%s: status %v, %v", test.fault.Type, st, err)
		}
		if _, _, err := c.RemoveFaults(ctx, added[0].Name); err != nil {
			t.Fatal(err)
		}
	}
	got, err = s.bench(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := identical(got.timeline, foresee(t, trio(), spec).timeline); err != nil {
		t.Errorf("after faults that are gone: %v", err)
	}
}

// foreseeUnder returns the time out of place of a sweep's one row under faults.
func foreseeUnder(t *testing.T, spec sweep.Spec, faults []emu.Fault) (d shaping.Duration) {
	t.Helper()
	f, err := fault.Fabric(trio(), faults)
	if err != nil {
		t.Fatal(err)
	}
	s, err := fault.Compile(f, faults, spec.Seed, horizon)
	if err != nil {
		t.Fatal(err)
	}
	sw, err := sweep.New(f, spec)
	if err != nil {
		t.Fatal(err)
	}
	p := predict.NewFaulty(f, false, s, emu.DefaultResilience())
	err = sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		out, err := p.Execute(b)
		return sweep.Result{Outcome: out}, err
	}, func(r sweep.Row) error { d = r.OutOfPlace.Time; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestBenchNamesDeadLink: a transport that gives up names the link, and a cluster
// that has lost a process to a fault gathers again.
func TestBenchNamesDeadLink(t *testing.T) {
	t.Parallel()
	s := serve(t)
	c, ctx := s.connect(), t.Context()
	if _, _, err := c.AddFaults(ctx, emu.Fault{Type: "down", Target: "node1/nic0", When: at(30 * us)}); err != nil {
		t.Fatal(err)
	}
	_, err := s.bench(ctx, single("ring"))
	if f := cause(t, err); f.Cause != wire.LinkDown || !strings.Contains(f.Place.Link, "node1") || f.Place.Peer < 0 || f.Place.Channel < 0 {
		t.Errorf("a dead NIC: %+v", f)
	}
	if _, _, err := c.RemoveFaults(ctx); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.AddFaults(ctx, emu.Fault{Type: "kill", Target: "node1", When: at(30 * us)}); err != nil {
		t.Fatal(err)
	}
	_, err = s.bench(ctx, single("ring"))
	if f := cause(t, err); f.Cause != wire.PeerLost || f.At == wire.NoInstant {
		t.Errorf("a killed process: %+v", f)
	}
	// It waits for the dead to be started again.
	for {
		m, err := c.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if m.GetLost() != nil {
			if m.GetState() != railyardv1.ClusterState_CLUSTER_STATE_ASSEMBLING || m.GetLost().GetMember() == "" {
				t.Errorf("status, after a death: %v", m)
			}
			return
		}
		runtime.Gosched()
	}
}

// TestMiscallOfTheRightCount: a call with the count that the others have is none that
// goes wrong; every other is.
func TestMiscallOfTheRightCount(t *testing.T) {
	f, err := fabric.New(trio())
	if err != nil {
		t.Fatal(err)
	}
	for count, odd := range map[int64]int{1000: 0, 999: 1, 1001: 1} {
		sch, err := fault.Compile(f, []emu.Fault{{Type: "mismatch", Target: "node1/gpu0", Count: count}}, 1, ms)
		if err != nil {
			t.Fatal(err)
		}
		b := emu.Batch{Runs: []emu.Run{{Comm: f.All(), Count: 1000}}}
		(&session{schedule: sch}).miscall(&b, 0)
		if got := len(b.Runs[0].Odd); got != odd {
			t.Errorf("count %d: %d calls are odd, want %d", count, got, odd)
		}
	}
}
