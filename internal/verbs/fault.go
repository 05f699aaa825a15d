package verbs

import (
	"context"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// reach connects to the cluster that a command line means.
func reach(ctx context.Context, r *cli.Reach) (*coordinator.Client, string, error) {
	addr, err := address(r)
	if err != nil {
		return nil, "", err
	}
	c, err := coordinator.Connect(ctx, addr)
	return c, addr, err
}

// faults does something to the faults in force on a running cluster.
func (v verbs) faults(ctx context.Context, c cli.FaultConfig) ([]cli.FaultStatus, error) {
	client, _, err := reach(ctx, &c.Reach)
	if err != nil {
		return nil, coded(ctx, err)
	}
	defer client.Close()
	var all []emu.Fault
	var live coordinator.Live
	switch c.Verb {
	case cli.FaultAdd:
		all, live, err = client.AddFaults(ctx, c.Fault)
	case cli.FaultRemove:
		all, live, err = client.RemoveFaults(ctx, c.Names...)
	default:
		all, err = client.Faults(ctx)
	}
	out := faultStatus(all)
	for i := range out {
		out[i].Live = faultLive(&live)
	}
	return out, coded(ctx, err)
}

func faultLive(l *coordinator.Live) *cli.FaultLive {
	if l.Running == "" {
		return nil
	}
	out := &cli.FaultLive{Running: l.Running, But: l.But}
	if l.At > 0 {
		out.At = (*int64)(&l.At)
	}
	return out
}

func faultStatus(all []emu.Fault) []cli.FaultStatus {
	out := []cli.FaultStatus{}
	for i := range all {
		out = append(out, cli.NewFaultStatus(&all[i]))
	}
	return out
}

// explain says what the last bench of a running cluster did.
func (v verbs) explain(ctx context.Context, r cli.Reach) (cli.Account, error) {
	client, _, err := reach(ctx, &r)
	if err != nil {
		return cli.Account{}, coded(ctx, err)
	}
	defer client.Close()
	m, err := client.Explain(ctx)
	if err != nil {
		return cli.Account{}, coded(ctx, err)
	}
	return account(m), nil
}

// account translates what a coordinator says of a bench.
func account(m *railyardv1.ExplainResponse) cli.Account {
	a := cli.Account{What: m.GetWhat(), Verdict: m.GetVerdict(), RowsDone: int(m.GetRowsDone()), Rows: int(m.GetRows()), Accounts: []cli.AccountRow{},
		Faults: append([]string{}, m.GetFaults()...), Redone: m.GetRedoneBytes(), Deaths: append([]string{}, m.GetDeaths()...), Perturbed: m.PerturbedPs,
		Changes: append([]string{}, m.GetChanges()...),
		Ranks:   []cli.AccountRank{}, Waiting: []cli.AccountWait{}}
	for _, r := range m.GetAccounts() {
		a.Accounts = append(a.Accounts, cli.AccountRow{Row: r.GetRow(), Where: r.GetText()})
	}
	if m.GetFailure() != nil {
		f := wire.DecodeFailure(m.GetFailure())
		a.Failure = &cli.AccountFailure{Cause: f.Cause.String(), Hang: m.GetHang(), Text: f.Text, Row: m.GetRow(), Rank: f.Place.Rank, Channel: f.Place.Channel,
			Step: f.Place.Step, Peer: f.Place.Peer, Link: f.Place.Link, Seq: m.GetSeq(), Fault: m.GetFault(), At: -1, Abort: m.GetAbortPs()}
		if f.At != wire.NoInstant {
			a.Failure.At = int64(f.At)
		}
	}
	for _, r := range m.GetRanks() {
		state := "ok"
		switch {
		case r.GetSilent():
			state = "silent: its process is gone"
		case m.GetHang() == string(emu.MissingEnter) && r.GetEntered() < m.GetSeq():
			state = "never entered"
		case r.GetLost():
			state = "lost"
		}
		a.Ranks = append(a.Ranks, cli.AccountRank{Comm: int(r.GetRun()), Rank: int(r.GetRank()), Node: int(r.GetNode()), GPU: int(r.GetGpu()),
			Entered: r.GetEntered(), Finished: r.GetFinished(), State: state})
	}
	for _, w := range m.GetWaiting() {
		a.Waiting = append(a.Waiting, cli.AccountWait{Who: w.GetWho(), Whom: w.GetWhom(), For: w.GetWaits(), Comm: int(w.GetRun()),
			Channel: int(w.GetChannel()), Step: int(w.GetStep())})
	}
	return a
}
