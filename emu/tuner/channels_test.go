package tuner

import (
	"testing"

	"github.com/railyard/railyard/collective"
)

func TestChannelsFollowSize(t *testing.T) {
	four, one := dgx(4), dgx(1)
	for _, tc := range []struct {
		c         Communicator
		algorithm string
		protocol  collective.Protocol
		bytes     int64
		threads   int
		want      int
	}{
		{four, Ring, collective.LL, 16, 0, 1},
		{four, Ring, collective.LL, 4 * 128 << 10, 0, 4}, // 512 threads × 8 B × 32 ranks = 128 KiB a channel
		{four, Ring, collective.LL, 4 * 128 << 10, 256, 8},
		{four, Ring, collective.LL128, 3 * 5 << 10, 0, 3},   // 640 × 8 B = 5 KiB
		{four, Ring, collective.Simple, 5 * 32 << 10, 0, 5}, // 512 × 64 B = 32 KiB
		{four, Ring, collective.Simple, 1 << 30, 0, 16},
		{four, Tree, collective.Simple, 3 * 32 << 10, 0, 3},
		{four, Tree, collective.LL, 3 * 4 << 10, 0, 3},
		{four, CollNetChain, collective.Simple, 2 * 256 << 10, 0, 2}, // 512 × 512 B
		{four, CollNetDirect, collective.Simple, 1 << 30, 0, 16},
		{four, CollNetDirect, collective.Simple, 8, 0, 1},
		{one, NVLS, collective.Simple, 8, 0, 16},
		{with(one, func(c *Communicator) { c.GPU = Blackwell }), NVLS, collective.Simple, 8, 0, 24},
		{with(four, func(c *Communicator) { c.GPU = Blackwell }), NVLSTree, collective.Simple, 8, 0, 32},
		{one, Direct, collective.Simple, 3 * 64 << 10, 0, 3}, // 64 KiB a channel
		{four, Direct, collective.LL, 8, 0, 8},               // a channel a rail
	} {
		if got := tc.c.Worth(tc.algorithm, tc.protocol, tc.bytes, tc.threads); got != tc.want {
			t.Errorf("%s %s %d B: %d channels, want %d", tc.algorithm, tc.protocol, tc.bytes, got, tc.want)
		}
	}
}

// The cascade of NVLS's chunks on 16 channels × 8 heads: from 128 KiB down, each
// test with the chunk at hand.
func TestChunksFollowSize(t *testing.T) {
	const mib = 1 << 20
	four, one := dgx(4), dgx(1)
	for _, tc := range []struct {
		name      string
		c         Communicator
		algorithm string
		protocol  collective.Protocol
		bytes     int64
		channels  int
		nvls      int64
		want      int64
	}{
		{"64 × 128 × 128 KiB = 1 GiB", one, NVLS, collective.Simple, 1024 * mib, 16, 0, 128 * kib},
		{"below it", one, NVLS, collective.Simple, 1024*mib - 1, 16, 0, 64 * kib},
		{"8 × 128 × 64 KiB = 64 MiB", one, NVLS, collective.Simple, 64 * mib, 16, 0, 64 * kib},
		{"below it", one, NVLS, collective.Simple, 64*mib - 1, 16, 0, 32 * kib},
		{"2 × 128 × 32 KiB = 8 MiB", one, NVLS, collective.Simple, 8 * mib, 16, 0, 32 * kib},
		{"below it", one, NVLS, collective.Simple, 8*mib - 1, 16, 0, 16 * kib},
		{"NCCL_NVLS_CHUNKSIZE", one, NVLS, collective.Simple, 16 << 30, 16, 512 * kib, 512 * kib},
		{"8 × 24 × 32 heads × 64 KiB = 384 MiB", domain(72), NVLS, collective.Simple, 384 * mib, 24, 0, 64 * kib},
		{"below it", domain(72), NVLS, collective.Simple, 384*mib - 1, 24, 0, 32 * kib},
		{"64 KiB from 4 nodes on", four, NVLSTree, collective.Simple, 1 << 34, 16, 0, 64 * kib},
		{"1 × 128 × 64 KiB = 8 MiB", four, NVLSTree, collective.Simple, 8*mib - 1, 16, 0, 32 * kib},
		{"256 KiB and less", four, CollNetChain, collective.Simple, 1 << 34, 16, 0, 256 * kib},
		{"the least", four, CollNetChain, collective.Simple, 8, 16, 0, 32 * kib},
		{"the least", four, CollNetDirect, collective.Simple, 8, 16, 0, 32 * kib},
		{"the least", four, PAT, collective.Simple, 8, 16, 0, 64 * kib},
		{"all of the buffer's step", four, PAT, collective.Simple, 1 << 34, 16, 0, 512 * kib},
		{"600 KiB halved to below 128, then to below 32", four, Tree, collective.LL128, 8, 16, 0, 600 * kib / 32},
		{"all of the buffer's step", four, Tree, collective.LL128, 1 << 34, 16, 0, 600 * kib},
		{"the buffer's", four, Tree, collective.Simple, 8, 16, 0, 0},
		{"the buffer's", four, Ring, collective.Simple, 8, 16, 0, 0},
		{"network", four, Direct, collective.Simple, 1 << 30, 16, 0, 128 * kib},
		{"NVLink", one, Direct, collective.Simple, 1 << 30, 16, 0, 512 * kib},
	} {
		if got := tc.c.Chunk(tc.algorithm, collective.AllReduce, tc.protocol, tc.bytes, tc.channels, &Settings{NVLSChunk: tc.nvls}); got != tc.want {
			t.Errorf("%s %s %d B, %s: %d, want %d", tc.algorithm, tc.protocol, tc.bytes, tc.name, got, tc.want)
		}
	}
}

func TestBound(t *testing.T) {
	s := Settings{MinChannels: 4, MaxChannels: 8}
	for n, want := range map[int]int{1: 4, 6: 6, 16: 8} {
		if got := s.Bound(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
	if s.Release() != Newest || (&Settings{Version: 20}).Release() != 20 {
		t.Error("the version")
	}
}

// A plan that is built without a chunk has the one that a long message begins
// with: what is tried in a test is what auto runs.
func TestABareBuildHasTheFirstChunk(t *testing.T) {
	for _, tc := range []struct {
		algorithm string
		nodes     int
	}{{NVLS, 1}, {NVLSTree, 2}, {NVLSTree, 3}, {NVLSTree, 4}, {NVLSTree, 16}} {
		c, s := dgx(tc.nodes), collective.Uniform(tc.nodes, 8)
		o := collective.Options{Channels: 4}
		bare, err := collective.Build(tc.algorithm, collective.AllReduce, s, o)
		if err != nil {
			t.Fatal(err)
		}
		o.ChunkBytes = c.Chunk(tc.algorithm, collective.AllReduce, collective.Simple, 1<<40, 4, &Settings{})
		tuned, err := collective.Build(tc.algorithm, collective.AllReduce, s, o)
		if err != nil {
			t.Fatal(err)
		}
		if bare.ChunkBytes != tuned.ChunkBytes {
			t.Errorf("%s on %d nodes: chunks of %d bytes, the tuner begins with %d", tc.algorithm, tc.nodes, bare.ChunkBytes, tuned.ChunkBytes)
		}
	}
}
