package survey

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// isSimAI tells SimAI's file by its first two lines: five numbers and a GPU, then
// numbers only.
func isSimAI(data []byte) bool {
	head, rest, _ := bytes.Cut(data, []byte("\n"))
	if len(head) > 200 {
		return false
	}
	f := strings.Fields(string(head))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	return len(f) == 6 && allNumbers(f[:5]) && !allNumbers(f[5:]) && allNumbers(strings.Fields(string(second)))
}

func allNumbers(words []string) bool {
	for _, w := range words {
		if _, err := strconv.ParseUint(w, 10, 31); err != nil {
			return false
		}
	}
	return len(words) > 0
}

// simai is a file being read. Ids count GPUs first, then NVSwitches, then
// switches.
type simai struct {
	*Survey
	gpus, perHost, nvswitches, nodes int
	domains                          map[int][]int // hosts by NVSwitch
}

// readSimAI reads a topology for SimAI's ns-3.
func readSimAI(data []byte) (*Survey, error) {
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	f := strings.Fields(lines[0])
	var n [5]int // nodes, GPUs a server, NVSwitches, switches, links
	for i := range n {
		n[i], _ = strconv.Atoi(f[i])
	}
	r := simai{Survey: &Survey{Kind: "SimAI topology"}, gpus: n[0] - n[2] - n[3], perHost: n[1], nvswitches: n[2], nodes: n[0], domains: map[int][]int{}}
	if r.gpus < 1 || r.gpus > maxHosts || r.perHost < 1 || r.gpus%r.perHost != 0 {
		return nil, fmt.Errorf("line 1: %d nodes less %d NVSwitches and %d switches leave %d GPUs, which do not fill servers of %d", n[0], n[2], n[3], r.gpus, n[1])
	}
	if err := r.places(n[3], f[5]); err != nil {
		return nil, err
	}
	if said := len(strings.Fields(lines[1])); said != n[2]+n[3] {
		r.Say(Odd, "line 2 lists %d switches; line 1 says %d", said, n[2]+n[3])
	}
	links := 0
	for i, line := range lines[2:] {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if links++; links > maxLinks {
			return nil, fmt.Errorf("more than %d links, the most that are read", maxLinks)
		}
		if err := r.link(strings.Fields(line)); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+3, err)
		}
	}
	if links != n[4] {
		r.Say(Odd, "line 1 says %d links; the file has %d", n[4], links)
	}
	r.finish()
	return r.Survey, nil
}

func (r *simai) places(switches int, model string) error {
	for i := range r.gpus / r.perHost {
		p, err := r.add(fmt.Sprintf("host%d", i), false)
		if err != nil {
			return err
		}
		h := &r.Hosts[p.Index]
		h.GPUs, h.Model = r.perHost, model
	}
	for i := range switches {
		if _, err := r.add(fmt.Sprintf("switch%d", r.gpus+r.nvswitches+i), true); err != nil {
			return err
		}
	}
	return nil
}

// link reads "src dst rate latency loss".
func (r *simai) link(f []string) error {
	if len(f) != 5 || !allNumbers(f[:2]) {
		return fmt.Errorf("%q must be: source destination rate latency loss", clip(strings.Join(f, " ")))
	}
	var ends [2]int
	for i := range ends {
		if ends[i], _ = strconv.Atoi(f[i]); ends[i] >= r.nodes {
			return fmt.Errorf("node %d; there are %d, from 0", ends[i], r.nodes)
		}
	}
	if f[4] != "0" {
		r.Say(Missing, "a link loses packets (%s); loss is not carried over", clip(f[4]))
	}
	rate, err := parseRate(f[2])
	if err != nil {
		return err
	}
	latency, err := parseTime(f[3])
	if err != nil {
		return err
	}
	a, b := min(ends[0], ends[1]), max(ends[0], ends[1])
	if nv := b - r.gpus; a < r.gpus && nv >= 0 && nv < r.nvswitches {
		r.domains[nv] = append(r.domains[nv], a/r.perHost)
		return nil
	}
	from, to := r.place(a), r.place(b)
	if !from.Switch {
		r.Hosts[from.Index].NICs++
	}
	if from.Index < 0 || to.Index < 0 {
		return fmt.Errorf("an NVSwitch is joined with another switch")
	}
	return r.join(from, to, rate, latency)
}

// place returns the place of an id; Index −1 for an NVSwitch.
func (r *simai) place(id int) Place {
	switch {
	case id < r.gpus:
		return Place{false, id / r.perHost}
	case id < r.gpus+r.nvswitches:
		return Place{true, -1}
	}
	return Place{true, id - r.gpus - r.nvswitches}
}

// finish makes domains of NVSwitches that several hosts share.
func (r *simai) finish() {
	for nv := range r.nvswitches {
		d := Domain{Name: fmt.Sprintf("nvswitch%d", r.gpus+nv)}
		seen := map[int]bool{}
		for _, h := range r.domains[nv] {
			if !seen[h] {
				seen[h] = true
				d.Hosts = append(d.Hosts, h)
			}
		}
		if len(d.Hosts) > 1 {
			r.Domains = append(r.Domains, d)
		}
	}
	if r.nvswitches > 0 {
		r.Say(Odd, "rates and latencies of the %d NVSwitches are inside of servers: the system's own count", r.nvswitches)
	}
}
