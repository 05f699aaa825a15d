package fault

// bitflip turns over one bit of real data.
var bitflip = Kind{
	Word: "bitflip", Family: "data",
	Also:     []string{"bit_flip", "bit-flip", "sdc", "silent-corruption"},
	Strikes:  []Class{GPU, NIC},
	Means:    "a bit turns over in the result that a GPU holds, or in what a NIC sends, and no CRC sees it",
	Default:  "element and bit are drawn",
	Hardware: "silent data corruption: nothing tells but a check of the results. Training goes on with a wrong gradient",
	Source:   "Dixit et al.: Silent data corruptions at scale, arXiv:2102.11245 (2021)",
	takes:    often + " element bit",
	compile:  compileBitflip,
}

func compileBitflip(s *strike) {
	const widest = 64 // bits of int64 and float64
	if s.Bit >= widest {
		s.say("bit", "%d: elements have at most %d bits, counted from 0", s.Bit, widest)
	}
	for _, p := range s.hit {
		flip := Flip{GPU: -1, Element: s.Element, Bit: s.Bit, Fault: s.index}
		if p.class == GPU {
			first, _ := s.f.GPURange(p.node)
			flip.GPU = first + p.index
		} else {
			flip.Port = s.portsOf(p)[0].Port // out of it
		}
		for _, span := range s.spans {
			flip.At = span.from
			s.s.flips = append(s.s.flips, flip)
		}
	}
}
