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
		fit(&c)
		all = append(all, c)
	}
	for i := range s.Faults {
		edit(func(c *emu.Scenario) { c.Faults = slices.Delete(c.Faults, i, i+1) })
		if w := s.Faults[i].When; w.Times > 0 || w.Chance > 0 {
			edit(func(c *emu.Scenario) {
				f := &c.Faults[i]
				f.When.Every, f.When.Times, f.When.Chance = 0, 0, 0
			})
		}
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

// fit makes what names GPUs and operations that are no more there name others.
func fit(s *emu.Scenario) {
	gpus, operations := 0, 0
	for i := range s.Cluster.Groups {
		if g := &s.Cluster.Groups[i]; g.GPUs > 0 && gpus >= 0 {
			gpus += g.Count * g.GPUs
		} else {
			gpus = -1 // as many as the system has
		}
	}
	for i := range s.Phases {
		operations += s.Phases[i].Operations()
		for j := range s.Phases[i].Calls {
			c := &s.Phases[i].Calls[j]
			if gpus < 0 {
				continue
			}
			c.Ranks = slices.DeleteFunc(slices.Clone(c.Ranks), func(g int) bool { return g >= gpus })
			ranks := len(c.Ranks)
			if ranks == 0 {
				ranks = gpus
			}
			c.Root = min(c.Root, ranks-1)
		}
	}
	for i := range s.Faults {
		w := &s.Faults[i].When
		if w.AfterOps = min(w.AfterOps, operations); w.AfterOps == operations && w.At == 0 && callsOnly(s.Faults[i].Type) {
			w.AfterOps--
		}
	}
}

// callsOnly reports whether a type of fault is about calls, and has no instants.
func callsOnly(word string) bool {
	return slices.Contains([]string{"skip", "reorder", "mismatch", "slow-start"}, word)
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
