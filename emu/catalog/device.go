package catalog

import "github.com/railyard/railyard/shaping"

// Device is a switch.
type Device struct {
	Name  string
	About string
	Ports int          // of its widest kind
	Wire  shaping.Rate // of such a port, one direction
	Hop   shaping.Duration
}

// Capacity is what a switch carries, both directions counted.
func (d Device) Capacity() shaping.Rate { return 2 * d.Wire * shaping.Rate(d.Ports) }

// Hop is what vendors or third parties say of the switch alone; Link.Switch, with
// the cable, is what runs reckon with. Zero: nothing was found.
var devices = []Device{
	{Name: "SB7800", About: "Switch-IB 2, EDR", Ports: 36, Wire: 100 * shaping.Gbps},                               // [assumed]
	{Name: "QM8700", About: "Quantum, HDR", Ports: 40, Wire: 200 * shaping.Gbps, Hop: 130 * ns},                    // [hw]
	{Name: "QM9700", About: "Quantum-2, NDR", Ports: 64, Wire: 400 * shaping.Gbps, Hop: 330 * ns},                  // 51.2 Tb/s; resellers say 150 to 400 ns [hw]
	{Name: "Q3400", About: "Quantum-X800, XDR", Ports: 144, Wire: 800 * shaping.Gbps},                              // 115.2 Tb/s a direction [hw]
	{Name: "SN4600C", About: "Spectrum-3, 100 GbE", Ports: 64, Wire: 100 * shaping.Gbps},                           // [assumed]
	{Name: "SN5400", About: "Spectrum-4, 400 GbE", Ports: 64, Wire: 400 * shaping.Gbps},                            // [hw]
	{Name: "SN5600", About: "Spectrum-4, 800 GbE", Ports: 64, Wire: 800 * shaping.Gbps},                            // 51.2 Tb/s a direction [hw]
	{Name: "tomahawk-5", About: "Broadcom Tomahawk 5", Ports: 64, Wire: 800 * shaping.Gbps, Hop: 600 * ns},         // 51.2 Tb/s a direction, third party's latency [hw]
	{Name: "tomahawk-ultra", About: "Broadcom Tomahawk Ultra", Ports: 64, Wire: 800 * shaping.Gbps, Hop: 250 * ns}, // 51.2 Tb/s a direction [hw]
	{Name: "rosetta", About: "HPE Slingshot 11", Ports: 64, Wire: 200 * shaping.Gbps, Hop: 350 * ns},               // 12.8 Tb/s a direction [hw]
}

// Devices returns every switch in listing order.
func Devices() []Device { return append([]Device(nil), devices...) }

// Medium is what a cable is made of, and what its two ends take.
type Medium struct {
	Name    string
	About   string
	Percent int64 // of the link's pluggable optic that an end takes
}

var media = []Medium{
	{Name: "copper", About: "passive cable, up to some 3 m", Percent: 1},                          // a tenth of a watt [assumed]
	{Name: "optical", About: "pluggable transceivers", Percent: 100},                              // by definition [assumed]
	{Name: "co-packaged", About: "optics on the switch's package, as NVIDIA states", Percent: 30}, // 3.5 times less [assumed]
}

// Media returns every medium in listing order.
func Media() []Medium { return append([]Medium(nil), media...) }
