package catalog

import "github.com/railyard/railyard/shaping"

// Way is a link as a stream of bytes meets it: one direction, end to end.
type Way struct {
	Name, About string
	Rate        shaping.Rate     // usable
	Latency     shaping.Duration // without serialisation
}

// inside are ways within a server, by the system that has them. Their latency is
// that of LL, whose flag is in the message: it has no more to it than the way.
var inside = []struct{ name, system string }{
	{"nvlink1", "dgx-1-p100"}, {"nvlink2", "dgx-2"}, {"nvlink3", "dgx-a100"},
	{"nvlink4", "dgx-h100"}, {"nvlink5", "dgx-b200"}, {"nvlink6", "vera-rubin-nvl72"},
	{"pcie3", "dgx-2"}, {"pcie4", "dgx-a100"}, {"pcie5", "dgx-h100"}, {"pcie6", "dgx-b300"},
}

// Ways returns every link, from NIC to NIC by one switch, then what joins GPUs:
// all NVLinks of one together, and PCIe slots.
func Ways() []Way {
	var all []Way
	for _, l := range links {
		all = append(all, Way{l.Name, l.About, l.Wire.Permille(l.Usable), 2*l.NIC + l.Switch})
	}
	for _, in := range inside {
		s, err := LookupSystem(in.system)
		if err != nil {
			panic("catalog: " + err.Error()) // a table of ours names another
		}
		w := Way{in.name, "all NVLinks of a GPU of " + s.Name, s.NVLink.Wire.Permille(s.NVLink.Usable), s.NVLink.Steps.LL}
		if in.name[0] == 'p' {
			w = Way{in.name, "a PCIe slot of " + s.Name, s.PCIe.Wire.Permille(s.PCIe.Usable), s.PCIe.Steps.LL}
		}
		all = append(all, w)
	}
	return all
}

// LookupWay returns the way with the given name.
func LookupWay(name string) (Way, error) {
	return lookup("link", name, Ways(), func(w Way) string { return w.Name })
}
