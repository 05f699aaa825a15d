package survey

import (
	"reflect"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/network"
	"github.com/railyard/railyard/shaping"
)

// check holds a cluster to its promise: valid, the same from its own file, and a
// network where every NIC finds the first NIC of every other node.
func check(t *testing.T, c emu.Cluster) {
	t.Helper()
	text := c.YAML()
	again, err := emu.LoadCluster("made", text, testKnown)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !reflect.DeepEqual(again, c) {
		t.Fatalf("%+v came back as\n%+v from\n%s", c, again, text)
	}
	if c.Fabric.Kind != emu.KindCustom {
		return
	}
	e := c.Effective(testKnown)
	config, hosts := e.CustomNetwork()
	config.Rate, config.Hop = 50*shaping.GBps, shaping.Microsecond
	n, err := network.New(config, hosts)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(hosts) > 1000 {
		return
	}
	joined := map[int]bool{0: true} // nodes that some NIC of node 0 reaches
	for i, h := range hosts {
		for j := 0; j < len(hosts) && hosts[j].Node == 0; j++ {
			if _, ok := n.Path(j, i, 1); ok && i != j {
				joined[h.Node] = true
			}
		}
	}
	if len(joined) != c.Nodes() {
		t.Errorf("%d of %d nodes are joined with the first in\n%s", len(joined), c.Nodes(), text)
	}
}
