package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// Account is what became of a bench on a cluster that stays.
type Account struct {
	What     string          `json:"what"` // empty: there was none
	Verdict  string          `json:"verdict"`
	RowsDone int             `json:"rows_done"`
	Rows     int             `json:"rows"`
	Accounts []AccountRow    `json:"accounts"`
	Faults   []string        `json:"faults"` // that it ran under
	Failure  *AccountFailure `json:"failure"`
	Ranks    []AccountRank   `json:"ranks"` // when it failed
	Waiting  []AccountWait   `json:"waiting"`
	Redone   int64           `json:"redone_bytes"` // sent again by transports
	Deaths   []string        `json:"deaths"`
	// Perturbed is from when on it was not a matter of what was declared before: faults
	// changed, or a process died that no fault was to kill.
	Perturbed *int64   `json:"perturbed_ps"`
	Changes   []string `json:"changes"` // of faults, while it ran
}

// AccountRow is where the time of a row went.
type AccountRow struct {
	Row   string `json:"row"`
	Where string `json:"where"`
}

// AccountFailure is why a bench failed. Positions that mean nothing are -1.
type AccountFailure struct {
	Cause   string `json:"cause"`
	Hang    string `json:"hang"` // in the words of NCCL RAS; empty: it did not hang
	Text    string `json:"text"`
	Row     string `json:"row"`
	Rank    int    `json:"rank"`
	Channel int    `json:"channel"`
	Step    int    `json:"step"`
	Peer    int    `json:"peer"`
	Link    string `json:"link"`
	Seq     int64  `json:"seq"`
	Fault   string `json:"fault"`
	At      int64  `json:"at_ps"`    // -1: no event of emulated time
	Abort   int64  `json:"abort_ps"` // when every rank had been told
}

// AccountRank is how far a rank came: sequence numbers of the operations of its
// communicator that it entered and finished last, -1 for none.
type AccountRank struct {
	Comm     int    `json:"comm"`
	Rank     int    `json:"rank"`
	Node     int    `json:"node"`
	GPU      int    `json:"gpu"`
	Entered  int64  `json:"entered"`
	Finished int64  `json:"finished"`
	State    string `json:"state"` // "ok", "lost", "silent" or "never entered"
}

// AccountWait is who waits for whom.
type AccountWait struct {
	Who     string `json:"who"`
	Whom    string `json:"whom"`
	For     string `json:"for"` // "data", "slot" or "step"
	Comm    int    `json:"comm"`
	Channel int    `json:"channel"`
	Step    int    `json:"step"`
}

func (a *App) explain() *cobra.Command {
	var c Reach
	settings := c.settings()
	cmd := &cobra.Command{
		Use: "explain", Short: "Say what the last bench of a cluster that is up did, and why it failed",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.read(a, cmd, settings); err != nil {
				return err
			}
			if a.Hosts.Explain == nil {
				return &ExitError{ExitUsage, notYet("explain")}
			}
			e, err := a.Hosts.Explain(cmd.Context(), c)
			if err != nil {
				return err
			}
			return e.write(a.Stdout, c.Format)
		},
	}
	register(cmd, settings)
	return cmd
}

func (e *Account) write(w io.Writer, format string) error {
	if format == "json" {
		return json.NewEncoder(w).Encode(e)
	}
	if e.What == "" {
		_, err := fmt.Fprintln(w, "nothing has run yet")
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "last run: %s: %s, %d of %d rows\n", e.What, e.Verdict, e.RowsDone, e.Rows)
	say := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", what, text)
		}
	}
	say("under faults", strings.Join(e.Faults, ", "))
	for _, r := range e.Accounts {
		say("  "+r.Row, r.Where)
	}
	if e.Redone > 0 {
		fmt.Fprintf(&b, "sent again: %d bytes\n", e.Redone)
	}
	for _, d := range e.Deaths {
		say("death", d)
	}
	if e.Perturbed != nil {
		why := "a process died that no fault was to kill"
		if len(e.Changes) > 0 {
			why = "faults changed while it ran"
		}
		fmt.Fprintf(&b, "perturbed from %d ps on: %s\n", *e.Perturbed, why)
	}
	for _, c := range e.Changes {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	if f := e.Failure; f != nil {
		say("failed in", f.Row)
		say("cause", f.Cause)
		say("hang", f.Hang)
		say("why", f.Text)
		say("link", f.Link)
	}
	e.writeRanks(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// writeRanks prints ranks that came as far in one line, as NCCL RAS does, then who
// waits for whom.
func (e *Account) writeRanks(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	if len(e.Ranks) > 0 {
		fmt.Fprintln(t, "COMM\tRANKS\tENTERED LAST\tFINISHED LAST\tSTATE")
	}
	for i := 0; i < len(e.Ranks); {
		r, j := e.Ranks[i], i+1
		for j < len(e.Ranks) && e.Ranks[j].Comm == r.Comm && e.Ranks[j].Entered == r.Entered && e.Ranks[j].Finished == r.Finished && e.Ranks[j].State == r.State {
			j++
		}
		who := fmt.Sprintf("%d (node%d/gpu%d)", r.Rank, r.Node, r.GPU)
		if last := e.Ranks[j-1]; j > i+1 {
			who = fmt.Sprintf("%d-%d (node%d/gpu%d to node%d/gpu%d)", r.Rank, last.Rank, r.Node, r.GPU, last.Node, last.GPU)
		}
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", r.Comm, who, sequence(r.Entered), sequence(r.Finished), r.State)
		i = j
	}
	_ = t.Flush() // a strings.Builder takes everything
	const most = 16
	for i, x := range e.Waiting {
		if i == most {
			fmt.Fprintf(b, "  … and %d more\n", len(e.Waiting)-most)
			return
		}
		fmt.Fprintf(b, "  %s waits for %s of %s (channel %d, step %d)\n", x.Who, x.For, x.Whom, x.Channel, x.Step)
	}
}

func sequence(n int64) string {
	if n < 0 {
		return "none"
	}
	return fmt.Sprint(n)
}
