package fault

import (
	"cmp"
	"slices"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// New returns a schedule without faults, whose draws come from a seed. What
// compiles declared faults, and tests, add to it; then it is read only.
func New(seed uint64) *Schedule {
	return &Schedule{seed: seed, ports: map[fabric.PortID]*Line{}, gpus: map[int]*Line{}, strokes: map[fabric.PortID][]stroke{}, dead: map[int]shaping.Time{}}
}

// Touch returns the line of a port, to be changed.
func (s *Schedule) Touch(id fabric.PortID) *Line {
	if s.ports[id] == nil {
		s.ports[id] = &Line{}
	}
	return s.ports[id]
}

// Slow returns the line of a GPU's engines, to be changed.
func (s *Schedule) Slow(gpu int) *Line {
	if s.gpus[gpu] == nil {
		s.gpus[gpu] = &Line{}
	}
	return s.gpus[gpu]
}

// Halt adds a stop.
func (s *Schedule) Halt(stop Stop) {
	s.stops = append(s.stops, stop)
	slices.SortStableFunc(s.stops, func(a, b Stop) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.GPU, b.GPU)) })
}

// Kill ends a node's process at an instant: its GPUs stop, and nothing gets
// through its NICs any more.
func (s *Schedule) Kill(f *fabric.Fabric, node int, at shaping.Time, fault int) {
	if old, ok := s.dead[node]; ok && old <= at {
		return
	}
	s.dead[node] = at
	first, n := f.GPURange(node)
	for gpu := first; gpu < first+n; gpu++ {
		s.Halt(Stop{At: at, Until: shaping.Never, GPU: gpu, How: Killed, Fault: fault})
	}
	for nic := range f.NICs(node) {
		for _, id := range []fabric.PortID{f.NICEgress(node, nic), f.NICIngress(node, nic)} {
			s.Touch(id).Change(at, shaping.Never, func(st *State) { st.Down = true })
		}
	}
}
