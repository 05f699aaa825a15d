package topoxml

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

// Attributes of ours, written where NCCL's own do not say it all. NCCL keeps
// attributes that it does not know, and does nothing with them.
const (
	oursName        = "railyard_name"         // on system
	oursDomain      = "railyard_domain"       // on system
	oursPlanes      = "railyard_planes"       // on system: bus ids, where links do not give their order
	oursSocketLinks = "railyard_socket_links" // on system: "0-1:62GB/s …"
	oursSocket      = "railyard_socket"       // on cpu
	oursNodes       = "railyard_nodes"        // on cpu
	oursDRAM        = "railyard_dram"         // on cpu
	oursHost        = "railyard_host"         // on the topmost pci: bus id of its host bridge
	oursModel       = "railyard_model"        // on gpu
	oursArch        = "railyard_arch"         // on gpu
	oursUnits       = "railyard_units"        // on gpu
	oursNUMA        = "railyard_numa"         // on gpu
	oursTold        = "railyard_told"         // on gpu, net: "NIC1:SYS …", distances told otherwise
	oursRate        = "railyard_rate"         // on nvlink, xgmi, c2c, net
)

// system reads what the root says of this machine.
func (h *host) system(root *element) {
	h.m.Domain = root.attr(oursDomain)
	h.planes = strings.Fields(root.attr(oursPlanes))
	for _, part := range strings.Fields(root.attr(oursSocketLinks)) {
		pair, rate, _ := strings.Cut(part, ":")
		a, b, _ := strings.Cut(pair, "-")
		h.m.SocketLinks = append(h.m.SocketLinks, machine.SocketLink{A: atoi(a), B: atoi(b), Rate: h.rate(rate)})
	}
}

func (h *host) oursCPU(e *element, n *machine.NUMA) error {
	if e.has(oursSocket) {
		n.Socket = atoi(e.attr(oursSocket))
	}
	if n.Socket < 0 || n.Socket > len(h.m.Sockets) {
		return fmt.Errorf("line %d: %s=%q must be a socket named before, or the next one, %d", e.line, oursSocket, clip(e.attr(oursSocket)), len(h.m.Sockets))
	}
	if e.has(oursNodes) {
		n.Nodes = e.attr(oursNodes)
	}
	n.DRAM = h.rate(e.attr(oursDRAM))
	return nil
}

// oursHost returns the place behind the host bridge that a pci element names.
func (h *host) oursHost(e *element, at machine.Place) (machine.Place, error) {
	if at.Bridge || !e.has(oursHost) {
		return at, nil
	}
	id, err := busID(e.attr(oursHost))
	if err != nil {
		return at, fmt.Errorf("line %d: %s: %w", e.line, oursHost, err)
	}
	i, ok := h.hosted[id]
	if !ok {
		i = len(h.m.Bridges)
		h.hosted[id] = i
		h.m.Bridges = append(h.m.Bridges, machine.Bridge{PCI: machine.PCI{BusID: id, At: at}, Host: true})
	}
	return machine.OnBridge(i), nil
}

// oursToldOf returns what an element says of distances; devices have no numbers
// yet.
func oursToldOf(e *element) []string {
	if e == nil {
		return nil
	}
	return strings.Fields(e.attr(oursTold))
}

func (h *host) tell(a machine.Device, told []string) {
	for _, part := range told {
		other, word, _ := strings.Cut(part, ":")
		b, err := machine.ParseDevice(other)
		is, wrong := machine.ParseNearness(word)
		if err = errors.Join(err, wrong); err != nil {
			h.say(machine.Odd, a.String(), "%s: %v; left out", oursTold, err)
			continue
		}
		h.m.Told = append(h.m.Told, machine.Told{A: a, B: b, Is: is})
	}
}

func (h *host) oursGPU(e *element, g *machine.GPU) {
	if e.has(oursModel) {
		g.Model = e.attr(oursModel)
	}
	if e.has(oursArch) {
		g.Arch = e.attr(oursArch)
	}
	if e.has(oursUnits) {
		g.Units = h.number(e, oursUnits)
	}
	g.NUMA = e.attr(oursNUMA)
}

// atoi reads a number, -1 when it is none: Validate says so.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// rate reads a rate of ours, 0 when there is none.
func (h *host) rate(text string) shaping.Rate {
	if text == "" {
		return 0
	}
	r, err := shaping.ParseRate(text)
	if err != nil {
		h.say(machine.Odd, "file", "%v; taken as unknown", err)
	}
	return r
}
