package simtest

import (
	"slices"

	"github.com/railyard/railyard/emu/fabric"
)

// Shrink returns the smallest case it finds that still fails, by taking away
// one thing at a time: batches, runs, groups, nodes, iterations, elements.
func Shrink(c Case) Case {
	for smaller := true; smaller; {
		smaller = false
		for _, s := range simpler(c) {
			if fails(s) {
				c, smaller = s, true
				break
			}
		}
	}
	return c
}

func fails(c Case) bool {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return false
	}
	for _, b := range c.Batches {
		for i := range b.Runs {
			if _, err := b.Runs[i].Build(f.Shape(b.Runs[i].Comm)); err != nil {
				return false // fewer ranks than the algorithm, or the root, needs
			}
		}
	}
	_, err = verify(&c)
	return err != nil
}

func simpler(c Case) []Case {
	var out []Case
	for i := range c.Batches {
		if len(c.Batches) > 1 {
			s := clone(c)
			s.Batches = slices.Delete(s.Batches, i, i+1)
			out = append(out, s)
		}
		for j := range c.Batches[i].Runs {
			out = append(out, simplerRuns(c, i, j)...)
		}
	}
	return out
}

func simplerRuns(c Case, i, j int) []Case {
	var out []Case
	if len(c.Batches[i].Runs) > 1 {
		s := clone(c)
		s.Batches[i].Runs = slices.Delete(s.Batches[i].Runs, j, j+1)
		out = append(out, s)
	}
	r := c.Batches[i].Runs[j]
	if r.Iterations > 1 {
		s := clone(c)
		s.Batches[i].Runs[j].Iterations--
		out = append(out, s)
	}
	if r.Count > 0 {
		s := clone(c)
		s.Batches[i].Runs[j].Count /= 2
		out = append(out, s)
	}
	if r.Options.Channels > 1 {
		s := clone(c)
		s.Batches[i].Runs[j].Options.Channels--
		out = append(out, s)
	}
	if len(r.Comm) > 1 {
		s := clone(c)
		s.Batches[i].Runs[j].Comm = slices.Clone(r.Comm[:len(r.Comm)-1])
		out = append(out, s)
	}
	return out
}

func clone(c Case) Case {
	b := slices.Clone(c.Batches)
	for i := range b {
		b[i].Runs = slices.Clone(b[i].Runs)
	}
	c.Batches = b
	return c
}
