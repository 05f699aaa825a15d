package tuner

// Settings are what a user may tell NCCL, besides its version: its environment
// variables, by their meaning. The zero value takes every default.
type Settings struct {
	// Protocols is what NCCL_PROTO says; empty: all.
	Protocols string
	// MinChannels and MaxChannels bound the channels of an operation
	// (NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS); 0: no bound.
	MinChannels, MaxChannels int
	// BufferBytes, LLBufferBytes and LL128BufferBytes are a connection's
	// (NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE); 0: the default.
	BufferBytes, LLBufferBytes, LL128BufferBytes int64
	// Threads of a channel (NCCL_NTHREADS); 0: the default.
	Threads int
	// NoNVLS is NCCL_NVLS_ENABLE=0. NVLSChunk is NCCL_NVLS_CHUNKSIZE in bytes;
	// 0: the default.
	NoNVLS    bool
	NVLSChunk int64
	// NVLSTreeMax is NCCL_NVLSTREE_MAX_CHUNKSIZE, P2PNetChunk NCCL_P2P_NET_CHUNKSIZE,
	// in bytes; 0: the default.
	NVLSTreeMax, P2PNetChunk int64
	// CollNet is NCCL_COLLNET_ENABLE=1.
	CollNet bool
	// Version of NCCL is 2.Version; 0: the newest.
	Version int
}

// Release returns the version, the newest when none was named.
func (s *Settings) Release() int {
	if s.Version == 0 {
		return Newest
	}
	return s.Version
}

// Bound puts a number of channels between the bounds.
func (s *Settings) Bound(channels int) int {
	if s.MaxChannels > 0 {
		channels = min(channels, s.MaxChannels)
	}
	return max(channels, s.MinChannels, 1)
}
