package topoxml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

const (
	megabit      = shaping.Rate(1_000_000 / 8) // B/s in 1 Mb/s, NCCL's unit
	assumedSpeed = 10_000                      // Mb/s, what NCCL takes for a speed of 0 or below
	// fastest in Mb/s: 10 Tb/s, beyond any port. What is above was written in
	// kb/s, as one driver of a 200 Gb/s port does.
	fastest = 10_000_000
)

// foundNIC is a NIC with the number the file gives it, -1 when it gives none.
type foundNIC struct {
	machine.NIC
	dev  int
	told []string
}

// nic reads the ports of a card. nics are its nic elements, none when only the
// class tells.
func (h *host) nic(p machine.PCI, nics []*element) {
	found := len(h.nics)
	for _, n := range nics {
		for _, net := range n.all("net") {
			h.net(p, net)
		}
		h.stray = h.stray || n.text
	}
	if len(h.nics) == found {
		h.nics = append(h.nics, foundNIC{NIC: machine.NIC{PCI: p}, dev: -1})
	}
}

// virtual reads a nic element without a PCIe device.
func (h *host) virtual(e *element, at machine.Place) {
	for _, net := range e.all("net") {
		h.net(machine.PCI{At: at}, net)
	}
}

func (h *host) net(p machine.PCI, e *element) {
	n := foundNIC{machine.NIC{PCI: p, Name: e.attr("name"), Port: h.number(e, "port"), MaxConn: h.number(e, "maxconn"),
		GDR: support(e, "gdr"), Reduces: support(e, "coll")}, h.position(e, "dev"), oursToldOf(e)}
	n.Speed = h.speed(e)
	if guid := e.attr("guid"); guid != "" {
		v, err := strconv.ParseUint(strings.TrimPrefix(strings.ToLower(guid), "0x"), 16, 64)
		if err != nil {
			h.say(machine.Odd, n.Name, "guid %q is no number of 64 bits and left out", clip(guid))
		}
		n.GUID = v
	}
	if us := e.attr("latency"); us != "" {
		d, err := shaping.ParseDuration(us + "us")
		if err != nil || d > shaping.Second {
			h.say(machine.Odd, n.Name, "latency %q µs is no number from 0 to a second and left out", clip(us))
			d = 0
		}
		n.Latency = d
	}
	h.nics = append(h.nics, n)
}

func (h *host) speed(e *element) shaping.Rate {
	if e.has(oursRate) {
		return h.rate(e.attr(oursRate))
	}
	text, name := e.attr("speed"), e.attr("name")
	text, _, _ = strings.Cut(text, ".") // NCCL reads as far as that
	if text == "" {
		return 0
	}
	mb, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		h.say(machine.Odd, name, "speed %q is no number and taken as unknown", clip(text))
		return 0
	case mb <= 0:
		h.say(machine.Assumed, name, "speed %d Mb/s is no speed; taken as %d Mb/s, as NCCL does", mb, assumedSpeed)
		mb = assumedSpeed
	case mb > fastest*1000:
		h.say(machine.Odd, name, "speed %d Mb/s is beyond any port and taken as unknown", mb)
		return 0
	case mb > fastest:
		h.say(machine.Odd, name, "speed %d Mb/s is beyond any port; taken as kb/s, that is %d Mb/s", mb, mb/1000)
		mb /= 1000
	}
	return shaping.Rate(mb) * megabit
}

// orderNICs puts them in the order of their numbers where the file gives each
// its own, else as the file has them.
func (h *host) orderNICs() {
	dev := func(n foundNIC) int { return n.dev }
	if distinct(h.nics, dev) {
		slices.SortStableFunc(h.nics, func(a, b foundNIC) int { return cmp.Compare(dev(a), dev(b)) })
	}
	for i, n := range h.nics {
		h.m.NICs = append(h.m.NICs, n.NIC)
		h.tell(machine.Device{NIC: true, Index: i}, n.told)
	}
}
