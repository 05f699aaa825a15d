package tuner

import "github.com/railyard/railyard/collective"

// Threads of a channel, and how many bytes a thread is worth (NCCL 2.30,
// src/include/device.h and tuning.cc). NCCL_NTHREADS changes the threads of LL
// and Simple.
const (
	MostThreads  = 512
	threadsLL128 = 640

	worthSimple  = 64
	worthLL      = 8 // LL and LL128; a ring's LL for each of its ranks
	worthCollnet = 512
)

// Channels of NVLS, which size does not change.
const (
	nvlsHopper         = 16
	nvlsBlackwell      = 24 // one node
	nvlsBlackwellNodes = 32
)

// Worth returns how many channels NCCL uses for a message. It takes one away as
// long as the bytes do not give every thread of every channel its share. Bytes
// is the size of the larger buffer of a rank, for Direct that of a Message;
// threads that of a channel for LL and Simple, 0 for the default. An algorithm that is not NCCL's is treated as
// a tree.
func (c *Communicator) Worth(algorithm string, p collective.Protocol, bytes int64, threads int) int {
	if threads == 0 {
		threads = MostThreads
	}
	share := int64(threads * worthSimple)
	switch {
	case algorithm == NVLS || algorithm == NVLSTree:
		return c.nvlsChannels()
	case algorithm == Direct:
		return c.worthDirect(bytes)
	case algorithm == CollNetDirect || algorithm == CollNetChain:
		return c.worthCollnet(algorithm, bytes, threads)
	case p == collective.LL128:
		share = threadsLL128 * worthLL
	case p == collective.LL && algorithm == Ring:
		share = int64(threads) * worthLL * int64(c.Ranks)
	case p == collective.LL:
		share = int64(threads) * worthLL
	}
	return int(max(1, min(int64(c.Channels), bytes/share)))
}

func (c *Communicator) nvlsChannels() int {
	switch {
	case c.GPU < Blackwell:
		return nvlsHopper
	case c.Nodes == 1:
		return nvlsBlackwell
	default:
		return nvlsBlackwellNodes
	}
}

// worthCollnet halves what a thread of CollNetDirect is worth when 3/4, 3/8 …
// of 32 channels are left, and so keeps more of them.
func (c *Communicator) worthCollnet(algorithm string, bytes int64, threads int) int {
	n, share := int64(c.Channels), int64(worthCollnet)
	if algorithm == CollNetChain {
		return int(max(1, min(n, bytes/(int64(threads)*share))))
	}
	heads := int64(c.Heads())
	for least := int64(16); least >= 1; least /= 2 {
		for n > least && bytes < n*int64(threads)*heads*share {
			if n == least+least/2 {
				share /= 2
			}
			n--
		}
		if bytes >= n*int64(threads)*heads*share {
			break
		}
	}
	return int(max(n, 1))
}

// leastPart is the least that NCCL puts on a further channel of a message
// between two ranks: an eighth of NVLink's chunk, half of the network's.
const leastPart = 64 << 10

// worthDirect returns the channels of messages between all pairs. Between nodes
// each NIC needs one at least: a message leaves by the rail it is for.
func (c *Communicator) worthDirect(bytes int64) int {
	n := bytes / leastPart
	if c.Nodes > 1 {
		n = max(n, int64(c.NICs))
	}
	return int(max(1, min(int64(c.Channels), n)))
}
