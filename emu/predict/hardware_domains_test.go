package predict_test

import (
	"fmt"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
)

// nvlsChunk is how NCCL cuts what is at least twice 32 KiB for each head on each
// channel, as emu/tuner has it for the command line.
func nvlsChunk(bytes, together int64) int64 {
	switch {
	case bytes >= 64*together*128<<10:
		return 128 << 10
	case bytes >= 8*together*64<<10:
		return 64 << 10
	default:
		return 32 << 10
	}
}

// byRackSMs is NVLS on so many GPUs of a domain, of which 32 are heads, on 24
// channels whose SMs are what limits: each scatters and gathers, a head's relays.
func byRackSMs(n int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		const channels, sm = 24, 36_000
		h := min(n, collective.NVLSHeads)
		links := v.nv * 740 / 1000 * h / (h + 1) * v.eff / 1000 * 2 * (n - 1) / n
		most := channels * sm * h / (2*h + 1) * 2 * (n - 1) / n
		return most, fmt.Sprintf("%d channels, whose SMs move %s GB/s through the switches' engines, %s together; a head's scatter and gather the buffer and relay 1/%d of it: × %d/%d; a bus bandwidth is 2 × %d/%d of that: %s; links would carry %s",
			channels, gb(sm), gb(channels*sm), h, h, 2*h+1, n-1, n, gb(most), gb(links))
	}
}

func domainQuestions() []question {
	trays := func(n int) emu.Cluster { return one(some(n, "gb200-nvl72"), emu.Fabric{}) }
	ask := func(what, algo string, nodes int, bytes int64, most func(figures) (int64, string), channels int) question {
		return question{what: what, flags: fmt.Sprintf("--system gb200-nvl72 --nodes %d --algo %s", nodes, algo),
			cluster: trays(nodes), op: collective.AllReduce, algo: algo, bytes: bytes, most: most, least: 88, channels: channels}
	}
	return []question{
		ask("2 trays, 8 GPUs, ring", "ring", 2, 1<<30, byNVLink, 32),
		ask("the same, reduced by the NVSwitches", "nvls", 2, 1<<30, byRackSMs(8), 24),
		ask("18 trays, 72 GPUs, ring", "ring", 18, 4<<30, byNVLink, 32),
		ask("the same, reduced by the NVSwitches", "nvls", 18, 512<<20, byRackSMs(72), 24),
	}
}

const domainsHead = `
## NVLS in a domain of many servers

A rack's trays are servers, and what NVSwitches reduce and multicast crosses them. The one public table of a whole GB200
NVL72 (CoreWeave, nccl-tests, 72 GPUs) has 839 GB/s at 4 GiB and 835 at 8 GiB, NVIDIA (GTC) names 680 for a ring in an
NVL72 and 850 for NVLS. That links do not limit 72 GPUs follows: with 32 heads a GPU sends 33/32 of its buffer where one of
eight sends 9/8, and links alone would give 1023. So what an SM moves through the engines is calibrated on that plateau, one
value for racks and all sizes. Below it the table is slower, by 0.4 ms from 512 MiB to 2 GiB, gone at 4 GiB
(` + "`coordinator predict all_reduce --system gb200-nvl72 --nodes 18`" + `):

| MiB | emulated | measured | off |
|--:|--:|--:|--:|
| 512 | 741.07 | 586.06 | +26.4 % |
| 1024 | 791.12 | 681.17 | +16.1 % |
| 2048 | 813.01 | 757.78 | +7.3 % |
| 4096 | 824.83 | 839.16 | -1.7 % |
| 8192 | 830.13 | 834.57 | -0.5 % |

No latency of a step explains that ramp: one that did would make 8 MiB take 0.4 ms more as well. A report of two
trays of GB300 says 507 at 512 MiB, by which algorithm it does not say; here that is 681, half a millisecond less once more.
`
