package topo

import (
	"math/bits"

	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// txDepth is how many messages of a queue pair may be on their way: the default
// of perftest's ib_write_bw.
const txDepth = 128

// stream is a queue pair, or the copy engine of a GPU: it sends messages of one
// size, each when the one before has left.
type stream struct {
	path  fabric.Path
	bytes shaping.Bytes // of a message
	left  int           // messages to send
	pause shaping.Duration
	// next, when set, sends nothing by itself: one message goes for each that
	// arrives of the stream that names it, as in a ping-pong.
	next *stream

	id      uint32
	seq     uint32
	flying  int
	ready   shaping.Time // not before
	waiting bool         // an event is pending for it
	arrived shaping.Time // when the last message did
	back    shaping.Duration
}

// wire moves the messages of streams.
type wire struct {
	*transit.Transit
	streams []*stream
}

// run sends all messages of the streams and returns when the last has arrived.
// The first start at once; with next set, only the first stream does.
func run(f *fabric.Fabric, streams ...*stream) shaping.Time {
	w := &wire{Transit: transit.New(f, transit.Owners{Node: make([]int, f.Nodes())}, 0, false), streams: streams}
	for i, s := range streams {
		s.id = uint32(i)
		for _, l := range s.path.Latency {
			s.back += l
		}
	}
	for i, s := range streams {
		if i == 0 || s.next == nil {
			w.send(s)
		}
	}
	for w.Next() != shaping.Never {
		k, i := w.Pop()
		switch k.Kind() {
		case transit.Arrive, transit.Leave:
			if w.Step(k.Kind(), i) {
				w.arrive(i)
			}
		case transit.Credit:
			w.streams[i].flying--
			w.send(w.streams[i])
		default:
			w.streams[i].waiting = false
			w.send(w.streams[i])
		}
	}
	end := shaping.Time(0)
	for _, s := range streams {
		end = max(end, s.arrived)
	}
	return end
}

// send injects the next message of a stream if it may go now.
func (w *wire) send(s *stream) {
	if s.left == 0 || s.flying == txDepth || s.waiting || s.next != nil && s.flying > 0 {
		return
	}
	if s.ready > w.Now() {
		s.waiting = true
		w.push(s, transit.Post, s.ready)
		return
	}
	s.left--
	s.flying++
	s.seq++
	left := w.Inject(transit.Frame{Source: s.id, Seq: s.seq, Conn: s.id, Local: int32(s.id), Bytes: s.bytes}, &s.path, w.Now(), w.Now())
	if s.ready = left.Add(s.pause); s.next == nil {
		s.waiting = true
		w.push(s, transit.Post, s.ready)
	}
}

func (w *wire) arrive(i int32) {
	s := w.streams[w.Frame(i).Conn]
	w.Release(i)
	s.arrived = w.Now()
	if s.next != nil {
		s.flying--
		w.send(s.next)
		return
	}
	w.push(s, transit.Credit, w.Now().Add(s.back))
}

func (w *wire) push(s *stream, k transit.Kind, at shaping.Time) {
	s.seq++
	w.Push(transit.Key{At: at, Ord: transit.Order(k, s.id, s.seq)}, int32(s.id))
}

// rate returns bytes over time, rounded down.
func rate(b shaping.Bytes, t shaping.Time) shaping.Rate {
	hi, lo := bits.Mul64(uint64(b), uint64(shaping.Second))
	q, _ := bits.Div64(hi, lo, uint64(t))
	return shaping.Rate(q)
}
