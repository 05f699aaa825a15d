package collective

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestPlans prints small plans, and what Check says about plans that were
// damaged on purpose. To rewrite the goldens, run the test with -rewrite.
//
//	plan algo=ring op=all_reduce nodes=1 gpus=4 channels=1 [proto=ll] [slices=1] [root=2] [ranks=(0,1)]
//	check algo=… [in-place]
//	drop rank=1 block=0 step=3        one line for each damage:
//	src  rank=1 block=0 step=3 to=2   another source index
//	dst  rank=1 block=0 step=3 to=2   another destination index
//	send rank=1 block=0 peer=0 to=3   another peer to send to
//	recv rank=1 block=0 peer=0 to=3   another peer to receive from
//	nodeps rank=1 block=0 step=3      no dependencies
//	kind rank=1 block=0 step=3 to=recv
//	slots to=4
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			p, err := build(t, d)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			var out strings.Builder
			switch d.Cmd {
			case "plan":
				var ranks []int
				d.MaybeScanArgs(t, "ranks", &ranks)
				if err := Print(&out, p, ranks...); err != nil {
					t.Fatal(err)
				}
			case "check":
				p = damaged(t, p, d.Input)
				if err := check(p, d.HasArg("in-place")); err != nil {
					return strings.ReplaceAll(err.Error(), "; ", ";\n  ") + "\n"
				}
				out.WriteString("ok\n")
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			return out.String()
		})
	})
}

func build(t *testing.T, d *datadriven.TestData) (*Plan, error) {
	var algo, op string
	nodes, gpus, o := 1, 4, Options{Channels: 1}
	proto := Simple.String()
	d.ScanArgs(t, "algo", &algo)
	d.ScanArgs(t, "op", &op)
	d.MaybeScanArgs(t, "nodes", &nodes)
	d.MaybeScanArgs(t, "gpus", &gpus)
	d.MaybeScanArgs(t, "channels", &o.Channels)
	d.MaybeScanArgs(t, "slices", &o.Slices)
	d.MaybeScanArgs(t, "root", &o.Root)
	d.MaybeScanArgs(t, "proto", &proto)
	o.Protocol = Protocol(slices.Index(protocolNames[:], proto))
	return Build(algo, Op(slices.Index(opNames[:], op)), Uniform(nodes, gpus), o)
}

// unrolled returns a plan that can be changed step by step: nothing is shared,
// and indices are chunks.
func unrolled(p *Plan) (*Plan, [][]Block) {
	ranks := make([][]Block, p.Ranks)
	for r := range ranks {
		for _, b := range p.Rank(r) {
			b.SendTo, b.RecvFrom = slices.Clone(b.SendTo), slices.Clone(b.RecvFrom)
			b.Steps = slices.Clone(b.Steps)
			for i := range b.Steps {
				s := &b.Steps[i]
				s.Src.Index, s.Dst.Index = b.chunk(s.Src), b.chunk(s.Dst)
				s.Deps = slices.Clone(s.Deps)
			}
			b.Window = Window{}
			ranks[r] = append(ranks[r], b)
		}
	}
	return NewPlan(*p, func(rank int) []Block { return ranks[rank] }), ranks
}

// damaged returns a plan changed as the lines of a script say.
func damaged(t *testing.T, p *Plan, script string) *Plan {
	p, ranks := unrolled(p)
	for line := range strings.Lines(script) {
		var what, kind string
		var rank, block, step, peer, to int
		for _, word := range strings.Fields(line) {
			key, v, ok := strings.Cut(word, "=")
			if !ok {
				what = word
				continue
			}
			if key == "to" && what == "kind" {
				kind = v
				continue
			}
			into := map[string]*int{"rank": &rank, "block": &block, "step": &step, "peer": &peer, "to": &to}[key]
			if _, err := fmt.Sscan(v, into); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
		}
		b := &ranks[rank][block]
		switch what {
		case "drop":
			b.Steps = slices.Delete(b.Steps, step, step+1)
		case "src":
			b.Steps[step].Src.Index = to
		case "dst":
			b.Steps[step].Dst.Index = to
		case "send":
			b.SendTo[peer] = to
		case "recv":
			b.RecvFrom[peer] = to
		case "nodeps":
			b.Steps[step].Deps = nil
		case "kind":
			b.Steps[step].Kind = StepKind(slices.Index(stepNames[:], kind))
		case "slots":
			p.Slots = to
		default:
			t.Fatalf("unknown damage %q", what)
		}
	}
	return p
}

// explicit returns a plan made of the given blocks, rank by rank.
func explicit(p Plan, ranks ...[]Block) *Plan {
	p.Ranks = len(ranks)
	p.Channels = max(p.Channels, 1)
	p.Chunks = max(p.Chunks, 1)
	p.Slots, p.ChunkSteps, p.SliceSteps = 8, max(p.ChunkSteps, 1), 1
	for _, blocks := range ranks {
		p.Blocks = max(p.Blocks, len(blocks))
	}
	return NewPlan(p, func(rank int) []Block { return ranks[rank] })
}
