package sweep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/fabric"
)

// Placement says on which GPU each rank of the world is, in the words of
// mpirun. The zero value takes all GPUs in order.
type Placement struct {
	// GPUs lists them by their index in the cluster; nil: Hosts decide.
	GPUs []int
	// Hosts are the lines of a host file; nil: every node, with all its GPUs.
	Hosts []Host
	// ByNode deals ranks to the nodes in turn (mpirun --map-by node) instead of
	// filling one after the other.
	ByNode bool
	// Each is how many GPUs of every node have a rank where Hosts don't say, the
	// first ones; a node that has fewer gives all. 0: all of every node.
	Each int
}

// Host is a line of a host file.
type Host struct {
	Name  string
	Slots int    // 0: the line doesn't say
	At    string // file and line, for messages
}

// maxHosts is how many lines of hosts a file may have: one a GPU.
const maxHosts = 1 << 17

// ParseHosts reads a host file as Open MPI and MPICH do: a node a line, how many
// ranks it takes after slots= or a colon, and comments after #. Open MPI's
// max_slots, which bounds what may be asked for besides, is passed over. Errors
// name the line.
func ParseHosts(file string, data []byte) ([]Host, error) {
	var hosts []Host
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text, _, _ = strings.Cut(text, "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		h := Host{Name: words[0], At: fmt.Sprintf("%s:%d", file, line)}
		words = words[1:]
		if name, n, ok := strings.Cut(h.Name, ":"); ok { // MPICH
			h.Name, words = name, append(words, "slots="+n)
		}
		for _, w := range words {
			key, v, _ := strings.Cut(w, "=")
			n, err := strconv.ParseUint(v, 10, 31)
			switch key {
			case "slots":
				h.Slots = int(n)
			case "max_slots", "max-slots":
			default:
				n = 0
			}
			if err != nil || n == 0 {
				return nil, fmt.Errorf("%s: %.64q: after the node comes slots=N, with N at least 1", h.At, w)
			}
		}
		if hosts = append(hosts, h); len(hosts) > maxHosts {
			return nil, fmt.Errorf("%s: more than %d hosts", h.At, maxHosts)
		}
	}
	if len(hosts) == 0 {
		return nil, fmt.Errorf("%s: names no node; write one a line, such as: node0 slots=8", file)
	}
	return hosts, nil
}

// ParseGPUs reads a list of GPUs such as 3,1,2,0 or 8-15,0-7. Errors name the
// entry.
func ParseGPUs(s string) ([]int, error) {
	var gpus []int
	for i, entry := range strings.Split(s, ",") {
		a, b, ranged := strings.Cut(strings.TrimSpace(entry), "-")
		if !ranged {
			b = a
		}
		from, errA := strconv.ParseUint(a, 10, 31)
		to, errB := strconv.ParseUint(b, 10, 31)
		if errA != nil || errB != nil || from > to {
			return nil, fmt.Errorf("entry %d, %.64q, must be a GPU such as 3, or GPUs such as 0-7", i+1, entry)
		}
		if to-from+1 > uint64(maxHosts-len(gpus)) {
			return nil, fmt.Errorf("entry %d, %.64q: more than %d GPUs", i+1, entry, maxHosts)
		}
		for g := from; g <= to; g++ {
			gpus = append(gpus, int(g))
		}
	}
	return gpus, nil
}

// Order returns the GPU of each rank; nil for all in order. Errors name the
// entry, or the line of the host file.
func (p *Placement) Order(f *fabric.Fabric) ([]int, error) {
	switch {
	case p.GPUs != nil:
		return p.GPUs, checkOrder(f, p.GPUs)
	case p.Hosts == nil && !p.ByNode && p.Each == 0:
		return nil, nil
	}
	if err := p.checkEach(f); err != nil {
		return nil, err
	}
	slots, err := p.slots(f)
	if err != nil {
		return nil, err
	}
	if p.ByNode {
		return dealt(slots), nil
	}
	return slices.Concat(slots...), nil
}

// slots returns the GPUs that ranks take on each node, nodes in the order of
// the hosts. A node without a number of slots has one for each line that names
// it or, when that is a single line, one for each of its GPUs.
func (p *Placement) slots(f *fabric.Fabric) ([][]int, error) {
	var nodes []int
	want := make([]int, f.Nodes()) // slots of each node
	bare := make([]int, f.Nodes()) // lines that don't say
	if p.Hosts == nil {
		for n := range want {
			nodes = append(nodes, n)
			bare[n] = 1
		}
	}
	last := make([]string, f.Nodes())
	for _, h := range p.Hosts {
		n, err := node(f, h)
		if err != nil {
			return nil, err
		}
		if want[n]+bare[n] == 0 {
			nodes = append(nodes, n)
		}
		want[n] += h.Slots
		if h.Slots == 0 {
			bare[n]++
		}
		last[n] = h.At
	}
	var all [][]int
	for _, n := range nodes {
		first, gpus := f.GPURange(n)
		k := want[n] + bare[n]
		if k == 1 && bare[n] == 1 {
			k = gpus
			if p.Hosts == nil && p.Each > 0 {
				k = min(p.Each, gpus)
			}
		}
		if k > gpus {
			return nil, fmt.Errorf("%s: node%d has %d GPUs, but %d slots are asked for; a GPU takes one rank", last[n], n, gpus, k)
		}
		all = append(all, span(first, k))
	}
	return all, nil
}

// checkEach reports more GPUs of every node than any has.
func (p *Placement) checkEach(f *fabric.Fabric) error {
	most := 0
	for n := range f.Nodes() {
		_, gpus := f.GPURange(n)
		most = max(most, gpus)
	}
	if p.Hosts == nil && p.Each > most {
		return fmt.Errorf("%d GPUs of each server are asked for, and none has more than %d; --nodes takes more servers", p.Each, most)
	}
	return nil
}

// node returns the index of the node that a host names.
func node(f *fabric.Fabric, h Host) (int, error) {
	digits, ok := strings.CutPrefix(h.Name, "node")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n < 0 || n >= f.Nodes() || strconv.Itoa(n) != digits {
		return 0, fmt.Errorf("%s: node %.64q is unknown; allowed are node0 to node%d", h.At, h.Name, f.Nodes()-1)
	}
	return n, nil
}

func span(first, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = first + i
	}
	return s
}

// dealt takes one of each list in turn until all are used up.
func dealt(lists [][]int) []int {
	var all []int
	for i := 0; ; i++ {
		n := len(all)
		for _, l := range lists {
			if i < len(l) {
				all = append(all, l[i])
			}
		}
		if len(all) == n {
			return all
		}
	}
}

// checkOrder reports a GPU that is not there, or that two ranks would have.
func checkOrder(f *fabric.Fabric, order []int) error {
	rank := map[int]int{}
	for i, g := range order {
		if g < 0 || g >= f.GPUs() {
			return fmt.Errorf("rank %d: GPU %d is unknown; the cluster has GPUs 0 to %d", i, g, f.GPUs()-1)
		}
		if other, taken := rank[g]; taken {
			return fmt.Errorf("rank %d: GPU %d has rank %d already; a GPU takes one rank", i, g, other)
		}
		rank[g] = i
	}
	return nil
}
