package topoxml

import (
	"math/rand/v2"
	"testing"

	"github.com/railyard/railyard/emu/machine/machinetest"
)

// Whatever a machine is, its export comes back as the same machine.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		m := machinetest.Draw(rng)
		roundTrip(t, &m)
	}
}
