package smi

import (
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// maxLinks bounds a count of NVLinks. The most of any GPU are 36.
const maxLinks = 576

// parseCell reads a cell. SOC is what drivers before 384 called SYS.
func parseCell(word string) (machine.Distance, bool) {
	word = strings.ToUpper(word)
	for _, n := range []machine.Nearness{machine.Self, machine.PIX, machine.PXB, machine.PHB, machine.NODE, machine.SYS} {
		if word == n.String() {
			return machine.Distance{Nearness: n}, true
		}
	}
	if word == "SOC" {
		return machine.Distance{Nearness: machine.SYS}, true
	}
	if digits, ok := strings.CutPrefix(word, "NV"); ok {
		n, err := strconv.Atoi(digits)
		if err == nil && n > 0 && n <= maxLinks {
			return machine.Distance{Nearness: machine.NV, Links: n}, true
		}
	}
	return machine.Distance{}, false
}

// unread are words in place of a cell that tell no distance.
var unread = []string{"N/A", "ERR!", "ERR", "ERROR", "UNKNOWN", "NONE", "?", "-", "--"}

// isUnread reports whether a word stands for a cell, and tells no distance: a
// count of links that no GPU has among them.
func isUnread(word string) bool {
	_, count := numbered(word, "NV")
	_, known := parseCell(word)
	return slices.Contains(unread, strings.ToUpper(word)) || count && !known
}

// peerWords stand in the cells of nvidia-smi topo -p2p, a report of what peer to
// peer is possible.
var peerWords = []string{"OK", "CNS", "GNS", "TNS", "NS", "DR", "U"}

// isGPU reports whether a label is that of a GPU, and which.
func isGPU(label string) (int, bool) { return numbered(label, "GPU") }

func numbered(label, prefix string) (int, bool) {
	digits, ok := strings.CutPrefix(strings.ToUpper(label), prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= 0 && strconv.Itoa(n) == digits
}

// isDevice reports whether a word may be the name of a device: that of a GPU,
// or of a NIC: NIC3, mlx5_0, rdmap16s27, hfi1_0, eth0.
func isDevice(word string) bool {
	if _, ok := isGPU(word); ok {
		return true
	}
	if len(word) > maxLabel || word == "" || strings.Trim(word, "0123456789") == word[:0] {
		return false
	}
	if _, cell := parseCell(word); cell || isUnread(word) {
		return false
	}
	for _, c := range []byte(word) {
		if !isAlnum(c) && !strings.ContainsRune("_-.:@", rune(c)) {
			return false
		}
	}
	return word[len(word)-1] >= '0' && word[len(word)-1] <= '9'
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// affinity is what stands behind the cells of a GPU.
type affinity struct {
	cpus, nodes, own string // CPU Affinity, NUMA Affinity, GPU NUMA ID
}

// parseAffinity reads the end of a row. columns is how many of the three the
// header has. Tabs keep an empty column visible; spaces do not, and then a
// value goes where it fits: CPUs are a range, memory of a GPU comes last.
func parseAffinity(tail string, columns int) affinity {
	var words []string
	if strings.Contains(tail, "\t") {
		words = tabbed(tail)
	} else if words = strings.Fields(tail); len(words) == columns-1 && columns > 1 && !strings.ContainsAny(words[0], "-,") {
		words = append([]string{""}, words...)
	}
	words = append(words, "", "", "")
	list := func(word string) string {
		short, err := machine.ParseList(word)
		if err != nil {
			return "" // N/A, or a remark
		}
		return short
	}
	return affinity{list(words[0]), list(words[1]), list(words[2])}
}

// tabbed parts at tabs. nvidia-smi writes one more tab than columns before GPU
// NUMA ID.
func tabbed(tail string) []string {
	parts := strings.Split(strings.TrimPrefix(strings.TrimLeft(tail, " "), "\t"), "\t")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) >= 4 && parts[2] == "" {
		parts = append(parts[:2], parts[3:]...)
	}
	return parts
}
