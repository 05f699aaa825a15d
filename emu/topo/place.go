package topo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/suggest"
)

// Place is a device of a cluster.
type Place struct {
	Node  int
	NIC   bool
	Index int // on its node
}

// String returns "gpu3@node1".
func (p Place) String() string {
	kind := "gpu"
	if p.NIC {
		kind = "nic"
	}
	return fmt.Sprintf("%s%d@node%d", kind, p.Index, p.Node)
}

// gpu returns the number of a GPU in the cluster.
func (p Place) gpu(f *fabric.Fabric) int {
	first, _ := f.GPURange(p.Node)
	return first + p.Index
}

// placeOf returns a GPU of the cluster as a place.
func placeOf(f *fabric.Fabric, gpu int) Place { return Place{Node: f.NodeOf(gpu), Index: f.Local(gpu)} }

// ParsePlace reads "gpu3@node1" or "nic0@node5"; without a node it is node 0.
// Port names' order, "node1/gpu3", is understood too.
func ParsePlace(f *fabric.Fabric, text string) (Place, error) {
	device, node, at := strings.Cut(text, "@")
	if n, d, ok := strings.Cut(text, "/"); ok && !at {
		device, node = d, n
	}
	p := Place{}
	var err error
	if node != "" {
		if p.Node, err = number(node, "node", f.Nodes()); err != nil {
			return p, fmt.Errorf("place %q: %w", suggest.Clip(text), err)
		}
	}
	_, most := f.GPURange(p.Node)
	kind := "gpu"
	if p.NIC = strings.HasPrefix(strings.ToLower(device), "nic"); p.NIC {
		kind, most = "nic", f.NICs(p.Node)
	}
	if p.Index, err = number(device, kind, most); err != nil {
		if !p.NIC && !strings.HasPrefix(strings.ToLower(device), "gpu") {
			err = fmt.Errorf("device %s", suggest.Unknown(device, devices(f, p.Node)))
		}
		return p, fmt.Errorf("place %q: %w", suggest.Clip(text), err)
	}
	return p, nil
}

// number reads what follows a word, below most.
func number(text, word string, most int) (int, error) {
	digits, ok := strings.CutPrefix(strings.ToLower(text), word)
	i, err := strconv.Atoi(digits)
	switch {
	case !ok || err != nil || i < 0 || strconv.Itoa(i) != digits:
		return 0, fmt.Errorf("%q must be %s0 to %s%d", suggest.Clip(text), word, word, most-1)
	case i >= most:
		return 0, fmt.Errorf("there is no %s; allowed are %s0 to %s%d", text, word, word, most-1)
	}
	return i, nil
}

// devices lists the names of a node's devices.
func devices(f *fabric.Fabric, node int) []string {
	var all []string
	_, gpus := f.GPURange(node)
	for i := range gpus {
		all = append(all, fmt.Sprintf("gpu%d", i))
	}
	for i := range f.NICs(node) {
		all = append(all, fmt.Sprintf("nic%d", i))
	}
	return all
}
