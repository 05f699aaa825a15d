package msccl

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/railyard/railyard/collective"
)

// Limits of the runtimes that a file of ours may exceed: blocks of a gpu and
// steps of a block in RCCL and in microsoft/msccl.
const (
	rcclBlocks, rcclSteps   = 64, 64
	mscclBlocks, mscclSteps = 216, 256
)

// Export writes a plan as MSCCL XML. It returns what other runtimes may not
// take. A block that talks to several peers becomes one for each of them; a
// plan with blocks in switches has no such form and is refused, as is one that
// is wrong.
func Export(w io.Writer, p *collective.Plan) (notes []string, err error) {
	in, out := p.Op.Parts(p.Ranks)
	coll, ok := exported[p.Op]
	if !ok {
		return nil, fmt.Errorf("%s has no name in MSCCL; it knows %s", p.Op, "allreduce, allgather, reduce_scatter, alltoall, reduce, broadcast, gather, scatter, custom")
	}
	apart, together := collective.Judge(p, false).Err, collective.Judge(p, true).Err
	if apart != nil && together != nil {
		return nil, fmt.Errorf("plan %s is not right in either layout: %w", p.Algorithm, apart)
	}
	e := exporter{plan: p, out: bufio.NewWriter(w), input: in * p.Chunks, output: out * p.Chunks}
	fmt.Fprintf(e.out, "<algo name=\"%s\" proto=\"%s\" nchannels=\"%d\" nchunksperloop=\"%d\" ngpus=\"%d\" coll=\"%s\" inplace=\"%d\" outofplace=\"%d\" minBytes=\"0\" maxBytes=\"0\">\n",
		escape(p.Algorithm), protoNames[p.Protocol], p.Channels, max(e.input, e.output), p.Ranks, coll, bit(together == nil), bit(apart == nil))
	for r := range p.Ranks {
		if err := e.gpu(r); err != nil {
			return nil, err
		}
	}
	fmt.Fprintln(e.out, "</algo>")
	return e.notes(), e.out.Flush()
}

var exported = map[collective.Op]string{
	collective.AllReduce: "allreduce", collective.AllGather: "allgather", collective.ReduceScatter: "reduce_scatter",
	collective.AllToAll: "alltoall", collective.Reduce: "reduce", collective.Broadcast: "broadcast",
	collective.Gather: "gather", collective.Scatter: "scatter", collective.Custom: "custom",
}

var protoNames = map[collective.Protocol]string{collective.Simple: "Simple", collective.LL: "LL", collective.LL128: "LL128"}

type exporter struct {
	plan          *collective.Plan
	out           *bufio.Writer
	input, output int // chunks
	blocks, steps int // the most of a gpu, of a block
}

func (e *exporter) gpu(rank int) error {
	s := splitter{plan: e.plan, rank: rank, blocks: e.plan.Rank(rank), scratch: e.plan.Scratch}
	if err := s.split(); err != nil {
		return err
	}
	input, output := e.input, e.output
	switch {
	case e.plan.Op == collective.Broadcast && rank != e.plan.Root, e.plan.Op == collective.Scatter && rank != e.plan.Root:
		input = 0 // how readers know the root
	case e.plan.Op == collective.Gather && rank != e.plan.Root:
		output = 0
	}
	fmt.Fprintf(e.out, "  <gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"%d\">\n", rank, input, output, s.scratch)
	e.blocks = max(e.blocks, len(s.out))
	told := s.told()
	for i := range s.out {
		b := &s.out[i]
		fmt.Fprintf(e.out, "    <tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", i, b.send, b.recv, b.channel)
		n := 0
		for k := range b.steps {
			n += e.step(n, &b.steps[k], told[place{i, k}], s.numbers)
		}
		e.steps = max(e.steps, n)
		fmt.Fprintln(e.out, "    </tb>")
	}
	fmt.Fprintln(e.out, "  </gpu>")
	return nil
}

var typeNames = map[collective.StepKind]string{
	collective.Nop: "nop", collective.Send: "s", collective.Recv: "r", collective.RecvCopySend: "rcs", collective.RecvReduceCopy: "rrc",
	collective.RecvReduceSend: "rrs", collective.RecvReduceCopySend: "rrcs", collective.Copy: "cpy", collective.ReduceLocal: "re",
}

// step writes a step, and a nop before it for each dependency but the last. It
// returns how many steps that makes.
func (e *exporter) step(n int, s *piece, told bool, number map[place]int) int {
	for i, d := range s.deps {
		if i < len(s.deps)-1 {
			fmt.Fprintf(e.out, "      <step s=\"%d\" type=\"nop\" srcbuf=\"i\" srcoff=\"-1\" dstbuf=\"o\" dstoff=\"-1\" cnt=\"0\" depid=\"%d\" deps=\"%d\" hasdep=\"0\"/>\n", n+i, d.block, number[d])
		}
	}
	n += max(len(s.deps)-1, 0)
	dep, at := -1, -1
	if k := len(s.deps); k > 0 {
		dep, at = s.deps[k-1].block, number[s.deps[k-1]]
	}
	fmt.Fprintf(e.out, "      <step s=\"%d\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" dstoff=\"%d\" cnt=\"%d\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n",
		n, typeNames[s.kind], bufferNames[s.src.Buffer], s.src.Index, bufferNames[s.dst.Buffer], s.dst.Index, s.count, dep, at, bit(told))
	return s.size()
}

var bufferNames = map[collective.Buffer]string{collective.Input: "i", collective.Output: "o", collective.Scratch: "s"}

// notes says which runtimes will not take the file.
func (e *exporter) notes() (all []string) {
	if e.blocks > rcclBlocks || e.steps > rcclSteps {
		all = append(all, fmt.Sprintf("up to %d blocks a gpu and %d steps a block: RCCL takes %d and %d", e.blocks, e.steps, rcclBlocks, rcclSteps))
	}
	if e.blocks > mscclBlocks || e.steps > mscclSteps {
		all = append(all, fmt.Sprintf("up to %d blocks a gpu and %d steps a block: microsoft/msccl takes %d and %d", e.blocks, e.steps, mscclBlocks, mscclSteps))
	}
	return all
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
