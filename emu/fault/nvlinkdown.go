package fault

import "github.com/railyard/railyard/emu/fabric"

// nvlinkDown takes some of a GPU's NVLinks away. Those to NVSwitches are one port
// for each direction, and which of them are gone does not matter; from GPU to GPU
// the widest bundle loses one first. Two faults take different links.
var nvlinkDown = Kind{
	Word: "nvlink-down", Family: "nvlink",
	Also:     []string{"nvlink_down"},
	Strikes:  []Class{GPU},
	Means:    "links of a GPU are down; the others carry all, and the share of rate that is lost is that of links",
	Default:  "links 1",
	Hardware: "a ring at the limit of NVLink loses as much: about 1/18 with one of 18. But a health check (dcgmi health) would report it and drain the node, and Fabric Manager takes the GPU out of peer access when it starts again",
	Source:   "NVIDIA Fabric Manager user guide: ACCESS_LINK_FAILURE_MODE; DCGM health",
	takes:    lasts + " links",
	compile:  compileNvlinkDown,
}

func compileNvlinkDown(s *strike) {
	for _, gpu := range s.withNVLink() {
		s.dropLinks(gpu, max(s.Links, 1))
	}
}

// dropLinks takes n links of a GPU away that no other fault has taken.
func (s *strike) dropLinks(gpu, n int) {
	all := s.f.NVLinks(gpu)
	total, left := 0, make([]int, len(all))
	for i, l := range all {
		total += l.Count
		left[i] = l.Count - s.taken[l.Hits[0].Port]
		if l.Plane >= 0 { // all of these are one port
			left[i] = l.Hits[0].Of - s.taken[l.Hits[0].Port]
		}
	}
	if n > total {
		s.say("links", "%d: gpu%d has %d NVLinks", n, gpu, total)
		return
	}
	for range n {
		best := -1
		for i, l := range all {
			if left[i] > 0 && (best < 0 || left[i] > left[best]) && s.taken[l.Hits[0].Port] < l.Hits[0].Of {
				best = i
			}
		}
		if best < 0 {
			return // other faults have them all
		}
		first := s.taken[all[best].Hits[0].Port]
		left[best]--
		for _, h := range all[best].Hits {
			s.taken[h.Port]++
			s.belongs(h.Port, gpuName(s.f, gpu))
			s.lose([]fabric.Hit{{Port: h.Port, First: first, Lost: 1, Of: h.Of}}, true)
		}
	}
}
