package payload

import "github.com/railyard/railyard/collective"

// Plans written by hand, small enough to follow with a finger. They are not the
// registry's: a fault there must not hide one here.

func ref(b collective.Buffer, i int) collective.Ref { return collective.Ref{Buffer: b, Index: i} }

const (
	in      = collective.Input
	out     = collective.Output
	scratch = collective.Scratch
)

// ring is a two-channel ring of n ranks. Index i in a step is the chunk of the
// i-th rank after this one; odd chunks are channel 1's.
func ring(op collective.Op, n int) *collective.Plan {
	const channels = 2
	p := collective.Plan{Op: op, Ranks: n, Channels: channels, Blocks: channels, Chunks: channels}
	if op == collective.AllReduce {
		p.Chunks *= n
	}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		var blocks []collective.Block
		for c := range channels {
			blocks = append(blocks, collective.Block{
				Channel: c, SendTo: []int{(rank + 1) % n}, RecvFrom: []int{(rank + n - 1) % n},
				Window: collective.Window{First: c, Stride: channels, Count: n, Shift: rank},
				Steps:  ringSteps(op, n, rank),
			})
		}
		return blocks
	})
}

func ringSteps(op collective.Op, n, rank int) []collective.Step {
	own := collective.Own
	var s []collective.Step
	if op != collective.AllGather {
		s = append(s, collective.Step{Kind: collective.Send, Src: ref(in, n-1), Send: 1})
		for i := n - 2; i > 0; i-- {
			s = append(s, collective.Step{Kind: collective.RecvReduceSend, Src: ref(in, i), Recv: 1, Send: 1})
		}
	}
	switch op {
	case collective.ReduceScatter:
		return append(s, collective.Step{Kind: collective.RecvReduceCopy, Src: ref(in, 0), Dst: ref(out, own), Recv: 1})
	case collective.AllGather:
		s = append(s,
			collective.Step{Kind: collective.Send, Src: ref(in, own), Send: 1},
			collective.Step{Kind: collective.Copy, Src: ref(in, own), Dst: ref(out, 0)})
	default:
		s = append(s, collective.Step{Kind: collective.RecvReduceCopySend, Src: ref(in, 0), Dst: ref(out, 0), Recv: 1, Send: 1})
	}
	for i := n - 1; i > 1; i-- {
		s = append(s, collective.Step{Kind: collective.RecvCopySend, Dst: ref(out, i), Recv: 1, Send: 1})
	}
	return append(s, collective.Step{Kind: collective.Recv, Dst: ref(out, 1), Recv: 1})
}

// star sends everything to rank 0, which reduces it in one pass and sends the
// result to all: several receive and several send peers.
func star(n int) *collective.Plan {
	p := collective.Plan{Op: collective.AllReduce, Ranks: n, Channels: 1, Blocks: 1, Chunks: 1}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		if rank != 0 {
			return []collective.Block{{SendTo: []int{0}, RecvFrom: []int{0}, Steps: []collective.Step{
				{Kind: collective.Send, Src: ref(in, 0), Send: 1},
				{Kind: collective.Recv, Dst: ref(out, 0), Recv: 1},
			}}}
		}
		all := collective.FirstPeers(n - 1)
		return []collective.Block{{SendTo: upTo(1, n), RecvFrom: upTo(1, n), Steps: []collective.Step{
			{Kind: collective.RecvReduceCopySend, Src: ref(in, 0), Dst: ref(out, 0), Recv: all, Send: all},
		}}}
	})
}

// central reduces to rank 0 without sending on: a receive from several that
// stores.
func central(n int) *collective.Plan {
	p := collective.Plan{Op: collective.Reduce, Ranks: n, Channels: 1, Blocks: 1, Chunks: 2}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		if rank != 0 {
			return []collective.Block{{SendTo: []int{0}, Steps: []collective.Step{
				{Kind: collective.Send, Src: ref(in, 0), Count: 2, Send: 1},
			}}}
		}
		return []collective.Block{{RecvFrom: upTo(1, n), Steps: []collective.Step{
			{Kind: collective.RecvReduceCopy, Src: ref(in, 0), Dst: ref(out, 0), Count: 2, Recv: 1<<(n-1) - 1},
		}}}
	})
}

// pairwise is an all-reduce by way of scratch: rank p reduces chunk p, whose
// contributions wait in scratch, and a second block sends it to all.
func pairwise(n int) *collective.Plan {
	p := collective.Plan{Op: collective.AllReduce, Ranks: n, Channels: 2, Blocks: 2, Chunks: n, Scratch: n * n}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		peers := without(upTo(0, n), rank)
		first := collective.Block{Channel: 0, SendTo: peers, RecvFrom: peers}
		second := collective.Block{Channel: 1, SendTo: peers, RecvFrom: peers}
		for i, p := range peers {
			first.Steps = append(first.Steps, collective.Step{Kind: collective.Send, Src: ref(in, p), Send: 1 << i})
		}
		first.Steps = append(first.Steps, collective.Step{Kind: collective.Copy, Src: ref(in, rank), Dst: ref(out, rank)})
		for i := range peers {
			// Scratch chunk k × n + rank is as long as chunk rank.
			first.Steps = append(first.Steps,
				collective.Step{Kind: collective.Recv, Dst: ref(scratch, i*n+rank), Recv: 1 << i},
				collective.Step{Kind: collective.ReduceLocal, Src: ref(scratch, i*n+rank), Dst: ref(out, rank)})
		}
		done := []collective.Dep{{Block: 0, Step: len(first.Steps) - 1}}
		second.Steps = []collective.Step{
			{Kind: collective.Nop, Deps: done},
			{Kind: collective.Send, Src: ref(out, rank), Send: 1<<(n-1) - 1},
		}
		for i, p := range peers {
			second.Steps = append(second.Steps, collective.Step{Kind: collective.Recv, Dst: ref(out, p), Recv: 1 << i})
		}
		return []collective.Block{first, second}
	})
}

// exchange is an all-to-all whose messages have several chunks. It sends all
// before it receives any, so it works in place: messages are snapshots.
func exchange(n int) *collective.Plan {
	const chunks = 3
	p := collective.Plan{Op: collective.AllToAll, Ranks: n, Channels: 1, Blocks: 1, Chunks: chunks}
	return collective.NewPlan(p, func(rank int) []collective.Block {
		peers := without(upTo(0, n), rank)
		b := collective.Block{SendTo: peers, RecvFrom: peers}
		for i, p := range peers {
			b.Steps = append(b.Steps, collective.Step{Kind: collective.Send, Src: ref(in, p*chunks), Count: chunks, Send: 1 << i})
		}
		own := ref(in, rank*chunks)
		b.Steps = append(b.Steps, collective.Step{Kind: collective.Copy, Src: own, Dst: ref(out, own.Index), Count: chunks})
		for i, p := range peers {
			b.Steps = append(b.Steps, collective.Step{Kind: collective.Recv, Dst: ref(out, p*chunks), Count: chunks, Recv: 1 << i})
		}
		return []collective.Block{b}
	})
}

func upTo(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

func without(list []int, x int) (rest []int) {
	for _, i := range list {
		if i != x {
			rest = append(rest, i)
		}
	}
	return rest
}

var plans = []struct {
	name  string
	build func(n int) *collective.Plan
}{
	{"ring all_reduce", func(n int) *collective.Plan { return ring(collective.AllReduce, n) }},
	{"ring all_gather", func(n int) *collective.Plan { return ring(collective.AllGather, n) }},
	{"ring reduce_scatter", func(n int) *collective.Plan { return ring(collective.ReduceScatter, n) }},
	{"star all_reduce", star},
	{"central reduce", central},
	{"pairwise all_reduce", pairwise},
	{"exchange alltoall", exchange},
}
