package fault

import "github.com/railyard/railyard/emu"

// mismatch makes the signature of one rank's call differ from the others'.
var mismatch = Kind{
	Word: "mismatch", Family: "gpu",
	Also:     []string{"wrong-size", "wrong-type"},
	Strikes:  []Class{GPU},
	Means:    "its rank calls with another count, or as another type, operator or root",
	Default:  "one element more than the others; the first operation",
	Hardware: "some sizes hang, some finish with a wrong tail, depending on how they are cut into chunks",
	Source:   "NCCL issues 1417 and 531",
	takes:    atCall + " count as",
	compile:  compileMismatch,
}

func compileMismatch(s *strike) {
	c := Call{Wrong: Resize, Count: s.Count}
	switch {
	case s.By != "" && s.Count != 0:
		s.say("count", "%d: with as %q it would call wrong in two ways; give one", max(s.Count, 0), s.By)
	case s.By != "":
		c = Call{Wrong: Retype, Says: s.By}
	case s.Count == 0:
		c.Count = -1
	case s.Count == emu.NoElements:
		c.Count = 0
	}
	s.call(c)
}
