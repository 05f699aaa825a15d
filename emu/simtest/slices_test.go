package simtest

import (
	"math/rand/v2"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
)

// TestSlicesKeepTheLaw puts slices of TPUs to TestSim's test, alone and beside
// others that NICs join: shapes, wraps, dark circuits, chips left out.
func TestSlicesKeepTheLaw(t *testing.T) {
	crossed := uint64(0)
	for seed := range uint64(20) {
		c := drawSlices(seed)
		frames, err := verify(&c)
		if err != nil {
			t.Errorf("%v\n%v\n%s", err, c, c.Cluster.YAML())
		}
		crossed += frames
	}
	if crossed == 0 {
		t.Error("no frame crossed between participants: the law was not put to the test")
	}
}

func drawSlices(seed uint64) Case {
	rng := rand.New(rand.NewPCG(seed, 9))
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	k := emu.Cluster{Name: "drawn", Seed: seed}
	for range 1 + rng.IntN(2) {
		g := emu.Group{System: pick("tpu-v4", "tpu-v5p", "tpu-ironwood"), GPUs: rng.IntN(5)}
		g.Torus = [][]int{{2, 2, 2}, {2, 2, 4}, {4, 2, 1}, {4, 4, 1}, {2, 4, 2}, {2, 2, 8}}[rng.IntN(6)]
		g.Count = g.Hosts()
		for d, size := range g.Torus {
			if size%4 == 0 && rng.IntN(2) == 0 {
				g.Wrap += "xyz"[d : d+1]
			}
		}
		for range rng.IntN(3) {
			g.Dark = append(g.Dark, pick("x", "y", "z")+pick("0", "1", "4", "5", "0@0", "1@1"))
		}
		k.Groups = append(k.Groups, g)
	}
	if rng.IntN(4) == 0 {
		k.Groups = append(k.Groups, emu.Group{Count: 1, System: "dgx-h100", GPUs: 2})
	}
	if _, err := fabric.New(k); err != nil { // dark circuits may cut a slice apart
		for i := range k.Groups {
			k.Groups[i].Dark = nil
		}
	}
	return drawOn(rng, Case{Seed: seed, Cluster: k})
}
