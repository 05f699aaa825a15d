package topoxml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// foundGPU is a GPU with where the file says it.
type foundGPU struct {
	machine.GPU
	said      string // bus id in the file
	clone     int    // how many GPUs had it before
	rank, dev int    // -1 when the file does not say
	element   *element
}

// gpu reads a GPU; e is its gpu element, nil when only the class tells.
func (h *host) gpu(p machine.PCI, e, pci *element) {
	g := foundGPU{GPU: machine.GPU{PCI: p}, element: e, rank: -1, dev: -1}
	g.said, _ = busID(pci.attr("busid"))
	g.clone = h.clones[g.said] - 1
	if e != nil {
		h.dump = true
		g.rank, g.dev = h.position(e, "rank"), h.position(e, "dev")
		g.Arch, g.Units = archOf(h.number(e, "sm"), e.attr("gcn"), p)
		g.GDR = support(e, "gdr")
		h.stray = h.stray || e.text
	}
	g.Model = lookup(p.ID).model
	if e != nil {
		h.oursGPU(e, &g.GPU)
	} else {
		g.Arch = lookup(p.ID).arch
	}
	h.gpus = append(h.gpus, g)
}

func (h *host) position(e *element, name string) int {
	if !e.has(name) {
		return -1
	}
	return h.number(e, name)
}

// archOf returns which processor it is, and of how many units. NVIDIA's sm is an
// architecture, AMD's the number of compute units, next to gcn.
func archOf(sm int, gcn string, p machine.PCI) (arch string, units int) {
	gcn = strings.TrimPrefix(gcn, "gfx")
	switch {
	case gcn == "910": // RCCL's number for MI200
		return "gfx90a", sm
	case gcn != "":
		return "gfx" + gcn, sm
	case isAMD(p):
		return lookup(p.ID).arch, sm
	case sm > 0:
		return "sm_" + strconv.Itoa(sm), 0
	}
	return lookup(p.ID).arch, 0
}

const vendorAMD = "1002" // PCI-SIG

func isAMD(p machine.PCI) bool {
	return strings.HasPrefix(p.ID, vendorAMD+":") || p.Class>>8 == 0x0380 || p.Class>>16 == 0x12
}

// product is what a PCI id stands for.
type product struct{ id, model, arch string }

// products are those of the data centre (pci.ids; architectures from CUDA's and
// ROCm's tables of GPUs).
var products = []product{
	{"10de:15f8", "P100 PCIe 16GB", "sm_60"},
	{"10de:15f9", "P100 SXM2 16GB", "sm_60"},
	{"10de:1db1", "V100 SXM2 16GB", "sm_70"},
	{"10de:1db4", "V100 PCIe 16GB", "sm_70"},
	{"10de:1db5", "V100 SXM2 32GB", "sm_70"},
	{"10de:1db6", "V100 PCIe 32GB", "sm_70"},
	{"10de:1db8", "V100 SXM3 32GB", "sm_70"},
	{"10de:1df6", "V100S PCIe 32GB", "sm_70"},
	{"10de:1eb8", "T4", "sm_75"},
	{"10de:20b0", "A100 SXM4 40GB", "sm_80"},
	{"10de:20b2", "A100 SXM4 80GB", "sm_80"},
	{"10de:20b3", "A100 SXM 64GB", "sm_80"},
	{"10de:20b5", "A100 PCIe 80GB", "sm_80"},
	{"10de:20b7", "A30 PCIe", "sm_80"},
	{"10de:20f1", "A100 PCIe 40GB", "sm_80"},
	{"10de:20f3", "A800 SXM4 80GB", "sm_80"},
	{"10de:20f5", "A800 PCIe 80GB", "sm_80"},
	{"10de:2204", "GeForce RTX 3090", "sm_86"},
	{"10de:2230", "RTX A6000", "sm_86"},
	{"10de:2235", "A40", "sm_86"},
	{"10de:2236", "A10", "sm_86"},
	{"10de:2237", "A10G", "sm_86"},
	{"10de:2684", "GeForce RTX 4090", "sm_89"},
	{"10de:26b5", "L40", "sm_89"},
	{"10de:26b9", "L40S", "sm_89"},
	{"10de:27b8", "L4", "sm_89"},
	{"10de:2321", "H100 NVL", "sm_90"},
	{"10de:2322", "H800 PCIe", "sm_90"},
	{"10de:2324", "H800", "sm_90"},
	{"10de:2329", "H20", "sm_90"},
	{"10de:2330", "H100 SXM5 80GB", "sm_90"},
	{"10de:2331", "H100 PCIe", "sm_90"},
	{"10de:2335", "H200 SXM 141GB", "sm_90"},
	{"10de:233b", "H200 NVL", "sm_90"},
	{"10de:2901", "B200", "sm_100"},
	{"10de:2941", "GB200", "sm_100"},
	{"10de:31c2", "GB300", "sm_103"},
	{"1002:738c", "Instinct MI100", "gfx908"},
	{"1002:7408", "Instinct MI250X", "gfx90a"},
	{"1002:740c", "Instinct MI250X", "gfx90a"},
	{"1002:740f", "Instinct MI210", "gfx90a"},
	{"1002:74a0", "Instinct MI300A", "gfx942"},
	{"1002:74a1", "Instinct MI300X", "gfx942"},
	{"1002:74b5", "Instinct MI300X VF", "gfx942"},
}

func lookup(id string) product {
	for _, p := range products {
		if id == p.id || strings.HasPrefix(id, p.id+":") {
			return p
		}
	}
	return product{}
}

// orderGPUs puts them in the order of CUDA: by rank, else by device number,
// else as the file has them.
func (h *host) orderGPUs() {
	for _, key := range []func(foundGPU) int{
		func(g foundGPU) int { return g.rank },
		func(g foundGPU) int { return g.dev },
	} {
		if distinct(h.gpus, key) {
			slices.SortStableFunc(h.gpus, func(a, b foundGPU) int { return cmp.Compare(key(a), key(b)) })
			break
		}
	}
	for i, g := range h.gpus {
		h.gpusAt[g.said] = append(h.gpusAt[g.said], i)
		h.m.GPUs = append(h.m.GPUs, g.GPU)
		h.tell(machine.Device{Index: i}, oursToldOf(g.element))
	}
}

// distinct reports whether all have a key, each another.
func distinct[T any](all []T, key func(T) int) bool {
	seen := map[int]bool{}
	for _, v := range all {
		k := key(v)
		if k < 0 || seen[k] {
			return false
		}
		seen[k] = true
	}
	return true
}
