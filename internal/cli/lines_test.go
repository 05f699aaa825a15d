package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/shaping/link"
)

// The files under testdata/lines hold command lines, what they print, and the
// code they exit with. -rewrite writes them anew.
//
//	run [NAME=value ...]   a line of coordinator, with an environment
//	nodesim                a line of nodesim
func TestLines(t *testing.T) {
	datadriven.Walk(t, "testdata/lines", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, f := newSession(t), &fake{}
			s.Hosts = played(s, f)
			for _, a := range d.CmdArgs {
				s.env[a.Key] = strings.Join(a.Vals, ",")
			}
			args := strings.Fields(d.Input)
			var code int
			switch d.Cmd {
			case "run":
				code = s.Run(context.Background(), args)
			case "nodesim":
				code = s.RunNodesim(context.Background(), args, func(_ context.Context, c NodesimConfig) error {
					fmt.Fprintf(s.Stdout, "%s: nodes %d to %d, joins %v of %s, %s, %s\n", c.Name, c.First, c.Last, c.Join, c.ClusterID, c.Listen, c.Gossip)
					return nil
				})
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			out := s.out.String() + s.err.String()
			if code != ExitOK {
				out += fmt.Sprintf("exit %d\n", code)
			}
			return out
		})
	})
}

// played are hosts that print what they are asked.
func played(s *session, f *fake) Hosts {
	return Hosts{
		Bench: f.bench, Predict: f.bench,
		Serve: func(_ context.Context, c ServeConfig) error {
			fmt.Fprintf(s.Stdout, "%d nodes, %s, %s, %s, %s\n", c.Cluster.Nodes(), c.ClusterID, c.Listen, c.Gossip, c.Wait)
			return nil
		},
		Up: func(_ context.Context, c UpConfig) error {
			fmt.Fprintf(s.Stdout, "%d nodes, %s, %s, %d procs, detach %v, %q\n", c.Cluster.Nodes(), c.ClusterID, c.Listen, c.Procs, c.Detach, c.Args)
			return nil
		},
		Down: func(_ context.Context, c DownConfig) error {
			fmt.Fprintf(s.Stdout, "down %s %s\n", c.ClusterID, c.Connect)
			return nil
		},
		Faults:  changed,
		Explain: func(context.Context, Reach) (Account, error) { return hung, nil },
		Status: func(_ context.Context, c StatusConfig) (Status, error) {
			st := Status{Coordinator: c.Connect, Version: "v1", ClusterID: c.ClusterID, State: "idle", Nodes: []NodeStatus{
				{Index: 0, System: "dgx-h100", GPUs: 8, NICs: 8, Process: "nodesim-0", Address: "127.0.0.1:9", State: "ready"},
				{Index: 10, System: "dgx-h100", GPUs: 1, NICs: 0, State: "missing"},
			}}
			if c.Ports {
				st.Ports = []PortStatus{{Name: "node0/nic0/out", Rate: "49GB/s", Struck: "at 30us down"}}
				st.Faults = []FaultStatus{{Name: "down-1", Type: "down", Target: "node0/nic0", Parameters: []FaultParameter{{"at", "30us"}}}}
				st.CutOff = []CutOff{{[]string{"coordinator", "node0"}, []string{"node1"}, "apart"}, {[]string{"node1"}, []string{"coordinator", "node0"}, "parting"},
					{[]string{"node2"}, strings.Fields("a b c d e f g h i j"), "meeting"}}
				st.Effect, st.Last = []string{"node1/gpu0: hung at 1ms"}, &hung
			}
			return st, nil
		},
		Proxy: func(_ context.Context, c ProxyConfig, ready func(string)) (ProxyReport, error) {
			ready("127.0.0.1:4711")
			return ProxyReport{Connections: 2, Refused: 1, Up: link.Stats{Bytes: 1000, Segments: 3, Overrun: int64(c.Seed)}}, nil
		},
	}
}

// Whatever is typed, the program ends with one of its codes and says why.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		"bench all_reduce -b 8 -e 1G -f 2", "bench all_gather --cluster x --nodes 3", "predict -b -e -f", "nodesim --nodes 3-5",
		"serve --listen :0 --wait 1s", "plan import --x=y", "status --connect a:1", "validate", "-h", "bench all_reduce -TQJx --quiet=no",
		"bench all_reduce --print-effective --seed 3 --fabric rail-ndr", "completion bash", "topo import x --out y", "topo matrix x --machine y", "topo export x", "__complete bench --", "help bench",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s := newSession(t)
		s.ReadFile = func(string) ([]byte, error) { return []byte("kind: Cluster\n"), nil }
		s.WriteFile = func(string, []byte) error { return nil }
		code := s.Run(context.Background(), strings.Fields(line))
		if code != ExitOK && code != ExitUsage || code == ExitUsage && s.err.Len() == 0 {
			t.Errorf("%q: exit code %d, %s", line, code, s.err.String())
		}
	})
}

// hung is a bench that a GPU which never finishes has ended.
// changed is what becomes of faults.
func changed(_ context.Context, c FaultConfig) ([]FaultStatus, error) {
	switch {
	case c.Verb == FaultAdd:
		f := NewFaultStatus(&c.Fault)
		f.Live = running[c.Fault.Name]
		return []FaultStatus{f}, nil
	case c.Verb == FaultRemove && c.Names != nil:
		return []FaultStatus{{Name: c.Names[0], Live: running[c.Names[0]]}}, nil
	}
	return nil, nil
}

// running is what is said of a bench that runs, by the name of the fault.
var running = map[string]*FaultLive{
	"soon":  {Running: "all_reduce on 4 GPUs", At: &now},
	"stays": {Running: "all_reduce on 4 GPUs", At: &now, But: "what is broken stays so until the next bench: stays"},
	"later": {Running: "all_reduce on 4 GPUs", But: "strikes from its next half row on"},
}

var now = int64(1_500_000_000)

var hung = Account{What: "all_reduce on 4 GPUs", Verdict: "failed", RowsDone: 1, Rows: 2, Accounts: []AccountRow{{"8 bytes of float, ring ll", "waited"}},
	Faults: []string{"gpu-hang-1"}, Redone: 7, Deaths: []string{"node1 was killed by a fault"},
	Perturbed: &now, Changes: []string{"at 1.5ms added down-1: down node0/nic0 at=1.5ms"},
	Failure: &AccountFailure{Cause: "timeout", Hang: "missing-exit", Text: "rank 3 does not go on", Row: "16 bytes of float, in place", Rank: 3, Link: "", At: 5},
	Ranks:   []AccountRank{{0, 0, 0, 0, 1, 0, "ok"}, {0, 1, 0, 1, 1, 0, "ok"}, {0, 2, 1, 0, 0, -1, "ok"}, {0, 3, 1, 1, 0, -1, "lost"}},
	Waiting: []AccountWait{{"rank 0", "rank 3", "data", 0, 1, 5}}}
