package machine

import "github.com/railyard/railyard/shaping"

// Machine is one server. Its parts name each other by position in these lists.
// A zero value anywhere means that nobody said, unless a field says otherwise.
type Machine struct {
	Name string // letters, digits and . _ -, as for a host
	// Domain names the NVLink domain that this machine is a part of, when other
	// machines of the cluster are parts of it too: their planes are the same.
	// Empty: its NVLink ends with it.
	Domain string
	// Sockets are the CPU packages. Without SocketLinks any two are joined,
	// at a rate that nobody said.
	Sockets     []Socket
	SocketLinks []SocketLink
	NUMA        []NUMA
	// Bridges are host bridges, PCIe switches and root ports, each behind what
	// it hangs on.
	Bridges []Bridge
	// Planes are the NVSwitch chips, or whatever makes one crossbar of what
	// hangs on it.
	Planes  []Plane
	GPUs    []GPU // GPU i of nvidia-smi and of CUDA is at position i
	NICs    []NIC // likewise; one for each port that the host sees as a device
	NVLinks []NVLink
	// Told are distances that a tool told otherwise than the graph has them:
	// virtual machines show what no tree of bridges can be. They are printed as
	// they were told; paths follow the graph.
	Told []Told
}

// Socket is a CPU package.
type Socket struct {
	// Arch, Vendor, Family and Model are what NCCL tells CPUs apart by: "x86_64",
	// "arm64" or "ppc64"; the vendor as CPUID says it ("GenuineIntel").
	Arch, Vendor  string
	Family, Model int
}

// SocketLink joins two sockets, A before B.
type SocketLink struct {
	A, B int
	Rate shaping.Rate // each direction, all lanes together
}

// NUMA is a part of the memory with the CPUs and PCIe roots next to it.
type NUMA struct {
	Socket int
	// Nodes are the operating system's numbers, mostly one: "0", or "0-3" where
	// a tool lumps them together. Two parts may say the same: virtual machines
	// show devices far apart that claim one node.
	Nodes string
	CPUs  string       // "0-47,96-143"
	DRAM  shaping.Rate // of its memory, reading or writing
}

// PCI is what all PCIe devices have.
type PCI struct {
	BusID string // domain:bus:device.function, lower case
	At    Place
	Slot  Slot   // the link towards the CPU
	Class uint32 // 24 bits: 0x030200 is a 3D controller, 0x020700 InfiniBand
	ID    string // vendor:device or vendor:device:subvendor:subdevice, hexadecimal
}

// Bridge is a PCIe switch, a root port or a host bridge.
type Bridge struct {
	PCI
	// Host says that it is a host bridge: it hangs on a NUMA node, and between
	// two of them lies the CPU. Devices hung on a NUMA node directly share one
	// that nobody named.
	Host bool
}

// Plane is one NVSwitch chip.
type Plane struct {
	BusID string
}

// Support says whether a device can do something.
type Support uint8

// A file may be silent.
const (
	Unsaid Support = iota
	No
	Yes
)

// GPU is a graphics processor, or a part of one that the host sees as a device.
type GPU struct {
	PCI
	Model string  // as the vendor sells it: "H100 SXM5 80GB"
	Arch  string  // "sm_90", "gfx942"
	Units int     // SMs or compute units
	GDR   Support // a NIC may read and write its memory
	NUMA  string  // number of the NUMA node that its own memory is (Grace)
	C2C   C2C
}

// C2C is a coherent link between a GPU and its CPU.
type C2C struct {
	Count int
	Rate  shaping.Rate // of one link, each direction
}

// NIC is a network device. Ports of one card have the same BusID; a virtual
// device has none and hangs on a NUMA node.
type NIC struct {
	PCI
	Name    string       // "mlx5_0"
	Speed   shaping.Rate // of its port
	Port    int
	GUID    uint64 // of the card
	GDR     Support
	Reduces Support // takes part in reductions in the network (SHARP)
	Latency shaping.Duration
	MaxConn int // connections it can hold
}

// Told is what a tool said of two devices, A before B, GPUs before NICs.
type Told struct {
	A, B Device
	Is   Nearness // PIX to SYS
}

// NVLink is a bundle of like links (XGMI ones too) from a GPU to a plane, or to
// another GPU, which then has the higher number.
type NVLink struct {
	GPU   int
	Plane bool // whether To is a plane
	To    int
	Count int
	Rate  shaping.Rate // of one link, each direction
}
