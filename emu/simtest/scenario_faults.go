package simtest

import (
	"fmt"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/rehearse"
	"github.com/railyard/railyard/shaping"
)

// Drawable returns the types of faults that scenarios are drawn with: all but the
// crash of the coordinator, which ends the run itself.
func Drawable() []fault.Kind {
	var all []fault.Kind
	for _, k := range fault.Kinds() {
		if k.Strikes[0] != fault.Coordinator {
			all = append(all, k)
		}
	}
	return all
}

// faults draws up to four, of those that the cluster has parts for.
func (d *drawing) faults() {
	kinds := Drawable()
	for n := d.IntN(5); len(d.s.Faults) < n; {
		f := d.fault(&kinds[d.IntN(len(kinds))])
		s := d.s
		s.Faults = append(s.Faults[:len(s.Faults):len(s.Faults)], f)
		if _, err := rehearse.Prepare(s, nil); err == nil {
			d.s.Faults = s.Faults
		} else if d.chance(8) {
			n-- // a cluster that has little to strike
		}
	}
}

func (d *drawing) fault(k *fault.Kind) emu.Fault {
	f := emu.Fault{Type: k.Word, Element: -1, Bit: -1}
	f.Target = d.target(k.Strikes[d.IntN(len(k.Strikes))])
	if k.Strikes[0] == fault.Node && d.chance(3) {
		f.Target = fmt.Sprintf("group%d", d.IntN(len(d.s.Cluster.Groups)))
	}
	words := map[string]bool{}
	ps, _ := k.Params()
	for _, p := range ps {
		words[p.Word] = true
		d.param(&f, p.Word)
	}
	if words["at"] {
		d.when(&f, words)
	} else if words["afterOps"] {
		f.When.AfterOps = d.IntN(d.operations())
		if words["times"] && d.chance(4) {
			f.When.Times = 1 + d.IntN(2)
		}
	}
	if words["chance"] && d.chance(6) {
		f.When.Chance = 1 + d.Int64N(fault.Whole)
	}
	return f
}

func (d *drawing) operations() (n int) {
	for i := range d.s.Phases {
		n += d.s.Phases[i].Operations()
	}
	return n
}

// when draws instants: the very start, any time of the run and a little beyond, the
// instant at which an operation ends, a step of a plan.
func (d *drawing) when(f *emu.Fault, words map[string]bool) {
	w := &f.When
	switch d.IntN(8) {
	case 0:
	case 1:
		if words["afterOps"] {
			w.AfterOps = 1 + d.IntN(d.operations())
		}
	case 2:
		w.Step = &emu.PlanStep{Op: d.IntN(d.operations()), Rank: d.IntN(2), Step: d.IntN(3)}
	default:
		w.At = d.upTo(d.span + d.span/4)
	}
	if !words["to"] {
		return
	}
	lasting := d.upTo(d.span/2 + 1)
	if d.chance(4) {
		lasting = d.upTo(3 * shaping.Millisecond)
	}
	switch d.IntN(4) {
	case 0: // for good
	case 1:
		if w.AfterOps == 0 && w.Step == nil {
			w.Until = w.At + lasting
			break
		}
		fallthrough
	case 2:
		f.DownFor = lasting
	case 3:
		f.DownFor = lasting
		w.Every, w.Times = lasting+d.upTo(lasting), 1+d.IntN(4)
	}
}

// param draws parameters that say how bad it is.
func (d *drawing) param(f *emu.Fault, word string) {
	some := d.chance(2)
	switch {
	case word == "share":
		f.Share = fault.Whole/10 + d.Int64N(fault.Whole*8/10)
	case word == "latency":
		f.Latency = d.upTo(20 * shaping.Microsecond)
	case word == "jitter":
		f.Jitter = d.upTo(20 * shaping.Microsecond)
	case word == "loss":
		f.Loss = 1 + d.Int64N(fault.Certain/50)
	case word == "links" && some:
		f.Links = 1 + d.IntN(3)
	case word == "gen":
		f.Gen = 3
	case word == "width" && some:
		f.Width = []int{4, 8}[d.IntN(2)]
	case word == "element" && some:
		f.Element = int64(d.IntN(100))
	case word == "bit" && some:
		f.Bit = d.IntN(64)
	case word == "count" && some:
		if f.Count = int64(d.IntN(1000)); f.Count == 0 {
			f.Count = emu.NoElements
		}
	case word == "as" && f.Count == 0 && some:
		f.By = []string{"int32", "max", "root 1", "float16"}[d.IntN(4)]
	}
}

// target draws a part of a class, by one of its names.
func (d *drawing) target(c fault.Class) string {
	node := d.IntN(d.f.Nodes())
	first, gpus := d.f.GPURange(node)
	gpu := d.IntN(gpus)
	if d.chance(6) && c != fault.Sides {
		return "random " + c.String()
	}
	switch c {
	case fault.Node:
		return fmt.Sprintf("node%d", node)
	case fault.GPU:
		return []string{fmt.Sprintf("node%d/gpu%d", node, gpu), fmt.Sprintf("gpu%d", first+gpu)}[d.IntN(2)]
	case fault.NIC:
		nic := d.IntN(max(d.f.NICs(node), 1))
		return []string{fmt.Sprintf("node%d/nic%d", node, nic), fmt.Sprintf("node%d/nic%d", node, nic), fmt.Sprintf("rail%d", nic)}[d.IntN(3)]
	case fault.NVSwitch:
		return fmt.Sprintf("node%d/nvswitch%d", node, d.IntN(max(d.f.NVSwitches(node), 1)))
	case fault.Sides:
		if n := d.f.Nodes(); n > 2 && d.chance(2) {
			return fmt.Sprintf("node0 | node1-%d", n-2) // the last reaches all
		}
		return "random"
	}
	net := d.f.Network()
	if net == nil || len(net.Switches) == 0 {
		return "random " + c.String()
	}
	plane := ""
	if net.Planes > 1 {
		plane = fmt.Sprintf("plane%d/", d.IntN(net.Planes))
	}
	if trunks := net.Trunks(); c == fault.Link && len(trunks) > 0 {
		t := trunks[d.IntN(len(trunks))]
		return fmt.Sprintf("link:%s%s-%s", plane, net.Switches[t.A].Name, net.Switches[t.B].Name)
	}
	return plane + net.Switches[d.IntN(len(net.Switches))].Name
}
