package catalog

import "github.com/railyard/railyard/shaping"

// Link is what a NIC and the switches between NICs speak.
type Link struct {
	Name   string
	About  string
	Wire   shaping.Rate // one port, one direction
	Usable int64        // ‰ of Wire that reaches memory: headers, CRC, ACKs off
	// NIC is the latency of one NIC with its cable, Switch that of one switch
	// hop with its cable, both without serialisation.
	NIC, Switch shaping.Duration
	// Radix is the number of ports of the switch built for this link.
	Radix int
	// SHARP is how many bytes of result a second a streaming tree of the link's
	// switches turns out; zero: they do not reduce long messages.
	SHARP shaping.Rate
}

// NIC latencies reproduce ib_write_lat: 1.79 µs on the same rail, 2.40 µs
// across a spine [ib], which is two more switch hops.
//
// Streaming aggregation came with Quantum's second generation of SHARP; EDR's
// switches reduce short messages alone. NCCL's maintainers state some 20 GB/s for
// an HDR NIC (nccl#320), 80 % of the wire; for later links the share is assumed.
var links = []Link{
	{Name: "edr", About: "InfiniBand EDR, 100 Gb/s", Wire: 100 * shaping.Gbps, Usable: 960, // 12 of 12.5 [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 36}, // latency as NDR's [assumed]; SB7800, 36 ports [assumed]
	{Name: "hdr", About: "InfiniBand HDR, 200 Gb/s", Wire: 200 * shaping.Gbps, Usable: 980, // 197 of 200 Gb/s, ib_write_bw, rounded down to NDR's [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 40, // latency as NDR's [assumed]; QM8700, 40 ports [hw]
		SHARP: 20 * shaping.GBps}, // nccl#320 [sharp]
	{Name: "ndr", About: "InfiniBand NDR, 400 Gb/s", Wire: 400 * shaping.Gbps, Usable: 980, // up to 49 of 50 GB/s a NIC [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 64, // [ib]; QM9700, 64 ports [hw]
		SHARP: 40 * shaping.GBps}, // 80 % of the wire, as HDR [assumed]
	{Name: "xdr", About: "InfiniBand XDR, 800 Gb/s", Wire: 800 * shaping.Gbps, Usable: 980, // as NDR [assumed]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 144, // latency as NDR's [assumed]; Q3400, 144 ports [hw]
		SHARP: 80 * shaping.GBps}, // 80 % of the wire, as HDR [assumed]
}

// Links returns every link in listing order.
func Links() []Link { return append([]Link(nil), links...) }

// LookupLink returns the link with the given name.
func LookupLink(name string) (Link, error) {
	return lookup("link", name, links, func(l Link) string { return l.Name })
}
