package collective

import "testing"

func TestPairwiseIsProven(t *testing.T) {
	for _, op := range pairwise.Ops {
		for i, s := range append(oneNode(), spread()...) {
			if s.NRanks() > 32 && i%4 > 0 {
				continue
			}
			provenExchange(t, "pairwise", op, s, Options{Channels: 1 + i%3, Protocol: Protocol(i % 2)})
		}
	}
}
