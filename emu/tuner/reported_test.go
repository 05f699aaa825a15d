package tuner

import (
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// What the network's plugin reports comes on top of each hop between nodes, for
// Simple twice, and of none inside one.
func TestReportedLatency(t *testing.T) {
	const us = shaping.Microsecond
	plain := dgx(4)
	efa := plain
	efa.Reported = 75 * us
	for _, tc := range []struct {
		name string
		of   func(*Communicator) shaping.Duration
		hops shaping.Duration
	}{
		{"ring LL: 2 × 3 hops between nodes", func(c *Communicator) shaping.Duration { return c.ringLatency(collective.AllReduce, collective.LL) }, 6},
		{"ring Simple", func(c *Communicator) shaping.Duration { return c.ringLatency(collective.AllReduce, collective.Simple) }, 12},
		{"tree LL: 2 × log2 of 4", func(c *Communicator) shaping.Duration { return c.treeLatency(collective.LL) }, 4},
		{"tree Simple", func(c *Communicator) shaping.Duration { return c.treeLatency(collective.Simple) }, 8},
		{"NVLSTree, Simple", func(c *Communicator) shaping.Duration { return c.nvlsTreeLatency() }, 8},
	} {
		if got := tc.of(&efa) - tc.of(&plain); got != tc.hops*75*us {
			t.Errorf("%s: %v more, want %v", tc.name, got, tc.hops*75*us)
		}
	}
	one, alone := dgx(1), dgx(1)
	alone.Reported = 75 * us
	if one.ringLatency(collective.AllReduce, collective.LL) != alone.ringLatency(collective.AllReduce, collective.LL) {
		t.Error("inside a node there is no network")
	}
}

// NCCL_NVLSTREE_MAX_CHUNKSIZE replaces the cap on many nodes, and stays below NVLS's
// own chunk; NCCL_P2P_NET_CHUNKSIZE that of messages between nodes.
func TestChunksThatUsersSet(t *testing.T) {
	four, one := dgx(4), dgx(1)
	for _, tc := range []struct {
		c         Communicator
		algorithm string
		s         Settings
		want      int64
	}{
		{four, NVLSTree, Settings{NVLSTreeMax: 512 * kib, NVLSChunk: 512 * kib}, 512 * kib},
		{four, NVLSTree, Settings{NVLSTreeMax: 512 * kib}, 128 * kib},
		{four, NVLSTree, Settings{NVLSTreeMax: 32 * kib}, 32 * kib},
		{four, Direct, Settings{P2PNetChunk: 512 * kib}, 512 * kib},
		{one, Direct, Settings{P2PNetChunk: 64 * kib}, 512 * kib},
	} {
		if got := tc.c.Chunk(tc.algorithm, collective.AllReduce, collective.Simple, 1<<34, 16, &tc.s); got != tc.want {
			t.Errorf("%s, %+v: %d, want %d", tc.algorithm, tc.s, got, tc.want)
		}
	}
}
