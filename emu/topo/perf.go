package topo

import (
	"fmt"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/shaping"
)

// Measurement is what one program measures between two places.
type Measurement struct {
	Test     string
	From, To string
	Size     shaping.Bytes // of a message
	// Rate is the bandwidth, in decimal bytes a second, or Latency half a round
	// trip; the other is 0.
	Rate    shaping.Rate
	Latency shaping.Duration
	Limit   string // the slowest port of the way
	Note    string
}

const (
	copySize  = 512 * shaping.MiB // nvbandwidth's default buffer
	copyFrame = shaping.MiB       // a copy's share of a port at a time; any size below transit.MaxFrame gives the same rate
	writeSize = 64 * shaping.KiB  // ib_write_bw's default
	writes    = 5000              // its iterations
	latSize   = 8 * shaping.Bytes(1)
	pings     = 1000 // iterations of ib_write_lat
	// queuePause lies between the end of a message of a queue pair at the NIC's
	// egress and its next: 64 KiB then take 1472.5 ns, 44.5 GB/s, where the port
	// alone would carry 49 GB/s [cal] by [ib]. Other queue pairs fill it, as the
	// channels of a collective do, so that collectives do not see it.
	queuePause = 135 * shaping.Nanosecond
)

// Measure runs what people run on new hardware, between the first devices that
// there are of each kind.
func Measure(f *fabric.Fabric) []Measurement {
	var all []Measurement
	if _, gpus := f.GPURange(0); gpus > 1 {
		all = append(all, peer(f), bothWays(f))
	}
	all = append(all, host(f, false), host(f, true))
	if f.Nodes() < 2 || f.NICs(0) == 0 || f.NICs(1) == 0 {
		return all
	}
	all = append(all, writeBW(f, 0, 0, 1), writeBW(f, 0, 0, 2))
	other := other(f)
	if other > 0 {
		all = append(all, writeBW(f, 0, other, 1))
	}
	all = append(all, writeLat(f, 0, 0))
	if other > 0 {
		all = append(all, writeLat(f, 0, other))
	}
	return all
}

// other returns a NIC of node 1 on another rail than 0, 0 when there is none.
func other(f *fabric.Fabric) int { return min(1, f.NICs(1)-1) }

// limit returns the slowest port of a path.
func limit(f *fabric.Fabric, p fabric.Path) string { return wayOf(f, p).Limit }

func wayOf(f *fabric.Fabric, p fabric.Path) *Way {
	w := &Way{}
	w.path(f, p)
	w.sum()
	return w
}

// copied returns the bandwidth of copies that run at once.
func copied(f *fabric.Fabric, paths ...fabric.Path) shaping.Rate {
	var streams []*stream
	for _, p := range paths {
		streams = append(streams, &stream{path: p, bytes: copyFrame, left: int(copySize / copyFrame)})
	}
	return rate(copySize*shaping.Bytes(len(paths)), run(f, streams...))
}

func peer(f *fabric.Fabric) Measurement {
	p := f.PeerPath(0, 1)
	return Measurement{Test: "peer copy", From: "gpu0@node0", To: "gpu1@node0", Size: copySize, Rate: copied(f, p), Limit: limit(f, p), Note: "as nvbandwidth, one direction"}
}

func bothWays(f *fabric.Fabric) Measurement {
	p, q := f.PeerPath(0, 1), f.PeerPath(1, 0)
	return Measurement{Test: "peer copy", From: "gpu0@node0", To: "gpu1@node0", Size: copySize, Rate: copied(f, p, q), Limit: limit(f, p), Note: "both directions at once, their sum"}
}

func host(f *fabric.Fabric, toHost bool) Measurement {
	p := f.HostPath(0, toHost)
	m := Measurement{Test: "host to device", From: "host@node0", To: "gpu0@node0", Size: copySize, Rate: copied(f, p), Limit: limit(f, p), Note: "as nvbandwidth, pinned memory"}
	if toHost {
		m.Test, m.From, m.To = "device to host", m.To, m.From
	}
	return m
}

// writeBW is ib_write_bw between host memories, over some queue pairs.
func writeBW(f *fabric.Fabric, a, b, pairs int) Measurement {
	p := f.NICPath(0, a, 1, b)
	var streams []*stream
	for range pairs {
		streams = append(streams, &stream{path: p, bytes: writeSize, left: writes, pause: queuePause})
	}
	got := rate(writeSize*writes*shaping.Bytes(pairs), run(f, streams...))
	m := Measurement{Test: "ib_write_bw", From: Place{0, true, a}.String(), To: Place{1, true, b}.String(), Size: writeSize, Rate: got,
		Limit: limit(f, p), Note: fmt.Sprintf("%s, %d queue pairs", rails(a, b), pairs)}
	if pairs == 1 {
		m.Note = rails(a, b) + ", one queue pair"
	}
	for _, s := range streams {
		*s = stream{path: p, bytes: writeSize, left: writes}
	}
	if got < rate(writeSize*writes*shaping.Bytes(pairs), run(f, streams...)).Permille(999) { // faster without pauses
		m.Limit = "the queue pair"
	}
	return m
}

// writeLat is ib_write_lat: half of a round trip. Where the catalog knows the
// latency of a transport with its library alone, that is what is measured, and said.
func writeLat(f *fabric.Fabric, a, b int) Measurement {
	p, q := f.NICPath(0, a, 1, b), f.NICPath(1, b, 0, a)
	ping, pong := &stream{path: p, bytes: latSize, left: pings}, &stream{path: q, bytes: latSize, left: pings}
	ping.next, pong.next = pong, ping
	end := run(f, ping, pong)
	m := Measurement{Test: "ib_write_lat", From: Place{0, true, a}.String(), To: Place{1, true, b}.String(), Size: latSize,
		Latency: shaping.Duration(end) / (2 * pings), Limit: limit(f, p), Note: rails(a, b) + ", half a round trip"}
	if f.Link().Library {
		m.Test, m.Note = "transport latency", m.Note+" through the library, not of the wire"
	}
	return m
}
