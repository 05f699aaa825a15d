package wire

import (
	"google.golang.org/grpc/mem"

	"github.com/railyard/railyard/emu/transit"
)

// Frame is a header and the real elements that travel beside it.
//
// A frame owns its payload. Copying a Frame moves that ownership to the copy:
// exactly one of them may Take or Release it.
type Frame struct {
	transit.Header
	data []byte
	// buf is what data lies in when that is counted and goes back to a pool.
	// nil: data is nobody's but the garbage collector's.
	buf mem.Buffer
}

// Data returns the payload, nil for none. It may start at any address, however
// unaligned. Received data is read only until it has been Taken.
func (f *Frame) Data() []byte { return f.data }

// Give makes data the frame's payload. The caller must not touch it again: it
// may be read at any time until the frame is on the wire, and is then handed to
// somebody else.
func (f *Frame) Give(data []byte) {
	f.Release()
	if data == nil {
		return
	}
	f.data = data
	f.buf = mem.NewBuffer(&data, payloads)
}

// Alloc gives the frame a payload of n bytes of anything, for the caller to
// fill before the frame is sent.
func (f *Frame) Alloc(n int) []byte {
	f.Release()
	data := payloads.Get(n)
	f.data = *data
	f.buf = mem.NewBuffer(data, payloads)
	return f.data
}

// Take takes the payload out of a received frame. It is the caller's for good,
// to keep, to write to and to Give to another frame.
func (f *Frame) Take() []byte {
	data := f.data
	// The reference is dropped without being freed, so the buffer never goes
	// back to its pool: data is the only way to it left. Frames that share a
	// buffer with this one hold other parts of it.
	f.data, f.buf = nil, nil
	return data
}

// Release lets go of the payload. Not releasing costs speed, never correctness:
// the garbage collector finds what the pool does not get back.
func (f *Frame) Release() {
	if f.buf != nil {
		f.buf.Free()
	}
	f.data, f.buf = nil, nil
}

// Batch is what one message of the data plane holds: frames from one
// participant to another. It travels as a FrameBatch, but its payload passes
// through Codec without being copied.
type Batch struct {
	Session uint64
	From    uint32 // participant that sends
	Number  uint32 // batch of runs the frames belong to
	Frames  []Frame
}

// MaxFrames is the largest number of frames in a batch. It bounds what a
// receiver allocates for a message of nothing but headers.
const MaxFrames = 1 << 16

// Release lets go of every frame's payload and empties the batch for reuse.
func (b *Batch) Release() {
	for i := range b.Frames {
		b.Frames[i].Release()
	}
	b.Frames = b.Frames[:0]
}

// Stream is either end of an Exchange: what grpc's client and server streams
// have in common.
type Stream interface {
	SendMsg(m any) error
	RecvMsg(m any) error
}

// Send puts a batch on a stream and releases it. Errors are the stream's.
func Send(s Stream, b *Batch) error {
	err := s.SendMsg(b)
	// What is still on its way to the socket holds a reference of its own.
	b.Release()
	return err
}

// Recv takes the next batch off a stream. The frames that b held before are
// overwritten, not released: their new owners have copied them. Errors are the
// stream's; io.EOF is its end.
func Recv(s Stream, b *Batch) error { return s.RecvMsg(b) }
