package tuner

import "github.com/railyard/railyard/collective"

// Worth returns how many of the communicator's channels a message is worth:
// NCCL takes one away as long as the bytes do not give every thread its share.
// A ring's share counts for each of its ranks.
func (c Communicator) Worth(algorithm string, p collective.Protocol, bytes int64) int {
	share := int64(threads * simpleThreshold)
	if p == collective.LL {
		share = threads * llThreshold
	}
	if algorithm == "ring" {
		share *= int64(c.Ranks)
	}
	return int(max(1, min(int64(c.Channels), bytes/share)))
}
