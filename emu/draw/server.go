package draw

import (
	"cmp"
	"fmt"

	"github.com/railyard/railyard/emu/machine"
)

// mostPlanes is how many NVSwitch chips of a server are drawn one by one.
const mostPlanes = 6

// inside adds a machine's parts to a server's box, using the first GPUs and NICs
// alone where told, and returns the boxes of its GPUs and NICs.
func (g *Graph) inside(server int, of *Group) (gpuBoxes, nicBoxes []int) {
	m := of.Machine
	d := &dismantled{Graph: g, m: m, of: of, id: g.Boxes[server].ID, gpus: len(m.GPUs), nics: len(m.NICs)}
	if of.GPUs > 0 {
		d.gpus = min(of.GPUs, d.gpus)
	}
	if of.NICs > 0 {
		d.nics = min(of.NICs, d.nics)
	}
	d.frames(server)
	d.devices()
	d.planes(server)
	d.links()
	return d.gpu, d.nic
}

// dismantled is a machine on its way to boxes.
type dismantled struct {
	*Graph
	m          *machine.Machine
	of         *Group
	id         string
	gpus, nics int   // in use
	numa       []int // box of each NUMA node
	bridge     []int // of each bridge; −1: nothing hangs on it
	socket     []int
	gpu, nic   []int
	plane      []int
}

// frames adds sockets, NUMA nodes where a socket has several, and bridges that
// something hangs on.
func (d *dismantled) frames(server int) {
	perSocket := make([]int, len(d.m.Sockets))
	for _, n := range d.m.NUMA {
		perSocket[n.Socket]++
	}
	for i, s := range d.m.Sockets {
		d.socket = append(d.socket, d.add(Box{ID: fmt.Sprintf("%s-socket%d", d.id, i), Label: fmt.Sprintf("socket%d", i), Detail: s.Arch, Kind: Socket, Parent: server}))
	}
	for i, n := range d.m.NUMA {
		at := d.socket[n.Socket]
		if perSocket[n.Socket] > 1 {
			at = d.add(Box{ID: fmt.Sprintf("%s-numa%d", d.id, i), Label: "numa" + cmp.Or(n.Nodes, fmt.Sprint(i)), Kind: Socket, Parent: at})
		}
		d.numa = append(d.numa, at)
	}
	d.bridge = make([]int, len(d.m.Bridges))
	used := d.used()
	for i := range d.bridge {
		d.bridge[i] = -1
	}
	for i := range d.m.Bridges {
		d.addBridge(i, used)
	}
}

// used reports the bridges that something hangs on.
func (d *dismantled) used() []bool {
	used := make([]bool, len(d.m.Bridges))
	mark := func(p machine.Place) {
		for p.Bridge && !used[p.Index] {
			used[p.Index] = true
			p = d.m.Bridges[p.Index].At
		}
	}
	for i := range d.gpus {
		mark(d.m.GPUs[i].At)
	}
	for i := range d.nics {
		mark(d.m.NICs[i].At)
	}
	return used
}

func (d *dismantled) addBridge(i int, used []bool) {
	b := &d.m.Bridges[i]
	if !used[i] || d.bridge[i] >= 0 {
		return
	}
	if b.At.Bridge {
		d.addBridge(b.At.Index, used) // what it hangs on may come later in the list
	}
	box := Box{ID: fmt.Sprintf("%s-bridge%d", d.id, i), Label: "PCIe switch", Detail: b.Slot.String(), Kind: Bridge, Parent: d.at(b.At)}
	if b.Host {
		box.Label, box.Detail = "host bridge", ""
	}
	d.bridge[i] = d.add(box)
}

// at returns the box of a place.
func (d *dismantled) at(p machine.Place) int {
	if p.Bridge {
		return d.bridge[p.Index]
	}
	return d.numa[p.Index]
}

func (d *dismantled) devices() {
	for i := range d.gpus {
		gpu := &d.m.GPUs[i]
		d.gpu = append(d.gpu, d.add(Box{ID: fmt.Sprintf("%s-gpu%d", d.id, i), Label: fmt.Sprintf("gpu%d", i), Detail: gpu.Slot.String(), Kind: GPU, Parent: d.at(gpu.At)}))
	}
	for i := range d.nics {
		nic := &d.m.NICs[i]
		d.nic = append(d.nic, d.add(Box{ID: fmt.Sprintf("%s-nic%d", d.id, i), Label: fmt.Sprintf("nic%d", i), Detail: rateText(nic.Speed, Cable), Kind: NIC, Parent: d.at(nic.At), Rail: i}))
	}
}

// planes adds the NVSwitch chips, as one box where there are many or where others
// have them as well.
func (d *dismantled) planes(server int) {
	n := len(d.m.Planes)
	if shared := d.of.Shared; n > mostPlanes || n > 0 && shared > 1 {
		label := fmt.Sprintf("%d NVSwitch chips", n)
		if shared > 1 {
			label += fmt.Sprintf(", shared by %d servers", shared)
		}
		one := d.add(Box{ID: d.id + "-planes", Label: label, Kind: Plane, Parent: server, Stands: n})
		for range n {
			d.plane = append(d.plane, one)
		}
		return
	}
	for i := range n {
		d.plane = append(d.plane, d.add(Box{ID: fmt.Sprintf("%s-plane%d", d.id, i), Label: fmt.Sprintf("NVSwitch %d", i), Kind: Plane, Parent: server}))
	}
}

func (d *dismantled) links() {
	for _, l := range d.m.NVLinks {
		if l.GPU >= d.gpus || !l.Plane && l.To >= d.gpus {
			continue
		}
		to := 0
		if l.Plane {
			to = d.plane[l.To]
		} else {
			to = d.gpu[l.To]
		}
		d.join(Link{A: d.gpu[l.GPU], B: to, Wire: NVLink, Name: d.of.Joint, Count: l.Count, Rate: l.Rate})
	}
	for _, l := range d.m.SocketLinks {
		d.join(Link{A: d.socket[l.A], B: d.socket[l.B], Wire: SocketLink, Count: 1, Rate: l.Rate})
	}
}
