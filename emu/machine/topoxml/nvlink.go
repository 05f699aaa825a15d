package topoxml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// classCPU is the class of a POWER9's NVLink bridge: the link ends at the CPU.
const classCPU = "068001"

// megabyte is NCCL's unit of c2c rates.
const megabyte = shaping.Rate(1_000_000)

// links reads the links of all GPUs. Between GPUs both ends say how many there
// are: only those that both know of can be used.
func (h *host) links() error {
	told := map[[2]int]int{} // from GPU, to GPU
	rate := map[[2]int]shaping.Rate{}
	for _, id := range h.planes {
		h.plane(id)
	}
	for i, g := range h.gpus {
		if g.element == nil {
			continue
		}
		for _, e := range g.element.all("nvlink", "xgmi") {
			if err := h.link(i, e, told, rate); err != nil {
				return err
			}
		}
		h.c2c(i, g.element)
	}
	for a := range h.gpus {
		for b := a + 1; b < len(h.gpus); b++ {
			h.pair(a, b, told[[2]int{a, b}], told[[2]int{b, a}], rate[[2]int{a, b}])
		}
	}
	slices.SortStableFunc(h.m.NVLinks, func(a, b machine.NVLink) int {
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(kindOf(a), kindOf(b)), cmp.Compare(a.To, b.To))
	})
	return nil
}

// kindOf puts links to planes first.
func kindOf(l machine.NVLink) int {
	if l.Plane {
		return 0
	}
	return 1
}

// NCCL's word for an NVSwitch that a virtual machine does not show, and how we
// write it.
const (
	hidden       = "fffffff:ffff:ff"
	hiddenSwitch = "fffffff:ff:ff.0"
)

func (h *host) link(gpu int, e *element, told map[[2]int]int, rates map[[2]int]shaping.Rate) error {
	said := e.attr("target")
	if said == hidden {
		said = hiddenSwitch
	}
	target, err := busID(said)
	count, rate := h.number(e, "count"), h.rate(e.attr(oursRate))
	class := classOf(e.attr("tclass"))
	to := h.gpuAt(target, h.gpus[gpu].clone)
	switch {
	case err != nil:
		h.say(machine.Odd, name(gpu), "line %d: target: %v; the link is left out", e.line, err)
	case count == 0:
		h.say(machine.Odd, name(gpu), "a link to %s with no count; it is left out", target)
	case to == gpu:
		h.say(machine.Odd, name(gpu), "a link to itself; it is left out")
	case strings.HasPrefix(class, classCPU):
		h.m.GPUs[gpu].C2C.Count += count
	case to >= 0:
		told[[2]int{gpu, to}] += count
		rates[[2]int{min(gpu, to), max(gpu, to)}] = rate
	case class == "" && !h.switches[target] && target != hiddenSwitch:
		if !h.guessed[target] {
			h.guessed[target] = true
			h.say(machine.Assumed, name(gpu), "%d links to %s, which is not in the file and has no class; taken as an NVLink switch, as NCCL does", count, target)
		}
		return h.toPlane(gpu, target, count, rate, e)
	case strings.HasPrefix(class, classNVSwitch), class == "":
		return h.toPlane(gpu, target, count, rate, e)
	default:
		h.say(machine.Odd, name(gpu), "%d links to %s, which is not in the file; they are left out", count, target)
	}
	return nil
}

// gpuAt returns the GPU with a bus id, -1 when there is none. Where the file
// gives an id several times, links stay among the same repetition.
func (h *host) gpuAt(id string, repetition int) int {
	all := h.gpusAt[id]
	for _, i := range all {
		if h.gpus[i].clone == repetition {
			return i
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[0]
}

func (h *host) toPlane(gpu int, id string, count int, rate shaping.Rate, e *element) error {
	p := h.plane(id)
	if p >= machine.MaxDevices {
		return fmt.Errorf("line %d: more than %d NVLink switches", e.line, machine.MaxDevices)
	}
	if i, again := h.toPlanes[[2]int{gpu, p}]; again {
		h.m.NVLinks[i].Count += count
		return nil
	}
	h.toPlanes[[2]int{gpu, p}] = len(h.m.NVLinks)
	h.m.NVLinks = append(h.m.NVLinks, machine.NVLink{GPU: gpu, Plane: true, To: p, Count: count, Rate: rate})
	return nil
}

// plane returns the number of the plane with a bus id, a new one if need be.
func (h *host) plane(id string) int {
	i, ok := h.planeAt[id]
	if !ok {
		i = len(h.m.Planes)
		h.planeAt[id] = i
		h.m.Planes = append(h.m.Planes, machine.Plane{BusID: id})
	}
	return i
}

func (h *host) pair(a, b, ab, ba int, rate shaping.Rate) {
	if ab != ba {
		h.say(machine.Odd, name(a), "knows of %d links to %s, which knows of %d; taken as %d", ab, name(b), ba, min(ab, ba))
	}
	if n := min(ab, ba); n > 0 {
		h.m.NVLinks = append(h.m.NVLinks, machine.NVLink{GPU: a, To: b, Count: n, Rate: rate})
	}
}

func (h *host) c2c(gpu int, e *element) {
	for _, c := range e.all("c2c") {
		to := &h.m.GPUs[gpu].C2C
		to.Count += max(h.number(c, "count"), 1)
		to.Rate = shaping.Rate(h.number(c, "bw")) * megabyte
		if c.has(oursRate) {
			to.Rate = h.rate(c.attr(oursRate))
		}
	}
}

func name(gpu int) string { return machine.Device{Index: gpu}.String() }
