package topoxml

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/shaping"
)

func (w *writer) gpu(i int) {
	g := &w.m.GPUs[i]
	number, gcn := 0, ""
	a := attrs{"dev", strconv.Itoa(i)}
	if sm, ok := strings.CutPrefix(g.Arch, "sm_"); ok {
		number, _ = strconv.Atoi(sm)
	} else if number = g.Units; strings.HasPrefix(g.Arch, "gfx") {
		gcn = g.Arch
	}
	a.some("sm", number)
	a.some("gcn", gcn)
	if gcn != "" {
		a.add("arch", "38911") // bits of what the processor can do; RCCL wants one, and all its dumps have this
	}
	a.add("rank", strconv.Itoa(i))
	a.support("gdr", g.GDR)
	arch, units := archOf(number, gcn, g.PCI)
	if arch != g.Arch {
		a.add(oursArch, g.Arch)
	}
	if units != g.Units {
		a.add(oursUnits, strconv.Itoa(g.Units))
	}
	if g.Model != lookup(g.ID).model {
		a.add(oursModel, g.Model)
	}
	a.some(oursNUMA, g.NUMA)
	a.some(oursTold, w.told(machine.Device{Index: i}))
	if g.C2C.Count == 0 && !slices.ContainsFunc(w.m.NVLinks, func(l machine.NVLink) bool { return l.GPU == i || !l.Plane && l.To == i }) {
		w.element("gpu", a, nil)
		return
	}
	w.element("gpu", a, func() { w.links(i) })
}

func (a *attrs) support(name string, s machine.Support) {
	if s != machine.Unsaid {
		a.add(name, strconv.Itoa(int(s-machine.No)))
	}
}

func (w *writer) told(a machine.Device) string {
	var all []string
	for _, t := range w.m.Told {
		if t.A == a {
			all = append(all, fmt.Sprintf("%v:%v", t.B, t.Is))
		}
	}
	return strings.Join(all, " ")
}

func (w *writer) links(gpu int) {
	name := "nvlink"
	if w.amd {
		name = "xgmi"
	}
	for _, l := range w.m.NVLinks {
		target, class := "", "0x068000"
		switch {
		case l.Plane && l.GPU == gpu:
			target = w.m.Planes[l.To].BusID
		case !l.Plane && l.GPU == gpu:
			target, class = w.m.GPUs[l.To].BusID, w.class(l.To)
		case !l.Plane && l.To == gpu:
			target, class = w.m.GPUs[l.GPU].BusID, w.class(l.GPU)
		default:
			continue
		}
		a := attrs{"target", target, "count", strconv.Itoa(l.Count), "tclass", class}
		a.some(oursRate, l.Rate)
		w.element(name, a, nil)
	}
	if c := w.m.GPUs[gpu].C2C; c.Count > 0 {
		a := attrs{}
		if c.Rate != 0 {
			a.add("bw", strconv.FormatInt(int64(c.Rate/megabyte), 10))
		}
		a.add("count", strconv.Itoa(c.Count))
		if c.Rate%megabyte != 0 || c.Rate/megabyte > 1<<31-1 {
			a.add(oursRate, c.Rate.String())
		}
		w.element("c2c", a, nil)
	}
}

// class returns the PCI class of a GPU as links say it.
func (w *writer) class(gpu int) string {
	if c := w.m.GPUs[gpu].Class; c>>16 == 0x03 || c>>16 == 0x12 {
		return fmt.Sprintf("0x%06x", c)
	}
	return "0x030200" // 3D controller, what NVIDIA's are
}

func (w *writer) net(i int) {
	n, a := &w.m.NICs[i], attrs{}
	a.some("name", n.Name)
	a.add("dev", strconv.Itoa(i))
	if n.Speed != 0 {
		a.add("speed", strconv.FormatInt(int64(n.Speed/megabit), 10))
	}
	if mb := n.Speed / megabit; n.Speed%megabit != 0 || mb > fastest {
		a.add(oursRate, n.Speed.String())
	}
	a.some("port", n.Port)
	if ps := int64(n.Latency); ps != 0 {
		const us = int64(shaping.Microsecond)
		a.add("latency", fmt.Sprintf("%d.%06d", ps/us, ps%us))
	}
	if n.GUID != 0 {
		a.add("guid", fmt.Sprintf("%#x", n.GUID))
	}
	a.some("maxconn", n.MaxConn)
	a.support("gdr", n.GDR)
	a.support("coll", n.Reduces)
	a.some(oursTold, w.told(machine.Device{NIC: true, Index: i}))
	w.element("net", a, nil)
}
