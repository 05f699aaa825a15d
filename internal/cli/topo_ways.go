package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

// wayJSON is a way as JSON: rates in bytes a second, latencies in picoseconds.
type wayJSON struct {
	What    string           `json:"what,omitempty"`
	Ways    int              `json:"ways,omitempty"`
	Via     string           `json:"via"`
	From    string           `json:"from"`
	To      string           `json:"to"`
	Rate    shaping.Rate     `json:"rate_bytes_per_s"`
	Data    shaping.Rate     `json:"data_bytes_per_s"`
	Latency shaping.Duration `json:"latency_ps"`
	Limit   string           `json:"limit"`
	Channel *channelJSON     `json:"channel,omitempty"`
	Hops    []hopJSON        `json:"hops"`
}

// channelJSON is what limits one channel that has the way to itself.
type channelJSON struct {
	Limit string       `json:"limit"`
	Rate  shaping.Rate `json:"rate_bytes_per_s"`
}

type hopJSON struct {
	Name    string           `json:"name"`
	Rate    shaping.Rate     `json:"rate_bytes_per_s,omitempty"`
	Latency shaping.Duration `json:"latency_ps"`
	Total   shaping.Duration `json:"total_ps"`
}

func wayOf(w *topo.Way) wayJSON {
	j := wayJSON{Via: w.Via, From: w.From.String(), To: w.To.String(), Rate: w.Rate, Data: w.Data, Latency: w.Latency, Limit: w.Limit}
	if w.Channel != "" {
		j.Channel = &channelJSON{w.Channel, w.ChannelRate}
	}
	for _, h := range w.Hops {
		j.Hops = append(j.Hops, hopJSON{h.Name, h.Rate, h.Latency, h.Total})
	}
	return j
}

func (a *App) topoShow() *cobra.Command {
	l := &topoLine{}
	long := "Ways that are alike stand in one line: how many there are, the first of them,\n" +
		"what its slowest port carries, and the latency of a message too short to take\ntime on any port. Of large groups of servers the first, second and last are looked at."
	return l.command(a, "show [FILE]", "List the kinds of path, with rate, latency and what limits each", long, l.protocol(), 0, func([]string) error {
		var lines []string
		var all []wayJSON
		for _, k := range topo.Kinds(l.fabric, l.chosen()) {
			j := wayOf(&k.Way)
			j.What, j.Ways = k.What, k.Ways
			all = append(all, j)
			lines = append(lines, fmt.Sprintf("%s\t%s\t%d\t%v\t%v\t%s\t%s\t%s", k.What, k.Via, k.Ways, k.From, k.To, rateText(k.Rate), spanText(k.Latency), k.Limit))
		}
		return l.table(a, all, records(all), "PATH\tVIA\tWAYS\tFIRST FROM\tTO\tRATE\tLATENCY\tLIMITED BY", lines)
	})
}

func (a *App) topoPath() *cobra.Command {
	l := &topoLine{}
	own := append([]setting{{name: "channel", arg: "N", def: "0", usage: "channel of a collective: it decides the rail", set: whole(&l.channel, 0, 63)}}, l.protocol()...)
	long := "FROM and TO are GPUs or NICs: gpu3@node1, nic0@node5. Ports have the names that\n" +
		"timelines use. RATE is what a port carries; LATENCY passes from leaving it to the next."
	return l.command(a, "path FROM TO [FILE]", "Go from one device to another, hop by hop", long, own, 2, func(args []string) error {
		from, err := topo.ParsePlace(l.fabric, args[0])
		if err != nil {
			return err
		}
		to, err := topo.ParsePlace(l.fabric, args[1])
		if err != nil {
			return err
		}
		w, err := topo.Between(l.fabric, from, to, l.channel, l.chosen())
		if err != nil {
			return err
		}
		var lines []string
		for i, h := range w.Hops {
			lines = append(lines, fmt.Sprintf("%d\t%s\t%s\t%s\t%s", i+1, h.Name, rateText(h.Rate), spanText(h.Latency), spanText(h.Total)))
		}
		way := wayOf(w)
		if err := l.table(a, way, records(way.Hops), "HOP\tWHERE\tRATE\tLATENCY\tSO FAR", lines); err != nil || l.Format != "table" {
			return err
		}
		a.limits(l, w)
		return nil
	})
}

// limits says what limits a way.
func (a *App) limits(l *topoLine, w *topo.Way) {
	fmt.Fprintf(a.Stdout, "# %v to %v (%s): limited by %s at %s", w.From, w.To, w.Via, w.Limit, rateText(w.Rate))
	if w.Channel == "" {
		fmt.Fprintln(a.Stdout)
		return
	}
	fmt.Fprintf(a.Stdout, " on the wire, of which %s are data with %v\n", rateText(w.Data), l.chosen())
	fmt.Fprintf(a.Stdout, "# channel %d by itself: limited by %s at %s\n", l.channel, w.Channel, rateText(w.ChannelRate))
}
