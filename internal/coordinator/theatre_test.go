package coordinator

import (
	"bytes"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/internal/nodesim"
)

// TestTheatre: times come from the nodesims. One of them is given slower NICs
// behind the coordinator's back, and the law breaks: a coordinator that got its
// times from anywhere else would not notice.
func TestTheatre(t *testing.T) {
	t.Parallel()
	slow := only(1, func(c *nodesim.Config) {
		c.Alter = func(c *emu.Cluster) { c.Fabric.Link = "edr" }
	})
	r := gather(t, trio(), 3, slow)
	if declared := r.fabric.Cluster.Fabric.Link; asFast(t, "edr", declared) {
		t.Fatalf("the cluster is declared with %s links, than which edr is not slower", declared)
	}
	for _, algorithm := range []string{"ring", "tree"} {
		spec := single(algorithm)
		want := foresee(t, trio(), spec)
		got, err := r.bench(spec)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := got.rows[0].OutOfPlace.Time, want.rows[0].OutOfPlace.Time; a <= b {
			t.Errorf("%s: %d ps with a slower NIC, %d ps without: the time does not come from the nodesim", algorithm, a, b)
		}
		if bytes.Equal(got.timeline, want.timeline) {
			t.Errorf("%s: the timeline is predict's, which knows nothing of the slower NIC", algorithm)
		}
		if !right(got.rows[0].OutOfPlace) {
			t.Errorf("%s: %+v: a slower NIC must not change an answer", algorithm, got.rows[0].OutOfPlace)
		}
	}
}

// trio returns a cluster of three nodes with three GPUs each, so that neither
// ranks nor elements divide evenly.
func trio() emu.Cluster {
	return emu.Cluster{Name: "trio", Groups: []emu.Group{{Count: 3, System: "dgx-h100", GPUs: 3}}}
}

// asFast reports whether one link is at least as fast as another.
func asFast(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := catalog.LookupLink(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := catalog.LookupLink(b)
	if err != nil {
		t.Fatal(err)
	}
	return x.Wire >= y.Wire
}
