package topo

import (
	"fmt"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Hop is a port that bytes pass, an SM that moves them, or something that takes
// time alone.
type Hop struct {
	Name string
	// Rate is that of the port on the wire, of an SM in data; 0: neither.
	Rate shaping.Rate
	SM   bool
	// Latency is from leaving the hop to reaching the next, Total the sum so far.
	Latency, Total shaping.Duration
}

// Way is how bytes get from one place to another.
type Way struct {
	From, To Place
	// Via says in a word what the way is.
	Via  string
	Hops []Hop
	// Latency is that of a message so short that it takes no time on any port.
	Latency shaping.Duration
	// Limit is the slowest port, the first of equals, and Rate what it carries.
	Limit string
	Rate  shaping.Rate
	// Channel is the slowest of ports and SMs: what limits a channel that has the
	// way to itself. It is empty when no SM takes part.
	Channel     string
	ChannelRate shaping.Rate
	// Data is how much of Rate is data: all of it, unless a protocol of NCCL's
	// takes its share.
	Data shaping.Rate
}

// Between returns the way that a channel of a collective takes from one place to
// another, or a copy when one of them is a NIC.
func Between(f *fabric.Fabric, from, to Place, channel int, p collective.Protocol) (*Way, error) {
	w := &Way{From: from, To: to}
	switch {
	case from == to:
		return nil, fmt.Errorf("%v to itself: nothing lies between; name two places", from)
	case !from.NIC && !to.NIC:
		w.route(f, channel, p)
	case from.NIC && to.NIC && from.Node != to.Node:
		w.Via = rails(from.Index, to.Index)
		w.path(f, f.NICPath(from.Node, from.Index, to.Node, to.Index))
	case from.NIC && to.NIC:
		return nil, fmt.Errorf("%v to %v: NICs of one server do not talk to each other; name one of another node", from, to)
	case from.Node != to.Node:
		return nil, fmt.Errorf("%v to %v: a NIC is reached over the network by another NIC; name two GPUs or two NICs", from, to)
	case to.NIC:
		w.Via = "PCIe"
		w.path(f, f.DevicePath(from.gpu(f), to.Index, false))
	default:
		w.Via = "PCIe"
		w.path(f, f.DevicePath(to.gpu(f), from.Index, true))
	}
	w.sum()
	w.Data = w.Rate
	if w.Channel != "" {
		w.Data = w.Rate.Permille(catalog.Efficiency(p))
	}
	return w, nil
}

func rails(a, b int) string {
	if a == b {
		return "same rail"
	}
	return "other rail"
}

// route adds the way from GPU to GPU, SMs and proxies included.
func (w *Way) route(f *fabric.Fabric, channel int, p collective.Protocol) {
	src, dst := w.From.gpu(f), w.To.gpu(f)
	r := f.Route(src, dst, channel, p)
	w.sm(f, src, channel)
	w.path(f, r.Local)
	w.Via = w.within(f)
	if r.Remote {
		w.Via = "network"
		if r.SendProxy != src {
			w.Via = "network, PXN"
		}
		if r.FromSwitch {
			w.Via = "NVLink domain"
		}
		if chips, _ := f.Slice(w.From.Node); chips != nil && r.FromSwitch {
			w.Via = "ICI"
		}
		w.wait("%v posts", placeOf(f, r.SendProxy), r.Post)
		w.path(f, r.Wire)
		w.wait("%v posts its receipt", placeOf(f, r.RecvProxy), r.RecvPost)
		w.wait("%v notices", placeOf(f, r.RecvProxy), r.Receive)
	}
	w.sm(f, dst, channel)
}

// within says what joins two GPUs of a node, by the ports so far.
func (w *Way) within(f *fabric.Fabric) string {
	via := "PCIe"
	for _, h := range w.Hops {
		switch {
		case strings.Contains(h.Name, "/nvlink-"):
			return f.System(w.From.Node).Joint()
		case strings.Contains(h.Name, "/ici-"):
			return "ICI"
		case strings.Contains(h.Name, "/dram-"):
			via = "host memory"
		}
	}
	return via
}

// sm adds the engine that copies for a channel.
func (w *Way) sm(f *fabric.Fabric, gpu, channel int) {
	rate := f.System(f.NodeOf(gpu)).SM.Rate
	w.Hops = append(w.Hops, Hop{Name: f.PortName(f.SM(gpu, channel)), Rate: rate, SM: true})
}

// wait adds what takes time and has no rate; no time is no hop.
func (w *Way) wait(format string, who Place, d shaping.Duration) {
	if d == 0 {
		return
	}
	w.Hops = append(w.Hops, Hop{Name: fmt.Sprintf(format, who), Latency: d})
}

func (w *Way) path(f *fabric.Fabric, p fabric.Path) {
	for i, id := range p.Ports {
		w.Hops = append(w.Hops, Hop{Name: f.PortName(id), Rate: f.Port(id).Rate, Latency: p.Latency[i]})
	}
}

// sum adds up latencies and finds what limits.
func (w *Way) sum() {
	for i := range w.Hops {
		h := &w.Hops[i]
		w.Latency += h.Latency
		h.Total = w.Latency
		if h.Rate == 0 {
			continue
		}
		if !h.SM && (w.Limit == "" || h.Rate < w.Rate) {
			w.Limit, w.Rate = h.Name, h.Rate
		}
	}
	for _, h := range w.Hops {
		if h.SM && (w.Channel == "" || h.Rate < w.ChannelRate) {
			w.Channel, w.ChannelRate = h.Name, h.Rate
		}
	}
	if w.Channel != "" && w.Limit != "" && w.Rate < w.ChannelRate {
		w.Channel, w.ChannelRate = w.Limit, w.Rate
	}
}
