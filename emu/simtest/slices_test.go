package simtest

import (
	"math/rand/v2"
	"testing"
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
	return drawOn(rng, Case{Seed: seed, Cluster: drawPods(rng, seed)})
}
