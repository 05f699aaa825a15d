package msccl

import (
	"math"
	"strconv"
	"strings"

	"github.com/railyard/railyard/collective"
)

// element takes one element in.
func (r *reader) element(parent, name string, a *attrs) error {
	switch {
	case parent == "" && name == "algo":
		r.algo(a)
	case r.file == nil: // not a plan, so far
		r.skipped = true
	case parent == "algo" && name == "gpu":
		r.addGPU(a)
	case parent == "gpu" && name == "tb":
		r.addBlock(a)
	case parent == "gpu" && name == "copy":
		r.addCopy(a)
	case parent == "tb" && name == "step":
		r.addStep(a)
	case name == "algo" || name == "gpu" || name == "tb" || name == "step" || name == "copy":
		a.fail("stands inside <%s>", word(parent))
	default:
		r.file.note("line %d: <%s> is passed over", a.line, word(name))
	}
	for _, s := range a.cut {
		r.file.note("%s", s)
	}
	return a.err
}

// colls are the operations by the names of both dialects, and ours.
var colls = map[string]collective.Op{
	"allreduce": collective.AllReduce, "all_reduce": collective.AllReduce,
	"allgather": collective.AllGather, "all_gather": collective.AllGather,
	"reduce_scatter": collective.ReduceScatter, "reducescatter": collective.ReduceScatter,
	"alltoall": collective.AllToAll, "all_to_all": collective.AllToAll,
	"alltoallv": collective.AllToAll, // its parts are alike, in a plan of chunks
	"reduce":    collective.Reduce, "broadcast": collective.Broadcast,
	"gather": collective.Gather, "scatter": collective.Scatter, "sendrecv": collective.SendRecv,
	"custom": collective.Custom, "send": collective.Custom, "recv": collective.Custom,
}

// Op returns the operation that a coll attribute names, in either dialect.
func Op(coll string) (collective.Op, bool) {
	op, ok := colls[strings.ToLower(strings.TrimSpace(coll))]
	return op, ok
}

func (r *reader) algo(a *attrs) {
	f := &File{}
	r.file = f
	f.Name, _ = a.text("name")
	f.Coll, _ = a.text("coll")
	if op, ok := Op(f.Coll); ok {
		f.Op = op
	} else if f.Coll != "" {
		a.fail("coll %q is unknown; allowed are allreduce, allgather, reduce_scatter, reducescatter, alltoall, alltoallv, reduce, broadcast, gather, scatter, send, recv, custom", word(f.Coll))
	}
	switch p, _ := a.text("proto"); strings.ToLower(strings.TrimSpace(p)) {
	case "", "simple":
		f.Protocol = collective.Simple
	case "ll":
		f.Protocol = collective.LL
	case "ll128":
		f.Protocol = collective.LL128
	default:
		a.fail("proto %q is unknown; allowed are Simple, LL, LL128", word(p))
	}
	f.Ranks = a.number("ngpus", 1, maxRanks)
	f.Channels = max(a.optional("nchannels", 1, 0, maxChannels), 1)
	f.Chunks = a.number("nchunksperloop", 1, maxChunks)
	f.layouts(a)
	f.MinBytes = int64(a.optional("minBytes", 0, 0, math.MaxInt64))
	f.MaxBytes = int64(a.optional("maxBytes", 0, 0, math.MaxInt64))
}

// layouts reads inplace and outofplace. A file that has the first alone is
// meant for the one layout or for the other.
func (f *File) layouts(a *attrs) {
	const unsaid = -1
	in, out := a.optional("inplace", unsaid, 0, 1), a.optional("outofplace", unsaid, 0, 1)
	switch {
	case in == unsaid && out == unsaid:
		f.Unstated = true
		f.note("neither inplace nor outofplace is said; each layout is tried")
	case out == unsaid:
		f.InPlace, f.OutOfPlace = in == 1, in == 0
	case in == unsaid:
		f.InPlace, f.OutOfPlace = out == 0, out == 1
	default:
		f.InPlace, f.OutOfPlace = in == 1, out == 1 || in == 0
		if in == 0 && out == 0 {
			f.note("inplace and outofplace are both 0, which leaves no layout; it is read as out of place")
		}
	}
}

func (r *reader) addGPU(a *attrs) {
	f := r.file
	if len(f.GPUs) == f.Ranks {
		a.fail("more <gpu> elements than ngpus %d", f.Ranks)
		return
	}
	f.GPUs = append(f.GPUs, GPU{ID: a.number("id", 0, f.Ranks-1), Line: a.line,
		Input: a.optional("i_chunks", 0, 0, maxChunks), Output: a.optional("o_chunks", 0, 0, maxChunks),
		Scratch: a.optional("s_chunks", 0, 0, maxChunks)})
	r.gpu, r.block = &f.GPUs[len(f.GPUs)-1], nil
}

func (r *reader) addBlock(a *attrs) {
	if len(r.gpu.Blocks) == maxBlocks {
		a.fail("more than %d blocks on one gpu", maxBlocks)
		return
	}
	last := r.file.Ranks - 1
	r.gpu.Blocks = append(r.gpu.Blocks, Block{ID: a.number("id", 0, maxBlocks-1), Line: a.line,
		Send: a.optional("send", -1, -1, last), Recv: a.optional("recv", -1, -1, last),
		Channel: a.optional("chan", 0, 0, maxChannels-1)})
	r.block = &r.gpu.Blocks[len(r.gpu.Blocks)-1]
}

func (r *reader) addCopy(a *attrs) {
	if len(r.gpu.Copies) == maxChunks {
		a.fail("more than %d copies on one gpu", maxChunks)
		return
	}
	r.gpu.Copies = append(r.gpu.Copies, Copy{a.number("i_off", 0, maxChunks), a.number("o_off", 0, maxChunks), a.line})
}

// kinds are the types of step. ra is microsoft/msccl's second name for a local
// reduction.
var kinds = map[string]collective.StepKind{
	"s": collective.Send, "r": collective.Recv, "rcs": collective.RecvCopySend, "rrc": collective.RecvReduceCopy,
	"rrs": collective.RecvReduceSend, "rrcs": collective.RecvReduceCopySend, "cpy": collective.Copy,
	"re": collective.ReduceLocal, "ra": collective.ReduceLocal, "nop": collective.Nop,
}

func (r *reader) addStep(a *attrs) {
	if r.steps++; r.steps > maxSteps {
		a.fail("more than %d steps", maxSteps)
		return
	}
	t, _ := a.text("type")
	kind, ok := kinds[t]
	if !ok {
		a.fail("type %q is unknown; allowed are s, r, rcs, rrc, rrs, rrcs, cpy, re, nop", word(t))
		return
	}
	if n := a.optional("s", len(r.block.Steps), 0, maxSteps); n != len(r.block.Steps) {
		a.fail("s %d where %d is due; steps are numbered from 0", n, len(r.block.Steps))
	}
	s := Step{Kind: kind, Line: a.line, Count: 1, DepBlock: a.optional("depid", -1, -1, maxBlocks), DepStep: a.optional("deps", -1, -1, maxSteps),
		HasDep: a.optional("hasdep", 1, 0, math.MaxInt32) != 0}
	if kind != collective.Nop {
		s.Count = a.optional("cnt", 1, 1, maxChunks)
	}
	if kind.ReadsSrc() {
		s.Src = a.ref("srcbuf", "srcoff")
	}
	if kind.WritesDst() {
		s.Dst = a.ref("dstbuf", "dstoff")
	}
	r.block.Steps = append(r.block.Steps, s)
}

func (a *attrs) ref(buffer, offset string) collective.Ref {
	b, _ := a.text(buffer)
	r := collective.Ref{Index: a.number(offset, 0, maxChunks)}
	switch b {
	case "i":
		r.Buffer = collective.Input
	case "o":
		r.Buffer = collective.Output
	case "s":
		r.Buffer = collective.Scratch
	default:
		a.fail("%s %q is unknown; allowed are i, o, s", buffer, word(b))
	}
	return r
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strings.Join([]string{strconv.Itoa(n), what + "s"}, " ")
}
