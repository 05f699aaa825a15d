package fault

// bitflip turns over one bit of real data.
var bitflip = Kind{
	Word: "bitflip", Family: "data",
	Also:     []string{"bit_flip", "bit-flip", "sdc", "silent-corruption"},
	Strikes:  []Class{GPU, NIC, Link},
	Means:    "a bit turns over in the result that a GPU holds, or in what a NIC or link carries, and no CRC sees it",
	Default:  "element and bit are drawn",
	Hardware: "silent data corruption: nothing tells but a check of the results. Training goes on with a wrong gradient",
	Source:   "Dixit et al.: Silent data corruptions at scale, arXiv:2102.11245 (2021)",
	takes:    often + " element bit",
	compile:  compileBitflip,
}

func compileBitflip(s *strike) {
	for _, span := range s.spans {
		for _, p := range s.hit {
			flip := Flip{At: span.from, GPU: -1, Element: s.Element, Bit: s.Bit, Fault: s.index}
			switch p.class {
			case GPU:
				first, _ := s.f.GPURange(p.node)
				flip.GPU = first + p.index
			default:
				hits := s.portsOf(p)
				if len(hits) == 0 {
					s.say("target", "%s carries nothing", p.name)
					return
				}
				flip.Port = hits[0].Port
			}
			s.s.flips = append(s.s.flips, flip)
		}
	}
}
