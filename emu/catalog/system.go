package catalog

import (
	"strings"

	"github.com/railyard/railyard/shaping"
)

// System is a kind of server.
type System struct {
	Name  string
	Alias string // another name that it goes by
	About string
	GPUs  int
	NICs  int // spread over the PCIe switches as the GPUs are
	// Cards is how many network cards stand behind each NIC, where a plugin of the
	// transport makes one of several; 0: one.
	Cards int
	Model string // what nvidia-smi calls the GPU
	// Compute is the GPU's compute capability × 10: 70 Volta, 80 Ampere, 90
	// Hopper, 100 Blackwell. CPU is whose the host's is.
	Compute int
	Arch    string // of a GPU that is none of NVIDIA's: "gfx942"
	CPU     CPU

	NVLink NVLink
	SM     SM
	PCIe   Slot
	Proxy  Proxy
	Board  Board
	// Link and Fabric are what the system ships with: names of this catalog.
	Link, Fabric string
	// Reported is the latency of a hop that the transport's plugin tells NCCL's
	// tuner of; it is not one that the hardware has.
	Reported shaping.Duration
	// Env are variables, NAME=value, that the environment sets for NCCL: images of
	// a cloud, or the transport's plugin.
	Env []string
}

// Variable returns what the system's environment sets a variable to, empty for
// nothing.
func (s *System) Variable(name string) string {
	for _, v := range s.Env {
		if key, value, _ := strings.Cut(v, "="); key == name {
			return value
		}
	}
	return ""
}

// Joint is what the makers call the links between a server's GPUs, those of NVLink.
func (s *System) Joint() string {
	switch {
	case s.Board.ICI.Chips > 0:
		return "ICI"
	case s.Arch != "":
		return "Infinity Fabric" // AMD's alone
	}
	return "NVLink"
}

// Product is the GPU's name without maker, memory and socket: "H100".
func (s *System) Product() string {
	for word := range strings.FieldsSeq(s.Model) {
		if strings.ContainsAny(word, "0123456789") {
			product, _, _ := strings.Cut(word, "-")
			return product
		}
	}
	return s.Model
}

// Cloud is whose instance the system is, by its name: aws or gcp; empty: nobody's.
func (s *System) Cloud() string {
	for _, c := range Clouds() {
		if strings.HasPrefix(s.Name, c+"-") {
			return c
		}
	}
	return ""
}

// Clouds are those whose instances are in the catalog.
func Clouds() []string { return []string{"aws", "gcp"} }

// NVLink is what joins the GPUs of a server, through NVSwitch or one to one;
// AMD's Infinity Fabric and Google's ICI likewise. The zero value is a server without.
type NVLink struct {
	Wire   shaping.Rate // one GPU, one direction, all its links together
	Links  int          // of one GPU
	Usable int64        // ‰ of Wire that a copy engine moves
	// SMUsable is how many ‰ of what a copy engine moves SMs do, through an NVSwitch, besides
	// what a protocol takes; more than 1000 where it takes less here than of a NIC; 0: all.
	SMUsable int64
	Steps    PerProtocol // latency from a sender's last store to the receiver's reaction
	// Fence is how long an SM waits after a slice of Simple until its bytes have
	// arrived, and it may set the flag. SMs of a GPU's channels share its links byte by
	// byte and do the same steps, so all wait at once, and the links are idle.
	Fence  shaping.Duration
	Credit shaping.Duration
	NVLS   NVLS
}

// NVLS is what an NVSwitch computes. The zero value is one that only switches.
type NVLS struct {
	// Rate is how many bytes of result the reduction engines of the domain turn
	// out a second, and its multicast engines take in.
	Rate   shaping.Rate
	Usable int64 // ‰ of what a step of Simple reaches on a link that multimem accesses reach
	// Fence is how long an SM waits after it has sent every head its chunk, or its own to
	// be multicast. Blocks that scatter, relay and gather take turns, so links aren't idle.
	Fence shaping.Duration
	Step  shaping.Duration // from a sender's last store through the switch to a receiver's reaction
	// SM is what one SM moves to or from the switch's engines, 0: as much as otherwise.
	SM shaping.Rate
}

// SM is the streaming multiprocessor that runs one channel's thread blocks.
type SM struct {
	Rate     shaping.Rate     // what one SM moves: reads its inputs, writes its outputs, one pass
	LL       shaping.Rate     // what one SM moves of data in LL, a flag with every word; 0: half of Rate
	Channels int              // how many channels NCCL opens on this system
	Kernel   shaping.Duration // from the end of one kernel to the first step of the next, on the device
	// Host is what one SM moves to or from host memory, over PCIe or C2C.
	Host shaping.Rate
}

// Slot is a PCIe slot, GPU's and NIC's alike.
type Slot struct {
	Gen    int          // PCIe generation, 16 lanes of it
	Wire   shaping.Rate // one direction, after line coding
	Usable int64        // ‰ of Wire left after headers and flow control
	Steps  PerProtocol  // as NVLink's, between GPUs that meet over PCIe or in host memory
	Credit shaping.Duration
}

// Proxy is the host thread that drives the NIC for one GPU.
type Proxy struct {
	Post    shaping.Duration // one work request; posts of a GPU follow one another
	Receive PerProtocol      // from the NIC's last write to the receiver's reaction: flush and fence for Simple, polling for LL and LL128
}

// CPU is a maker of host processors, as far as NCCL tells them apart.
type CPU uint8

// The makers of host processors.
const (
	Intel CPU = iota
	AMD
	Arm
)

// PerProtocol is a latency for each protocol of NCCL.
type PerProtocol struct{ Simple, LL, LL128 shaping.Duration }

const (
	ns = shaping.Nanosecond
	us = shaping.Microsecond
)

// Systems returns every system in listing order.
func Systems() []System {
	var all []System
	for _, family := range [][]System{volta, ampere, hopper, blackwell, cards, others, tpus, aws, gcp} {
		all = append(all, family...)
	}
	return all
}

// LookupSystem returns the system with the given name or alias.
func LookupSystem(name string) (System, error) {
	all := Systems()
	for i := range all {
		if all[i].Alias == name && name != "" {
			return all[i], nil
		}
	}
	return lookup("system", name, all, func(s System) string { return s.Name })
}
