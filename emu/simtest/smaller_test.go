package simtest

import (
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/rehearse"
)

// Smaller returns the smallest scenario it finds that still fails, by taking away one
// thing at a time: faults, phases, calls, nodes, GPUs, repetitions, bytes.
func Smaller(s emu.Scenario, fails func(emu.Scenario) bool) emu.Scenario {
	const most = 400 // tries
	tries := 0
	for smaller := true; smaller && tries < most; {
		smaller = false
		for _, c := range reduced(s) {
			if _, err := rehearse.Prepare(c, nil); err != nil {
				continue // no scenario any more
			}
			if tries++; fails(c) {
				s, smaller = c, true
				break
			}
			if tries >= most {
				break
			}
		}
	}
	return s
}

// reduced returns scenarios that are a little less than one.
func reduced(s emu.Scenario) []emu.Scenario {
	var all []emu.Scenario
	edit := func(change func(*emu.Scenario)) {
		c := s
		c.Faults, c.Phases = slices.Clone(s.Faults), slices.Clone(s.Phases)
		for i := range c.Phases {
			c.Phases[i].Calls = slices.Clone(c.Phases[i].Calls)
		}
		c.Cluster.Groups = slices.Clone(s.Cluster.Groups)
		change(&c)
		all = append(all, c)
	}
	for i := range s.Faults {
		edit(func(c *emu.Scenario) { c.Faults = slices.Delete(c.Faults, i, i+1) })
	}
	for i := range s.Phases {
		if len(s.Phases) > 1 {
			edit(func(c *emu.Scenario) { c.Phases = slices.Delete(c.Phases, i, i+1) })
		}
		for j := range s.Phases[i].Calls {
			reducedCall(&s, i, j, edit)
		}
		if s.Phases[i].OnFailure != emu.Abort {
			edit(func(c *emu.Scenario) { c.Phases[i].OnFailure, c.Phases[i].MaxAttempts = emu.Abort, 1 })
		}
	}
	for i := range s.Cluster.Groups {
		g := &s.Cluster.Groups[i]
		if len(s.Cluster.Groups) > 1 {
			edit(func(c *emu.Scenario) { c.Cluster.Groups = slices.Delete(c.Cluster.Groups, i, i+1) })
		}
		if g.Count > 1 && len(g.Torus) == 0 {
			edit(func(c *emu.Scenario) { c.Cluster.Groups[i].Count-- })
		}
		if g.GPUs > 1 {
			edit(func(c *emu.Scenario) {
				h := &c.Cluster.Groups[i]
				h.GPUs--
				h.NICs = min(h.NICs, h.GPUs)
			})
		}
	}
	return all
}

func reducedCall(s *emu.Scenario, i, j int, edit func(func(*emu.Scenario))) {
	call := &s.Phases[i].Calls[j]
	change := func(do func(*emu.Call)) { edit(func(c *emu.Scenario) { do(&c.Phases[i].Calls[j]) }) }
	if len(s.Phases[i].Calls) > 1 {
		edit(func(c *emu.Scenario) {
			p := &c.Phases[i]
			p.Calls = slices.Delete(p.Calls, j, j+1)
			p.Blocking = p.Blocking && len(p.Calls) > 1
		})
	}
	if call.Iterations > 1 {
		change(func(c *emu.Call) { c.Iterations-- })
	}
	if call.Bytes > 1 {
		change(func(c *emu.Call) { c.Bytes /= 2 })
	}
	if call.Channels > 1 {
		change(func(c *emu.Call) { c.Channels-- })
	}
	if len(call.Ranks) > 1 {
		change(func(c *emu.Call) { c.Ranks = c.Ranks[:len(c.Ranks)-1]; c.Root = min(c.Root, len(c.Ranks)-1) })
	}
}
