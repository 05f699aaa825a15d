package predict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
)

// pod is a row of a table of the DGX SuperPOD reference architectures: so many
// servers of 8 NICs, in units that share leaves.
type pod struct {
	link                  string
	unit, planes          int
	servers               int
	leaves, spines, cores int
}

// pods are all rows of the three tables [pod].
var pods = []pod{
	{"ndr", 32, 1, 64, 16, 8, 0}, {"ndr", 32, 1, 128, 32, 16, 0}, {"ndr", 32, 1, 256, 64, 32, 0},
	{"ndr", 32, 1, 512, 128, 128, 64}, {"ndr", 32, 1, 1024, 256, 256, 128}, {"ndr", 32, 1, 2048, 512, 512, 256},
	{"xdr", 72, 1, 72, 8, 4, 0}, {"xdr", 72, 1, 144, 16, 8, 0}, {"xdr", 72, 1, 288, 32, 18, 0},
	{"xdr", 72, 1, 576, 64, 36, 0}, {"xdr", 72, 1, 1296, 144, 72, 0},
	{"roce-800", 64, 2, 64, 16, 8, 0}, {"roce-800", 64, 2, 128, 32, 16, 0}, {"roce-800", 64, 2, 256, 64, 32, 0},
	{"roce-800", 64, 2, 512, 128, 64, 0}, {"roce-800", 64, 2, 1024, 256, 128, 0},
}

// superPODs writes what fabrics counts for each row, and why; it must be what the
// table says.
func superPODs(t *testing.T, b *strings.Builder) {
	t.Helper()
	const nics = 8
	for _, p := range pods {
		link, err := catalog.LookupLink(p.link)
		if err != nil {
			t.Fatal(err)
		}
		servers := make([]fabric.Server, p.servers)
		for i := range servers {
			servers[i] = fabric.Server{Place: i, NICs: nics}
		}
		n, err := fabric.Join(emu.Fabric{Kind: "rail-optimized", Unit: p.unit, Planes: p.planes}, link, servers, 0)
		if err != nil {
			t.Fatal(err)
		}
		got := n.Bill()
		if got.Leaves != p.leaves || got.Spines != p.spines || got.Cores != p.cores || got.HostCables != nics*p.servers*p.planes {
			t.Errorf("%d servers on %s: %+v, the table has %+v", p.servers, p.link, got, p)
		}
		why, leaves, spines, cores := p.why(link.Radix * p.planes)
		if leaves != p.leaves || spines != p.spines || cores != p.cores {
			t.Errorf("%d servers on %s: the arithmetic gives %d, %d and %d: %s", p.servers, p.link, leaves, spines, cores, why)
		}
		fmt.Fprintf(b, "| %d | `rail-%s`%s | %d | %d | %d | %d | %d | %s |\n", p.servers, p.link, p.flags(), got.Leaves, got.Spines, got.Cores,
			got.HostCables, got.TrunkCables, why)
	}
}

func (p *pod) flags() string {
	s := fmt.Sprintf(" `--unit %d`", p.unit)
	if p.planes > 1 {
		s += fmt.Sprintf(" `--planes %d`", p.planes)
	}
	return s
}

// why works a row out by hand: switches of so many ports, half of a leaf's up.
func (p *pod) why(ports int) (text string, leaves, spines, cores int) {
	units, up := (p.servers+p.unit-1)/p.unit, ports/2
	plane := 8 * units // leaves of a plane
	leaves = plane * p.planes
	text = fmt.Sprintf("8 rails × %d units", units)
	if p.planes > 1 {
		text += fmt.Sprintf(" × %d planes", p.planes)
	}
	text += fmt.Sprintf(" = %d leaves; ", leaves)
	if plane > ports {
		spines = leaves
		cores = leaves * up / ports
		return text + fmt.Sprintf("more than a spine of %d ports joins, so a pod has as many spines as leaves, and %d × %d / %d = %d cores", ports, spines, up, ports, cores), leaves, spines, cores
	}
	each := plane * up / ports
	text += fmt.Sprintf("%d × %d / %d = %d spines", leaves, up, ports, each*p.planes)
	if up%each == 0 {
		return text, leaves, each * p.planes, 0
	}
	even := each
	for up%even != 0 {
		even++
	}
	return text + fmt.Sprintf(", but %d links up do not go evenly to %d: %d", up, each, even), leaves, even * p.planes, 0
}

const podsHead = `
## What a SuperPOD takes

The tables of NVIDIA's DGX SuperPOD reference architectures, as ` + "`coordinator fabrics SHAPE-LINK --nodes N`" + ` counts them: DGX
H100 and B200 on QM9700 in units of 32 servers, B300 on Q3400 in units of 72, and B300 on switches of 64 × 800 Gb/s in units
of 64, each port split into two planes. That the last are planes is inferred: with all rails joined, two tiers of 64 ports end
at 2,048 NICs, and of 128 ports at 8,192. The source contradicts itself in one row: 1,296 servers are said to be 9,216 GPUs,
but its 10,368 cables are 1,296 × 8.

| servers | fabric | leaves | spines | cores | cables to NICs | between switches | arithmetic |
|--:|---|--:|--:|--:|--:|--:|---|
`
