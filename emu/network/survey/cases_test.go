package survey

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/shaping"
)

// cases are files of the field, kept outside this repository.
const cases = "../../../../shared/cases/fabric"

// testKnown is a small catalog.
var testKnown = emu.Known{
	Systems: []emu.KnownSystem{
		{Name: "dgx-h100", GPUs: 8, NICs: 8, Kind: "rail-optimized", Link: "ndr"},
		{Name: "dgx-a100", GPUs: 8, NICs: 8, Kind: "rail-optimized", Link: "hdr"},
	},
	Kinds: []string{"rail-optimized"},
	Links: []string{"hdr", "ndr"},
}

var testOptions = Options{
	Name: "test", Default: "dgx-h100", Known: testKnown,
	Links: []KnownLink{{"hdr", 200 * shaping.Gbps}, {"ndr", 400 * shaping.Gbps}},
}

// counted is what a file has in it.
type counted struct {
	kind                                        string
	hosts, switches, links, domains, gpus, nics int
	nodes                                       int // of the cluster made of it
}

func count(s *Survey) counted {
	c := counted{kind: s.Kind, hosts: len(s.Hosts), switches: len(s.Switches), domains: len(s.Domains)}
	for _, l := range s.Links {
		c.links += l.Count
	}
	for _, h := range s.Hosts {
		c.gpus, c.nics = c.gpus+h.GPUs, c.nics+h.NICs
	}
	return c
}

// Every file of the field loads with what is counted in it by hand, and makes a
// valid cluster, or is refused for what it is.
func TestCases(t *testing.T) {
	files, err := os.ReadDir(cases)
	if err != nil {
		t.Skipf("the files of the field are not here: %v", err)
	}
	want := map[string]counted{
		"clab__clos01.clab.yml":                                {kind: "containerlab topology", hosts: 2, switches: 3, links: 4, nodes: 2},
		"clab__clos02.clab.yml":                                {kind: "containerlab topology", hosts: 4, switches: 10, links: 16, nodes: 4},
		"clab__srl02.clab.yml":                                 {kind: "containerlab topology", switches: 2, links: 1, nodes: 2},
		"htsim__leaf_spine_tiny.topo":                          {kind: "htsim topology", hosts: 32, switches: 6, links: 40, nodes: 32},
		"infragraph__dgxa100.yaml":                             {kind: "InfraGraph", hosts: 1, gpus: 8, nics: 8, nodes: 1},
		"infragraph__symmetric-device.yaml":                    {kind: "InfraGraph", hosts: 1, gpus: 8, nics: 8, nodes: 1},
		"infragraph__scaleup-scaleout.yaml":                    {kind: "InfraGraph", hosts: 8, switches: 2, links: 8, gpus: 8, nics: 32, nodes: 8},
		"infragraph__two-tier-clos-fabric-infrastructure.yaml": {kind: "InfraGraph", hosts: 4, switches: 7, links: 28, nodes: 4},
		"kollaps__linklevel.xml":                               {kind: "Kollaps experiment", hosts: 2, links: 1, nodes: 2},
		"kollaps__topology.xml":                                {kind: "Kollaps experiment", hosts: 6, switches: 2, links: 7, nodes: 6},
		"simai__DCN+SingleToR_16g_8gps_400Gbps_H100":           {kind: "SimAI topology", hosts: 2, switches: 2, links: 17, gpus: 16, nics: 16, nodes: 2},
		"simai__Spectrum-X_16g_8gps_400Gbps_H100":              {kind: "SimAI topology", hosts: 2, switches: 9, links: 24, gpus: 16, nics: 16, nodes: 2},
		"superbench__ibnetdiscover.txt":                        {kind: "ibnetdiscover output", hosts: 10, switches: 8, links: 17, nics: 10, nodes: 10},
		"topograph__expected.slinky-oci-sim-tree.conf":         {kind: "Slurm topology.conf", hosts: 96, switches: 19, links: 114, nodes: 96},
		"topograph__medium.yaml":                               {kind: "topograph model", hosts: 8, switches: 7, links: 14, domains: 4, nodes: 8},
		"topograph__small-tree.yaml":                           {kind: "topograph model", hosts: 6, switches: 3, links: 8, domains: 2, nodes: 6},
		"topograph__nvl72.yaml":                                {kind: "topograph model", hosts: 72, switches: 7, links: 78, domains: 4, nodes: 72},
		"topograph__netq-topologyGraph.json":                   {kind: "NetQ topology", hosts: 8, switches: 3, links: 79, nodes: 8},
	}
	refused := map[string]error{"clab__templated01.clab.gotmpl": errTemplate}
	for _, f := range files {
		if f.Name() == "FORMAT.md" || f.Name() == "SOURCES.tsv" {
			continue
		}
		t.Run(f.Name(), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(cases, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Read(data)
			if says := refused[f.Name()]; says != nil {
				if !errors.Is(err, says) {
					t.Fatalf("error is %v, want %v", err, says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := count(s)
			got.nodes = convert(t, s).Nodes()
			for _, n := range s.Notes {
				t.Log(n)
			}
			if got != want[f.Name()] {
				t.Errorf("counted %+v\nwant %+v", got, want[f.Name()])
			}
		})
	}
}

// convert makes a cluster, which must be valid, come back from its file and build
// a network that joins all hosts.
func convert(t *testing.T, s *Survey) *emu.Cluster {
	t.Helper()
	c, err := s.Cluster(testOptions)
	if err != nil {
		t.Fatal(err)
	}
	check(t, c)
	return &c
}
