package kernel

import "github.com/railyard/railyard/shaping"

// Spent is where the blocks of a batch spent their time, summed over hosted
// blocks, from the start of their first iteration to the end of their last.
type Spent struct {
	Busy     shaping.Duration // moving bytes
	WaitData shaping.Duration // for a peer's message
	WaitSlot shaping.Duration // for a free slot at a peer
	WaitDep  shaping.Duration // for another block of the rank
}

// Add adds another participant's share.
func (s *Spent) Add(o Spent) {
	s.Busy += o.Busy
	s.WaitData += o.WaitData
	s.WaitSlot += o.WaitSlot
	s.WaitDep += o.WaitDep
}

// Spent returns where the hosted blocks of the current batch spent their time.
func (k *Kernel) Spent() Spent {
	return Spent{Busy: k.spent[busy], WaitData: k.spent[waitData], WaitSlot: k.spent[waitSlot], WaitDep: k.spent[waitDep]}
}

// PortUse is what a port carried in a batch.
type PortUse struct {
	Port  int32
	Bytes shaping.Bytes
	Busy  shaping.Duration
}

// Ports returns the use of every owned port that carried anything in the
// current batch, SMs left out, in the order of their numbers.
func (k *Kernel) Ports() []PortUse {
	var use []PortUse
	for i := range k.before {
		id := int32(i)
		if !k.Owns(id) {
			continue
		}
		b, d := k.Use(id)
		if b -= k.before[i].Bytes; b > 0 {
			use = append(use, PortUse{id, b, d - k.before[i].Busy})
		}
	}
	return use
}

// mark notes what the ports have carried before a batch.
func (k *Kernel) mark() {
	if k.before == nil {
		k.before = make([]PortUse, k.fabric.Ports())
	}
	for i := range k.before {
		if id := int32(i); k.Owns(id) {
			k.before[i].Bytes, k.before[i].Busy = k.Use(id)
		}
	}
}
