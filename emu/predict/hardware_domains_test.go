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

// byDomain is NVLS on so many GPUs of a domain, of which 32 are heads.
func byDomain(n int64) func(figures) (int64, string) {
	return func(v figures) (int64, string) {
		h := min(n, collective.NVLSHeads)
		most := v.nv * 740 / 1000 * h / (h + 1) * v.eff / 1000 * 2 * (n - 1) / n
		return most, fmt.Sprintf("links %s × 740 ‰ (multimem) = %s; a head sends its buffer to be reduced and 1/%d of it to be multicast: × %d/%d; × %d ‰ data; a bus bandwidth is 2 × %d/%d of that: %s",
			gb(v.nv), gb(v.nv*740/1000), h, h, h+1, v.eff, n-1, n, gb(most))
	}
}

func domainQuestions() []question {
	trays := func(n int) emu.Cluster { return one(some(n, "gb200-nvl72"), emu.Fabric{}) }
	ask := func(what, algo string, nodes int, bytes int64, most func(figures) (int64, string), channels int) question {
		return question{what: what, flags: fmt.Sprintf("--system gb200-nvl72 --nodes %d --algo %s", nodes, algo),
			cluster: trays(nodes), op: collective.AllReduce, algo: algo, bytes: bytes, most: most, least: 93, channels: channels}
	}
	return []question{
		ask("2 trays, 8 GPUs, ring", "ring", 2, 1<<30, byNVLink, 32),
		ask("the same, reduced by the NVSwitches", "nvls", 2, 1<<30, byDomain(8), 24),
		ask("18 trays, 72 GPUs, ring", "ring", 18, 256<<20, byNVLink, 32),
		ask("the same, reduced by the NVSwitches", "nvls", 18, 256<<20, byDomain(72), 24),
	}
}

const domainsHead = `
## NVLS in a domain of many servers

A rack's trays are servers, and what NVSwitches reduce and multicast crosses them. NVIDIA (GTC) names 680 GB/s for a
ring in an NVL72 and 850 for NVLS, 1.25 times as much, and does not say on how many GPUs; 8 × B200 were measured at 682
and 838 to 846. On 8 GPUs that is about what comes out. On 72 more does: with 32 heads a GPU sends 33/32 of its buffer
where one of eight sends 9/8. NCCL's own model of 72 has 32 × 20 × 740 ‰ × 31/32 × 2 = 918. Nothing was adjusted.
`
