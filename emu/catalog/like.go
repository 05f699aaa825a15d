package catalog

import (
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// likes says which system's figures stand for a GPU: by what its vendor calls
// it, and only where that tells nothing by its architecture.
var likes = []struct{ model, arch, system string }{
	{"GH200", "", "gh200"}, {"H800", "", "h800"}, {"H200", "", "dgx-h200"}, {"H20", "", "h20"}, {"H100", "", "dgx-h100"},
	{"4090", "", "pcie-gen4-4090"}, {"L40", "", "pcie-gen5-l40s"}, {"MI300", "", "mi300x"},
	{"GB200", "", "gb200-nvl72"}, {"GB300", "", "gb300-nvl72"}, {"Rubin", "", "vera-rubin-nvl72"},
	{"P100", "", "dgx-1-p100"}, {"V100", "", "dgx-1-v100"}, {"A100", "", "dgx-a100"}, {"A800", "", "dgx-a100"},
	{"B200", "", "dgx-b200"}, {"B300", "", "dgx-b300"},
	{"TPU v4", "", "tpu-v4"}, {"TPU v5p", "", "tpu-v5p"}, {"TPU7x", "", "tpu-ironwood"},
	{"", "sm_60", "dgx-1-p100"}, {"", "sm_70", "dgx-1-v100"}, {"", "sm_75", "dgx-1-v100"},
	{"", "sm_80", "dgx-a100"}, {"", "sm_86", "pcie-gen4-4090"}, {"", "sm_89", "pcie-gen5-l40s"},
	{"", "sm_90", "dgx-h100"}, {"", "sm_100", "dgx-b200"}, {"", "sm_103", "dgx-b300"}, {"", "gfx", "mi300x"},
}

// Like returns the system whose figures stand for a machine that was given in
// full, by its first GPU; dgx-h100's where nothing is known. The machine's own
// rates go before them, and makers of CPUs are its own.
func Like(m *machine.Machine) System {
	gpu := &m.GPUs[0]
	s, _ := LookupSystem(LikeName(m))
	s.Name, s.Model = m.Name, gpu.Model
	s.GPUs, s.NICs = len(m.GPUs), len(m.NICs)
	switch c := &m.Sockets[0]; {
	case c.Vendor == "AuthenticAMD":
		s.CPU, s.Proxy, s.Board.P2P = AMD, onAMD, machine.SYS
	case c.Arch == "arm64":
		s.CPU, s.Board.P2P = Arm, machine.PXB
	case c.Vendor != "":
		s.CPU, s.Proxy, s.Board.P2P = Intel, onIntel, machine.PXB
	}
	if strings.Contains(gpu.Model, "GeForce") {
		s.Board.P2P = machine.Self // the driver forbids it, whatever the CPU could
	}
	return s
}

// LikeName returns the name of that system.
func LikeName(m *machine.Machine) string {
	gpu := &m.GPUs[0]
	for _, l := range likes {
		if l.model != "" && strings.Contains(gpu.Model, l.model) || l.arch != "" && strings.HasPrefix(gpu.Arch, l.arch) {
			return l.system
		}
	}
	return "dgx-h100"
}
