package tuner

import (
	"cmp"

	"github.com/railyard/railyard/collective"
)

// Chunks, in bytes of data (NCCL 2.30, src/enqueue.cc and src/transport/nvls.cc).
const (
	kib = 1 << 10

	simpleStep     = 512 * kib // a step of Simple's buffer: PAT and CollNetDirect begin there
	collnetChunk   = 256 * kib
	p2pNetChunk    = 128 * kib
	p2pNVLinkChunk = 512 * kib
)

// threshold: below the factor × what a chunk for everybody makes, the chunk is
// no larger than to.
type threshold struct{ factor, to int64 }

// The cascades. Each test is with the chunk that the one before has left.
var (
	nvlsCascade     = []threshold{{64, 64 * kib}, {8, 32 * kib}, {2, 16 * kib}}
	nvlsTreeCascade = []threshold{{32, 256 * kib}, {16, 128 * kib}, {4, 64 * kib}, {1, 32 * kib}}
)

// cascade cuts a chunk down.
func cascade(chunk, bytes, together int64, steps []threshold) int64 {
	for _, s := range steps {
		if chunk > s.to && bytes < s.factor*together*chunk {
			chunk = s.to
		}
	}
	return chunk
}

// halve halves a chunk while it is above least and fewer than most of them make
// the bytes.
func halve(chunk, least, bytes, together, most int64) int64 {
	for chunk > least && bytes/(together*chunk) < most {
		chunk /= 2
	}
	return chunk
}

// Chunk returns the most that NCCL cuts a message into, in bytes, where the size
// decides; 0 where the buffer does. The user's settings go before defaults.
func (c *Communicator) Chunk(algorithm string, op collective.Op, p collective.Protocol, bytes int64, channels int, s *Settings) int64 {
	nvls := cmp.Or(s.NVLSChunk, collective.NVLSChunk)
	n, heads := int64(channels), int64(c.Heads())
	switch algorithm {
	case NVLS:
		if c.Nodes > 1 && c.nvlsRate(op, false) < slowNVLS {
			nvls = min(nvls, 32*kib)
		}
		return cascade(nvls, bytes, n*heads, nvlsCascade)
	case NVLSTree:
		switch {
		case s.NVLSTreeMax > 0:
			nvls = min(nvls, s.NVLSTreeMax)
		case c.Nodes >= collective.NVLSTreeFar:
			nvls = min(nvls, collective.NVLSTreeFarChunk)
		}
		return cascade(nvls, bytes, n*heads, nvlsTreeCascade)
	case CollNetDirect:
		at := halve(simpleStep, 128*kib, bytes, n*heads, 64*collnetDepth)
		return halve(at, 32*kib, bytes, n*heads, 8*collnetDepth)
	case CollNetChain:
		depth := int64(c.perNode())
		at := halve(collnetChunk, 128*kib, bytes, n, 64*depth)
		at = halve(at, 64*kib, bytes, n, 8*depth)
		return halve(at, 32*kib, bytes, n, depth)
	case PAT:
		parts := int64(32)
		if op == collective.ReduceScatter {
			parts = 16
		}
		return halve(simpleStep, 64*kib, bytes, n, parts)
	case Tree:
		if p == collective.LL128 {
			return c.treeChunk(bytes, n)
		}
	case Direct:
		if p != collective.Simple {
			return 0
		}
		if c.Nodes > 1 {
			return cmp.Or(s.P2PNetChunk, p2pNetChunk)
		}
		return p2pNVLinkChunk
	}
	return 0
}

const (
	slowNVLS     = 150_000 * mbps // NVLS over nodes below it has chunks of 32 KiB
	collnetDepth = 2              // in the node, out again
)

// treeChunk cuts LL128's chunk by the steps of a tree: 1 + log2 of the nodes, and
// a tenth for each GPU of a node. The fractions are kept by comparing × 10.
func (c *Communicator) treeChunk(bytes, channels int64) int64 {
	ppn := int64(c.perNode())
	tenths := 10 + 10*int64(log2(c.Nodes)) + ppn
	cut := func(chunk, least, parts int64) int64 {
		for chunk > least && bytes/(channels*chunk)*10*ppn < tenths*parts {
			chunk /= 2
		}
		return chunk
	}
	chunk := collective.LL128.StepBytes()
	return cut(cut(chunk, 128*kib, 64), 32*kib, 16)
}
