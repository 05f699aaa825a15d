package emu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/suggest"
)

// Slice is a part of a pod whose chips ICI joins to a torus, as a group of hosts:
// its shape, and how the pod's optical circuit switches are set for it.
//
//	host   2×2×1 chips, in order x, y       ─ links on the board
//	cube   4×4×4 chips, 16 hosts            ─ copper inside
//	pod    cubes, whose six faces end in optical circuit switches: each of the 48
//	       joins one place of the faces of one dimension, +x5 of any cube to −x5 of
//	       any (Jouppi et al.: TPU v4, ISCA 2023)
//
// The zero value is the shape nearest to a cube, with every dimension closed to a
// ring where the slice consists of whole cubes.
type Slice struct {
	// Torus is how many chips there are in x, y and z: 1, 2 or a multiple of 4,
	// the first two at least 2. Empty: as close to a cube as fits.
	Torus []int
	// Wrap names the dimensions that circuits close to rings: "xyz", "xz", "none".
	// Only multiples of 4 end at a switch. Empty: all, of a slice of whole cubes.
	Wrap string
	// Cubes are those of the pod at the slice's places, z running fastest.
	// Empty: 0, 1, 2 …
	Cubes []int
	// Dark names what carries no light: a switch of the pod, "x5", or one circuit,
	// "x5@3", that leaves cube 3 of the pod towards +x.
	Dark []string
}

const (
	hostSide = 2 // chips in x and y, one in z: Google Cloud's ct5p-hightpu-4t, topology 2x2x1
	hostSize = hostSide * hostSide
	cubeSide = 4 // chips: a rack of 64, Jouppi et al.
	faceSize = cubeSide * cubeSide
	axes     = "xyz"
)

// Unsaid reports whether nothing was said of the slice.
func (s *Slice) Unsaid() bool {
	return len(s.Torus) == 0 && s.Wrap == "" && len(s.Cubes) == 0 && len(s.Dark) == 0
}

// Filled returns the slice of so many hosts with its shape, wraps and cubes filled
// in. Where the shape is wrong, or none fits, they stay empty.
func (s Slice) Filled(hosts int) Slice {
	if len(s.Torus) == 0 {
		s.Torus = nearestCube(hosts * hostSize)
	}
	if !s.buildable() {
		return s
	}
	if s.Wrap == "" {
		s.Wrap = "none"
		if s.whole() {
			s.Wrap = axes
		}
	}
	if len(s.Cubes) == 0 {
		for i := range s.places() {
			s.Cubes = append(s.Cubes, i)
		}
	}
	return s
}

// whole reports whether the slice consists of whole cubes.
func (s *Slice) whole() bool {
	return !slices.ContainsFunc(s.Torus, func(d int) bool { return d%cubeSide != 0 })
}

// places is how many cubes the slice has chips of.
func (s *Slice) places() int {
	n := 1
	for _, d := range s.Torus {
		n *= (d + cubeSide - 1) / cubeSide
	}
	return n
}

// nearestCube returns the shape of so many chips whose sizes are as near to each
// other as may be, the smallest first but for a z of 1. Nil when none fits.
func nearestCube(chips int) []int {
	var best []int
	for x := hostSide; x*x <= chips; x++ {
		for y := x; x*y <= chips; y++ {
			if chips%(x*y) != 0 {
				continue
			}
			d := []int{x, y, chips / (x * y)}
			if sideProblem(d) < 0 && (best == nil || x+y+d[2] < best[0]+best[1]+best[2]) {
				best = d
			}
		}
	}
	return best
}

// sideProblem returns the first dimension whose size no slice has, −1 for none.
func sideProblem(dims []int) int {
	return slices.IndexFunc(dims, func(d int) bool { return d != 1 && d != hostSide && d%cubeSide != 0 || d < 1 })
}

// Hosts returns how many hosts a slice of a valid shape has.
func (s *Slice) Hosts() int { return s.Chips() / hostSize }

// Chips returns how many chips it has.
func (s *Slice) Chips() int {
	n := 1
	for _, d := range s.Torus {
		n *= d
	}
	return n
}

// Chip returns where a chip of a host is in the torus: (x × Y + y) × Z + z. Hosts
// are counted in x first, as are the chips of each.
func (s *Slice) Chip(host, chip int) int {
	x, y := s.Torus[0]/hostSide, s.Torus[1]/hostSide
	at := [3]int{host%x*hostSide + chip%hostSide, host/x%y*hostSide + chip/hostSide, host / (x * y)}
	return s.index(at)
}

func (s *Slice) index(at [3]int) int { return (at[0]*s.Torus[1]+at[1])*s.Torus[2] + at[2] }

// Open says of each dimension whether it is a row instead of a ring.
func (s *Slice) Open() []bool {
	open := make([]bool, len(axes))
	for d := range open {
		open[d] = !strings.Contains(s.Wrap, axes[d:d+1])
	}
	return open
}

// Cut returns the pairs of chips, as Chip numbers them, whose circuit is dark.
func (s *Slice) Cut() [][2]int {
	var all [][2]int
	open := s.Open()
	for d, size := range s.Torus {
		for from := cubeSide - 1; from < size; from += cubeSide {
			if from == size-1 && open[d] {
				continue
			}
			for i := range s.Chips() / size {
				if a, b := s.circuit(d, from, i); s.isDark(d, a) {
					all = append(all, [2]int{s.index(a), s.index(b)})
				}
			}
		}
	}
	return all
}

// circuit returns the chips at the ends of the i-th circuit that leaves a cube in
// dimension d at a coordinate.
func (s *Slice) circuit(d, from, i int) (a, b [3]int) {
	u, v := across(d)
	a[d], a[u], a[v] = from, i/s.Torus[v], i%s.Torus[v]
	b = a
	b[d] = (from + 1) % s.Torus[d]
	return a, b
}

// across returns the two other dimensions.
func across(d int) (u, v int) {
	return [3]int{1, 0, 0}[d], [3]int{2, 2, 1}[d]
}

// isDark reports whether the circuit that leaves a chip towards + in a dimension
// carries no light.
func (s *Slice) isDark(d int, at [3]int) bool {
	u, v := across(d)
	name := fmt.Sprintf("%c%d", axes[d], at[u]%cubeSide*cubeSide+at[v]%cubeSide)
	place := 0
	for k, size := range s.Torus {
		place = place*((size+cubeSide-1)/cubeSide) + at[k]/cubeSide
	}
	return slices.Contains(s.Dark, name) || slices.Contains(s.Dark, fmt.Sprintf("%s@%d", name, s.Cubes[place]))
}

// Pod is how many chips optical circuit switches can join, and how many of them a
// slice may have. The zero value: there is no ICI.
type Pod struct{ Chips, Slice int }

// Check says what is wrong with the slice of so many hosts of a pod, as
// Cluster.Validate does.
func (s *Slice) Check(hosts int, pod Pod) error {
	var ps problems
	s.check(hosts, pod, "slice", &ps)
	return ps.join()
}

// check says what is wrong with the slice of so many hosts of a pod.
func (s Slice) check(hosts int, pod Pod, field string, ps *problems) {
	if hosts < 1 {
		return // said already
	}
	if hosts*hostSize > pod.Slice {
		ps.say(field+".count", "%d hosts have %d chips, and the largest slice %d; make more groups, which the data centre's network joins", hosts, hosts*hostSize, pod.Slice)
		return
	}
	if len(s.Torus) == 0 && nearestCube(hosts*hostSize) == nil {
		ps.say(field+".count", "%d hosts of %d chips make no torus: sizes are 1, 2 or a multiple of %d; take 1, 2, 4, 8 or a multiple of 16", hosts, hostSize, cubeSide)
		return
	}
	if !s.checkTorus(hosts, field, ps) {
		return
	}
	s = s.Filled(hosts)
	for d := range len(axes) {
		if n := strings.Count(s.Wrap, axes[d:d+1]); n > 0 && s.Torus[d]%cubeSide != 0 {
			ps.say(field+".wrap", "%q closes %c, which has %d chips; only multiples of %d end at an optical switch", suggest.Clip(s.Wrap), axes[d], s.Torus[d], cubeSide)
		}
	}
	if s.Wrap != "none" && (strings.Trim(s.Wrap, axes) != "" || len(s.Wrap) > len(axes) || !slices.IsSorted([]byte(s.Wrap)) || len(slices.Compact([]byte(s.Wrap))) != len(s.Wrap)) {
		ps.say(field+".wrap", "%q must name dimensions in order, such as xyz or xz, or be none", suggest.Clip(s.Wrap))
	}
	s.checkCubes(pod.Chips/(cubeSide*faceSize), field, ps)
}

func (s *Slice) checkTorus(hosts int, field string, ps *problems) bool {
	if len(s.Torus) == 0 {
		return true
	}
	if len(s.Torus) != len(axes) {
		ps.say(field+".torus", "has %d dimensions; ICI has %d: [4, 4, 8]", len(s.Torus), len(axes))
		return false
	}
	if sideProblem(s.Torus) >= 0 || s.Torus[0] < hostSide || s.Torus[1] < hostSide {
		ps.say(field+".torus", "%v: sizes must be 1, 2 or a multiple of %d, and the first two at least %d, as a host has 2×2×1 chips", s.Torus, cubeSide, hostSide)
		return false
	}
	if !s.buildable() || s.Chips() != hosts*hostSize {
		ps.say(field+".torus", "%v are not the %d chips of count: %d hosts", s.Torus, hosts*hostSize, hosts)
		return false
	}
	return true
}

// buildable reports whether the shape is that of whole hosts, and no more of them
// than a cluster has.
func (s *Slice) buildable() bool {
	if len(s.Torus) != len(axes) || sideProblem(s.Torus) >= 0 || s.Torus[0] < hostSide || s.Torus[1] < hostSide {
		return false
	}
	chips := 1
	for _, d := range s.Torus {
		if d > MaxNodes || chips > MaxNodes*hostSize {
			return false
		}
		chips *= d
	}
	return chips <= MaxNodes*hostSize
}

// checkCubes checks which cubes of a pod the slice is made of, and what is dark.
func (s *Slice) checkCubes(pod int, field string, ps *problems) {
	if n := s.places(); len(s.Cubes) != n {
		ps.say(field+".cubes", "names %d; a slice of %v has %d", len(s.Cubes), s.Torus, n)
	}
	seen := map[int]bool{}
	for i, c := range s.Cubes {
		if c < 0 || c >= pod || seen[c] {
			ps.say(fmt.Sprintf("%s.cubes[%d]", field, i), "%d must be a cube of the pod from 0 to %d that is named once", c, pod-1)
		}
		seen[c] = true
	}
	for i, name := range s.Dark {
		if !isCircuit(name, pod) {
			ps.say(fmt.Sprintf("%s.dark[%d]", field, i), "%q must be an optical switch, x0 to z%d, or a circuit through it that leaves a cube, x0@0 to z%d@%d", suggest.Clip(name), faceSize-1, faceSize-1, pod-1)
		}
	}
}

// isCircuit reports whether a name is one of Dark's.
func isCircuit(name string, pod int) bool {
	if name == "" || !strings.Contains(axes, name[:1]) {
		return false
	}
	ocs, cube, one := strings.Cut(name[1:], "@")
	return isBelow(ocs, faceSize) && (!one || isBelow(cube, pod))
}

// isBelow reports whether a text is a number as it is printed, below a bound.
func isBelow(text string, bound int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 0 && n < bound && strconv.Itoa(n) == text
}
