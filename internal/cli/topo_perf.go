package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu/topo"
	"github.com/railyard/railyard/shaping"
)

// perfJSON is a measurement as JSON.
type perfJSON struct {
	Test    string           `json:"test"`
	From    string           `json:"from"`
	To      string           `json:"to"`
	Size    shaping.Bytes    `json:"message_bytes"`
	Rate    shaping.Rate     `json:"rate_bytes_per_s,omitempty"`
	Latency shaping.Duration `json:"latency_ps,omitempty"`
	Limit   string           `json:"limit"`
	Note    string           `json:"note"`
}

func (a *App) topoPerf() *cobra.Command {
	l := &topoLine{}
	long := "Messages pass the emulated ports as nvbandwidth, ib_write_bw and ib_write_lat\n" +
		"would send them on real hardware, with nothing of a collective: no SM, no protocol."
	return l.command(a, "perf [FILE]", "Measure the emulated wire as people measure the real one", long, nil, 0, func([]string) error {
		var lines []string
		var all []perfJSON
		for _, m := range topo.Measure(l.fabric) {
			all = append(all, perfJSON(m))
			result := rateText(m.Rate)
			if m.Rate == 0 {
				result = spanText(m.Latency)
			}
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s\t%v\t%s\t%s\t%s", m.Test, m.From, m.To, m.Size, result, m.Limit, m.Note))
		}
		return l.table(a, all, records(all), "TEST\tFROM\tTO\tMESSAGE\tRESULT\tLIMITED BY\tAS", lines)
	})
}
