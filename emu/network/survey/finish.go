package survey

import "strings"

// Islands returns the parts of the network that no link joins, as the hosts of
// each, the largest first. A host joins the networks that it hangs on; domains do
// not count.
func (s *Survey) Islands() [][]int {
	n := len(s.Hosts)
	of := make([]int, n+len(s.Switches)) // a tree of sets
	for i := range of {
		of[i] = i
	}
	root := func(i int) int {
		for of[i] != i {
			of[i] = of[of[i]]
			i = of[i]
		}
		return i
	}
	at := func(p Place) int {
		if p.Switch {
			return root(n + p.Index)
		}
		return root(p.Index)
	}
	for _, l := range s.Links {
		a, b := at(l.A), at(l.B)
		of[max(a, b)] = min(a, b)
	}
	var all [][]int
	island := map[int]int{}
	for i := range n {
		r := root(i)
		k, ok := island[r]
		if !ok {
			k = len(all)
			island[r], all = k, append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	for i := range all { // the first of the largest comes first
		if len(all[i]) > len(all[0]) {
			all[0], all[i] = all[i], all[0]
		}
	}
	return all
}

// remarks notes what is odd about a network as a whole.
func (s *Survey) remarks() {
	joined := map[Place]bool{}
	below := map[int]bool{} // switches that hang below another
	parallel := 0
	for _, l := range s.Links {
		joined[l.A], joined[l.B] = true, true
		if l.A.Switch && l.B.Switch {
			below[l.A.Index] = true
			parallel += min(l.Count-1, 1)
		}
	}
	var alone, roots []string
	for i := range s.Switches {
		if !joined[Place{true, i}] {
			alone = append(alone, s.Switches[i].Name)
		} else if !below[i] {
			roots = append(roots, s.Switches[i].Name)
		}
	}
	if len(alone) > 0 {
		s.Say(Odd, "%d switches have no link: %s", len(alone), list(alone))
	}
	if s.Logical && len(roots) > 1 {
		s.Say(Odd, "the network has %d roots: %s", len(roots), list(roots))
	}
	if s.Logical {
		s.remarkHomes()
	}
	if parallel > 0 {
		s.Say(Odd, "%d pairs of switches are joined by parallel links; each counts", parallel)
	}
	if n := len(s.Islands()); n > 1 && len(s.Links) > 0 {
		s.Say(Odd, "the network falls into %d parts that no link joins", n)
	}
	if len(s.Domains) > 0 {
		var names []string
		for _, d := range s.Domains {
			names = append(names, clip(d.Name))
		}
		s.Say(Missing, "%d NVLink domains (%s) are noted, and not carried over: what NVLink joins is the business of the system", len(names), list(names))
	}
}

// remarkHomes notes nodes that hang on several switches.
func (s *Survey) remarkHomes() {
	links := make([]int, len(s.Hosts))
	for _, l := range s.Links {
		if !l.A.Switch {
			links[l.A.Index]++
		}
	}
	var several []string
	for i, n := range links {
		if n > 1 {
			several = append(several, s.Hosts[i].Name)
		}
	}
	if several != nil {
		s.Say(Odd, "%d nodes hang on several switches (%s): their NICs take turns", len(several), list(several))
	}
}

// list names the first few.
func list(names []string) string {
	const most = 4
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	for i := range names {
		names[i] = clip(names[i])
	}
	return strings.Join(names, ", ")
}
