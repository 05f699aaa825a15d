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
	// Radix is the number of ports of this link that Device, the switch built for
	// it, has.
	Radix  int
	Device string
	// Routing is how its switches choose among equally good links, unless the
	// cluster says otherwise: adaptive, hash or spray.
	Routing string
	// SHARP is how many bytes of result a second a streaming tree of the link's
	// switches turns out; zero: they do not reduce long messages.
	SHARP shaping.Rate
	// Trees is how many streaming trees one of its switches carries at once; 0: one
	// a port, which NICs share anyhow.
	Trees int
	// Milliwatts is what a pluggable transceiver, one end of an optical cable, takes.
	Milliwatts int64
	// Library: NIC is mostly the time of the transport's library and host software,
	// as collectives see it, and no latency of the wire, which has no source.
	Library bool
	// Staged: the host copies all that is sent and received; no NIC reads a GPU.
	Staged bool
}

// Global is what a long cable between groups of a dragonfly costs on top of the
// one in Link.Switch: 50 m of fibre.
const Global = 50 * metre // a hall's length [assumed]

// metre is how long light takes for a metre of fibre or copper.
const metre = 5 * ns // [hw]

// NIC latencies of InfiniBand reproduce ib_write_lat: 1.79 µs on the same rail,
// 2.40 µs across a spine [ib], which is two more switch hops. Those of others are
// alike where nothing is published; cloud transports are slower by their host
// software, which stands in NIC.
//
// Streaming aggregation came with Quantum's second generation of SHARP; EDR's
// switches reduce short messages alone. NCCL's maintainers state some 20 GB/s for
// an HDR NIC (nccl#320), 80 % of the wire; for later links the share is assumed.
var links = []Link{
	{Name: "edr", About: "InfiniBand EDR, 100 Gb/s", Wire: 100 * shaping.Gbps, Usable: 960, // 12 of 12.5 [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 36, // latency as NDR's [assumed]; SB7800, 36 ports [assumed]
		Device: "SB7800", Routing: "adaptive", Milliwatts: 3500}, // QSFP28 [assumed]
	{Name: "hdr", About: "InfiniBand HDR, 200 Gb/s", Wire: 200 * shaping.Gbps, Usable: 980, // 197 of 200 Gb/s, ib_write_bw, rounded down to NDR's [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 40, // latency as NDR's [assumed]; QM8700, 40 ports [hw]
		Device: "QM8700", Routing: "adaptive", SHARP: 20 * shaping.GBps, // nccl#320 [sharp]
		Trees:      1,     // Quantum; Quantum-2 one a port [sharp]
		Milliwatts: 5000}, // QSFP56 [assumed]
	{Name: "ndr", About: "InfiniBand NDR, 400 Gb/s", Wire: 400 * shaping.Gbps, Usable: 980, // up to 49 of 50 GB/s a NIC [hw]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 64, // [ib]; QM9700, 64 ports [hw]
		Device: "QM9700", Routing: "adaptive", SHARP: 40 * shaping.GBps, // 80 % of the wire, as HDR [assumed]
		Milliwatts: 8000}, // half of a twin-port OSFP [assumed]
	{Name: "xdr", About: "InfiniBand XDR, 800 Gb/s", Wire: 800 * shaping.Gbps, Usable: 980, // as NDR [assumed]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 144, // latency as NDR's [assumed]; Q3400, 144 ports [hw]
		Device: "Q3400", Routing: "adaptive", SHARP: 80 * shaping.GBps, // 80 % of the wire, as HDR [assumed]
		Milliwatts: 15000}, // half of a twin-port OSFP [assumed]
	{Name: "gdr", About: "InfiniBand GDR, 1600 Gb/s (roadmap)", Wire: 1600 * shaping.Gbps, Usable: 980, // wire rate [hw], share as NDR [assumed]
		NIC: 745 * ns, Switch: 305 * ns, Radix: 144, // as XDR [assumed]
		Device: "(roadmap)", Routing: "adaptive", SHARP: 160 * shaping.GBps, // 80 % of the wire, as HDR [assumed]
		Milliwatts: 25000}, // [assumed]
	{Name: "roce-100", About: "RoCE v2, 100 Gb/s Ethernet", Wire: 100 * shaping.Gbps, Usable: 960, // 12 of 12.5 [hw]
		NIC: 745 * ns, Switch: 600 * ns, Radix: 64, // NIC as InfiniBand's, hop as Tomahawk 5's [assumed]; SN4600C, 64 ports [assumed]
		Device: "SN4600C", Routing: "hash", Milliwatts: 3500}, // QSFP28 [assumed]
	{Name: "roce-200", About: "RoCE v2, 200 Gb/s Ethernet", Wire: 200 * shaping.Gbps, Usable: 960, // 24 of 25 [hw]
		NIC: 745 * ns, Switch: 600 * ns, Radix: 128, // as RoCE 100 [assumed]; SN5400, each port split in two [assumed]
		Device: "SN5400", Routing: "hash", Milliwatts: 5000}, // QSFP56 [assumed]
	{Name: "roce-400", About: "RoCE v2, 400 Gb/s Ethernet", Wire: 400 * shaping.Gbps, Usable: 960, // 48 of 50 [hw]
		NIC: 745 * ns, Switch: 600 * ns, Radix: 64, // as RoCE 100 [assumed]; SN5400, 64 ports [hw]
		Device: "SN5400", Routing: "hash", Milliwatts: 8000}, // as NDR [assumed]
	{Name: "roce-800", About: "RoCE v2, 800 Gb/s Ethernet", Wire: 800 * shaping.Gbps, Usable: 960, // as RoCE 400 [assumed]
		NIC: 745 * ns, Switch: 600 * ns, Radix: 64, // as RoCE 100 [assumed]; SN5600, 64 ports [hw]
		Device: "SN5600", Routing: "hash", Milliwatts: 15000}, // as XDR [assumed]
	{Name: "tcp-100", About: "sockets over 100 Gb/s Ethernet or IPoIB, no RDMA", Wire: 100 * shaping.Gbps, Usable: 320, // 4 of 12.5: IPoIB, nccl#465 [hw]
		NIC: 15_000 * ns, Switch: 600 * ns, Radix: 64, // no figure published [assumed]; SN4600C, as RoCE 100 [assumed]
		Device: "SN4600C", Routing: "hash", Milliwatts: 3500, Library: true, Staged: true}, // QSFP28 [assumed]
	{Name: "uec-800", About: "Ultra Ethernet, 800 Gb/s, packets sprayed", Wire: 800 * shaping.Gbps, Usable: 960, // as RoCE 400 [assumed]
		NIC: 745 * ns, Switch: 250 * ns, Radix: 64, // NIC as InfiniBand's [assumed]; Tomahawk Ultra, 250 ns, 51.2 Tb/s [hw]
		Device: "tomahawk-ultra", Routing: "spray", Milliwatts: 15000}, // as XDR [assumed]
	{Name: "slingshot-11", About: "HPE Slingshot 11, 200 Gb/s", Wire: 200 * shaping.Gbps, Usable: 960, // 24 of 25 [hw]
		NIC: 745 * ns, Switch: 350 * ns, Radix: 64, // NIC as InfiniBand's [assumed]; Rosetta, 64 ports, 350 ns (third party) [hw]
		Device: "rosetta", Routing: "adaptive", Milliwatts: 5000}, // QSFP56 [assumed]
	{Name: "efa", About: "AWS Elastic Fabric Adapter, 100 Gb/s a card, SRD", Wire: 100 * shaping.Gbps, Usable: 960, // P4d and P5 [hw], 12 of 12.5 as others [assumed]
		NIC: 27 * us, Switch: 600 * ns, Radix: 64, // 175 µs for 8 B on 2 × P4d with Simple [cal], hop as Tomahawk 5's [assumed]
		Device: "tomahawk-5", Routing: "spray", Milliwatts: 3500, Library: true}, // QSFP28 [assumed]
	{Name: "efa-400", About: "AWS Elastic Fabric Adapter, 400 Gb/s for a GPU: 4 cards of 100 (P5), 2 of 200 (P5en), 1 of 400 (P6)", Wire: 400 * shaping.Gbps, Usable: 960, // [hw], as efa [assumed]
		NIC: 8650 * ns, Switch: 600 * ns, Radix: 64, // 69 µs for 8 B on 2 × P5 [cal], hop as efa [assumed]
		Device: "tomahawk-5", Routing: "spray", Milliwatts: 8000, Library: true}, // as NDR [assumed]
	{Name: "efa-800", About: "AWS Elastic Fabric Adapter, 800 Gb/s for a GPU: 2 cards of 400 (P6-B300)", Wire: 800 * shaping.Gbps, Usable: 960, // [hw], as efa [assumed]
		NIC: 8650 * ns, Switch: 600 * ns, Radix: 64, // as efa-400 [assumed]
		Device: "tomahawk-5", Routing: "spray", Milliwatts: 16000, Library: true}, // two of NDR [assumed]
	{Name: "tcpx", About: "GCP GPUDirect-TCPX, 200 Gb/s a card", Wire: 200 * shaping.Gbps, Usable: 850, // A3 High [hw], share of TCP [assumed]
		NIC: 12000 * ns, Switch: 600 * ns, Radix: 64, // no figure published [assumed]
		Device: "tomahawk-5", Routing: "hash", Milliwatts: 5000, Library: true}, // QSFP56 [assumed]
	{Name: "tcpxo", About: "GCP GPUDirect-TCPXO, 200 Gb/s a card", Wire: 200 * shaping.Gbps, Usable: 993, // A3 Mega [hw]; 188.7 of 200 GB/s, Simple's share off, all_gather of 8 GiB on two [cal]
		NIC: 8000 * ns, Switch: 600 * ns, Radix: 64, // no figure published [assumed]
		Device: "tomahawk-5", Routing: "hash", Milliwatts: 5000, Library: true}, // QSFP56 [assumed]
}

// Links returns every link in listing order.
func Links() []Link { return append([]Link(nil), links...) }

// LookupLink returns the link with the given name.
func LookupLink(name string) (Link, error) {
	return lookup("link", name, links, func(l Link) string { return l.Name })
}
