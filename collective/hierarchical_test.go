package collective

import "testing"

func TestHierarchicalIsProven(t *testing.T) {
	for _, op := range hierarchical.Ops {
		for i, s := range append(oneNode(), spread()...) {
			if hierarchicalLegal(op, s) == nil && (s.NRanks() <= 32 || i%4 == 0) {
				provenExchange(t, "hierarchical", op, s, Options{Channels: 1 + i%9, Protocol: Protocol(i % 2)})
			}
		}
	}
}
