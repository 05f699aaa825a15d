package nodesim

import (
	"slices"
	"sync"
	"testing"
)

// TestMailbox: what was posted is taken once, in each sender's order, also
// while others post; and what was posted before close is taken after it.
func TestMailbox(t *testing.T) {
	const senders, each = 4, 1000
	m := newMailbox[[2]int]()
	var posting sync.WaitGroup
	for s := range senders {
		posting.Go(func() {
			for i := range each {
				m.post([2]int{s, i})
			}
		})
	}
	go func() {
		posting.Wait()
		m.close()
		m.post([2]int{0, each}) // dropped
	}()
	got := make([][]int, senders)
	var items [][2]int
	for open := true; open; {
		items, open = m.take(items)
		for _, v := range items {
			got[v[0]] = append(got[v[0]], v[1])
		}
	}
	for s, all := range got {
		if len(all) != each || !slices.IsSorted(all) {
			t.Errorf("sender %d: %d items, want %d in order", s, len(all), each)
		}
	}
	if _, open := m.take(nil); open {
		t.Error("open again after it was closed")
	}
}
