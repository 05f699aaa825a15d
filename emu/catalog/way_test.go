package catalog_test

import (
	"testing"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/shaping"
)

func TestWays(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range catalog.Ways() {
		if seen[w.Name] || w.About == "" || w.Rate <= 0 || w.Latency <= 0 {
			t.Errorf("way %+v: named twice, or without a figure", w)
		}
		seen[w.Name] = true
		if got, err := catalog.LookupWay(w.Name); err != nil || got != w {
			t.Errorf("%s is found as %+v: %v", w.Name, got, err)
		}
	}
	for _, l := range catalog.Links() {
		if !seen[l.Name] {
			t.Errorf("link %s is no way", l.Name)
		}
	}
	ndr, err := catalog.LookupWay("ndr")
	if err != nil || ndr.Rate != 49*shaping.GBps || ndr.Latency != 1795*shaping.Nanosecond {
		t.Errorf("ndr: %+v, %v, want 49 GB/s and 1.795 us, as ib_write_lat on one rail", ndr, err)
	}
	if _, err := catalog.LookupWay("nvlink9"); err == nil {
		t.Error("nvlink9 was found")
	}
}
