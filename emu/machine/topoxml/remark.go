package topoxml

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// remarks notes what the file left out.
func (h *host) remarks() {
	m := &h.m
	if h.stray {
		h.say(machine.Odd, "file", "text stands between the elements and is ignored; NCCL would refuse the file")
	}
	if len(m.Sockets) > 2 {
		h.say(machine.Assumed, "sockets", "each of the %d cpu elements is taken as a socket; the file does not say which NUMA nodes share one", len(m.Sockets))
	}
	h.remarkGPUs()
	h.remarkLinks()
	h.remarkSlots()
	h.remarkNICs()
	if len(m.Devices()) > 1 {
		h.say(machine.Missing, "host bridges", "the file does not tell them apart: what shares a NUMA node but no switch is PHB here, where nvidia-smi may say NODE")
	}
}

func (h *host) remarkNICs() {
	var unknown []string
	for i, n := range h.m.NICs {
		if n.Speed == 0 {
			unknown = append(unknown, machine.Device{NIC: true, Index: i}.String())
		}
	}
	if len(unknown) > 0 {
		h.say(machine.Missing, "nics", "the speed of %s is not said", some(unknown))
	}
	if len(h.m.NICs) == 0 {
		h.say(machine.Missing, "nics", "the file has no network device")
	}
}

func (h *host) remarkGPUs() {
	byClass, unknown := 0, 0
	for i, g := range h.gpus {
		if g.element == nil {
			byClass++
			if h.dump {
				h.say(machine.Odd, name(i), "%s is a GPU by its PCI class, but has no gpu element; NCCL would leave it out", g.BusID)
			}
		}
		if g.Arch == "" {
			unknown++
		}
	}
	if byClass > 0 && !h.dump {
		h.say(machine.Assumed, "gpus", "a template without gpu elements: by PCI class GPUs %d, NICs %d", byClass, len(h.m.NICs))
	}
	if unknown > 0 {
		h.say(machine.Missing, "gpus", "%d of %d do not say which architecture they are", unknown, len(h.gpus))
	}
}

// remarkLinks says what the file does not tell about NVLink, and names GPUs
// that have fewer links than the others.
func (h *host) remarkLinks() {
	m := &h.m
	switch none := len(m.NVLinks) == 0; {
	case none && len(m.GPUs) == 1:
		return
	case none && slices.ContainsFunc(m.GPUs, func(g machine.GPU) bool { return g.C2C.Count > 0 }):
		h.say(machine.Missing, "nvlinks", "the file has none between GPUs; they reach each other by way of the CPU")
		return
	case none && h.dump:
		h.say(machine.Missing, "nvlinks", "the file has none; GPUs reach each other over PCIe")
		return
	case none:
		h.say(machine.Missing, "nvlinks", "a template says nothing of NVLink; unless links are added GPUs reach each other over PCIe")
		return
	}
	most, of := 0, make([]int, len(m.GPUs))
	for _, l := range m.NVLinks {
		of[l.GPU] += l.Count
		if !l.Plane {
			of[l.To] += l.Count
		}
	}
	for _, n := range of {
		most = max(most, n)
	}
	for i, n := range of {
		switch {
		case n == 0:
			h.say(machine.Odd, name(i), "%shas no NVLink at all, while others have up to %d: its record may be incomplete, or its links down", h.rank(i), most)
		case n < most:
			h.say(machine.Odd, name(i), "%shas %d NVLinks, while others have up to %d: some may be down", h.rank(i), n, most)
		}
	}
	for _, l := range m.NVLinks {
		if l.Rate == 0 {
			h.say(machine.Missing, "nvlinks", "the rate of a link is not in the file")
			return
		}
	}
}

// rank names the rank that a dump gives a GPU.
func (h *host) rank(i int) string {
	if h.gpus[i].rank < 0 {
		return ""
	}
	return fmt.Sprintf("rank %d, %s: ", h.gpus[i].rank, h.m.GPUs[i].BusID)
}

func (h *host) remarkSlots() {
	var unknown []string
	for _, d := range h.m.Devices() {
		if p := h.m.PCI(d); p.BusID != "" && p.Slot.Rate() == 0 {
			unknown = append(unknown, d.String())
		}
	}
	if len(unknown) > 0 {
		h.say(machine.Missing, "slots", "PCIe speed or width of %s is not said", some(unknown))
	}
}

// some lists names, but not a screen of them.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
