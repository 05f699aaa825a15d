package topoxml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// PCI classes by what they begin with: base class, or base and sub-class
// (PCI Code and ID Assignment Specification).
const (
	classBridge   = "0604"
	classGPU      = "03" // display controllers, 3D ones and others
	classAccel    = "12" // processing accelerators: AMD's since MI300
	classNVSwitch = "0680"
	classNIC      = "02"
)

// pci reads a pci element and all below it. Recursion is bounded by maxDepth.
func (h *host) pci(e *element, at machine.Place) error {
	p, err := h.identity(e, at)
	if err != nil {
		return err
	}
	if p.At, err = h.oursHost(e, p.At); err != nil {
		return err
	}
	h.stray = h.stray || e.text
	class := classOf(e.attr("class"))
	gpu, nic, below := e.all("gpu"), e.all("nic"), e.all("pci")
	switch {
	case len(gpu) > 0:
		h.gpu(p, gpu[0], e)
		at = p.At
	case len(nic) > 0:
		h.nic(p, nic)
		at = p.At
	case len(below) > 0 || strings.HasPrefix(class, classBridge):
		if len(h.m.Bridges) >= machine.MaxBridges {
			return fmt.Errorf("line %d: more than %d bridges", e.line, machine.MaxBridges)
		}
		at = machine.OnBridge(len(h.m.Bridges))
		h.m.Bridges = append(h.m.Bridges, machine.Bridge{PCI: p})
	default:
		return h.leaf(p, class, e)
	}
	if at == p.At && len(below) > 0 {
		h.say(machine.Odd, p.BusID, "a device with devices behind it; they are taken as beside it")
	}
	for _, c := range e.children {
		switch c.name {
		case "pci":
			if err := h.pci(c, at); err != nil {
				return err
			}
		case "gpu", "nic", "pcilink": // NCCL's note on peer switches: a pcilink is no wire
		default:
			h.ignored(c)
		}
	}
	return nil
}

// leaf reads a pci element that says by its class what it is, if at all.
func (h *host) leaf(p machine.PCI, class string, e *element) error {
	switch {
	case class == "":
		h.roleless = append(h.roleless, p.BusID)
		if h.dump || len(h.gpus) > 0 {
			h.say(machine.Odd, p.BusID, "neither a PCI class nor a device; it is left out")
		}
	case strings.HasPrefix(class, classNVSwitch):
		h.switches[p.BusID] = true // the links name it; where it hangs matters to nobody
	case strings.HasPrefix(class, classGPU), strings.HasPrefix(class, classAccel):
		h.gpu(p, nil, e)
	case strings.HasPrefix(class, classNIC):
		h.nic(p, nil)
	default:
		h.say(machine.Odd, p.BusID, "PCI class 0x%s is neither GPU, NIC nor bridge; it is left out", clip(class))
	}
	return nil
}

// identity reads what all devices have.
func (h *host) identity(e *element, at machine.Place) (machine.PCI, error) {
	p := machine.PCI{At: at}
	id, err := busID(e.attr("busid"))
	if err != nil {
		return p, fmt.Errorf("line %d: %w", e.line, err)
	}
	p.BusID = h.unique(id)
	if class := e.attr("class"); class != "" {
		v, err := strconv.ParseUint(classOf(class), 16, 24)
		if err != nil {
			h.say(machine.Odd, p.BusID, "class %q is none of PCI, six hexadecimal digits as in 0x030200, and left out", clip(class))
		}
		p.Class = uint32(v)
	}
	p.ID = deviceID(e)
	speed := e.attr("link_speed")
	p.Slot.Gen = machine.GenOf(speed)
	if p.Slot.Gen == 0 && speed != "" {
		h.say(machine.Odd, p.BusID, "link_speed %q is none of PCIe 1 to %d and taken as unknown; NCCL takes 8 GT/s", clip(speed), machine.MaxGen)
	}
	p.Slot.Lanes = h.number(e, "link_width")
	if s := (machine.Slot{Lanes: p.Slot.Lanes}); s.String() != "" {
		if _, err := machine.ParseSlot(s.String()); err != nil {
			h.say(machine.Odd, p.BusID, "link_width %d is no width of PCIe and taken as unknown", p.Slot.Lanes)
			p.Slot.Lanes = 0
		}
	}
	return p, nil
}

// classOf returns the digits of a PCI class, empty when they are none. Some tools
// lose the zero in front.
func classOf(text string) string {
	digits := strings.TrimPrefix(strings.ToLower(text), "0x")
	if strings.Trim(digits, "0123456789abcdef") != "" || len(digits) > 6 {
		return ""
	}
	if len(digits) == 5 {
		return "0" + digits
	}
	return digits
}

// busID returns a bus id in the form of Machine: lower case, at least four
// digits of domain.
func busID(text string) (string, error) {
	bad := fmt.Errorf("busid %q must be domain:bus:device.function in hexadecimal, as in 0000:1b:00.0", clip(text))
	rest, function, ok := strings.Cut(text, ".")
	if !ok {
		function = "0"
	}
	parts := strings.Split(rest, ":")
	if len(parts) == 2 { // without a domain, as lspci prints it
		parts = slices.Insert(parts, 0, "0")
	}
	if len(parts) != 3 {
		return "", bad
	}
	var v [4]uint64
	for i, digits := range append(parts, function) {
		var err error
		if v[i], err = strconv.ParseUint(digits, 16, [...]int{32, 8, 8, 4}[i]); err != nil {
			return "", bad
		}
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", v[0], v[1], v[2], v[3]), nil
}

// unique returns the bus id, or for one that was there before another: its
// domain is raised above what 16 bits hold.
func (h *host) unique(id string) string {
	n := h.clones[id]
	h.clones[id]++
	if n == 0 {
		return id
	}
	again := clone(id, n)
	h.say(machine.Odd, id, "is given more than once; number %d is called %s", n+1, again)
	return again
}

// clone returns the name of the n-th device after the first with a bus id.
func clone(id string, n int) string {
	domain, rest, _ := strings.Cut(id, ":")
	v, _ := strconv.ParseUint(domain, 16, 32) // written by busID
	return fmt.Sprintf("%04x:%s", (v+uint64(n)<<16)&0xffffffff, rest)
}

// deviceID returns vendor, device and those of the subsystem, as lspci -n
// prints them; empty when the file does not say.
func deviceID(e *element) string {
	var words []string
	for _, name := range []string{"vendor", "device", "subsystem_vendor", "subsystem_device"} {
		v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(e.attr(name)), "0x"), 16, 16)
		if err != nil {
			break
		}
		words = append(words, fmt.Sprintf("%04x", v))
	}
	if len(words) < 4 {
		words = words[:len(words)/2*2]
	}
	return strings.Join(words, ":")
}

// number reads a decimal attribute, 0 when it is not there. What is not a
// number, or beyond what anything has, is noted and 0 as well.
func (h *host) number(e *element, name string) int {
	text := e.attr(name)
	if text == "" {
		return 0
	}
	v, err := strconv.ParseInt(strings.TrimPrefix(text, "x"), 10, 32) // a width may be x16
	if err != nil || v < 0 {
		h.say(machine.Odd, fmt.Sprintf("line %d", e.line), "%s=%q is no number from 0 to 2147483647 and taken as unknown", name, clip(text))
		return 0
	}
	return int(v)
}

func support(e *element, name string) machine.Support {
	switch {
	case e == nil || e.attr(name) == "":
		return machine.Unsaid
	case e.attr(name) == "0", strings.EqualFold(e.attr(name), "false"):
		return machine.No
	default:
		return machine.Yes
	}
}
