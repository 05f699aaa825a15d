package wire

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// ledger is a pool that knows which of its buffers are out.
type ledger struct{ out int }

func (l *ledger) Get(n int) *[]byte {
	l.out++
	b := make([]byte, n)
	return &b
}

func (l *ledger) Put(b *[]byte) {
	l.out--
	clear(*b) // whoever still looks sees it
}

// paged puts a message into buffers of the ledger, as a connection would.
func (l *ledger) paged(msg []byte, size int) mem.BufferSlice {
	var out mem.BufferSlice
	for part := range slices.Chunk(msg, size) {
		b := l.Get(max(len(part), 2048)) // grpc counts no references below 1 KiB
		*b = append((*b)[:0], part...)
		out = append(out, mem.NewBuffer(b, l))
	}
	return out
}

// Buffers live as long as a frame needs them, and no longer.
func TestOwnership(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	want := anyBatch(r, 40, 0, 100, 3000, 20_000)
	want.Frames[0].Payload = true
	fill(r, want.Frames[0].Alloc(3000))
	msg, err := proto.Marshal(message(want))
	if err != nil {
		t.Fatal(err)
	}
	var l ledger
	data := l.paged(msg, 8192)
	var b Batch
	if err := NewCodec().Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	data.Free() // as grpc does after Unmarshal
	sameBatch(t, &b, want)
	kept := b.Frames[0]
	for i := range b.Frames[1:] {
		b.Frames[1+i].Release()
	}
	if !bytes.Equal(kept.Data(), want.Frames[0].Data()) {
		t.Error("releasing other frames took this one's payload")
	}
	kept.Release()
	if l.out != 0 {
		t.Errorf("%d buffers are still out after every frame was released", l.out)
	}
}

func TestTakeKeepsPayloadForGood(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	want := anyBatch(r, 1, 3000)
	want.Frames[0].Payload = true
	fill(r, want.Frames[0].Alloc(3000))
	msg, _ := proto.Marshal(message(want))
	var l ledger
	data := l.paged(msg, 8192)
	var b Batch
	if err := NewCodec().Unmarshal(data, &b); err != nil {
		t.Fatal(err)
	}
	data.Free()
	taken := b.Frames[0].Take()
	b.Release()
	if !bytes.Equal(taken, want.Frames[0].Data()) {
		t.Error("a payload that was taken went back to its pool")
	}
	if l.out != 1 {
		t.Errorf("%d buffers are out, want the taken one", l.out)
	}
}

func TestMarshalKeepsTheBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	b := anyBatch(r, 5, 5000)
	first, _ := NewCodec().Marshal(b)
	want := first.Materialize()
	first.Free()
	second, _ := NewCodec().Marshal(b)
	if !bytes.Equal(second.Materialize(), want) {
		t.Error("marshalling a batch twice gives different bytes")
	}
	b.Release()
	if !bytes.Equal(second.Materialize(), want) {
		t.Error("releasing the batch took payload from the message on its way")
	}
	second.Free()
}

func TestFrameOwnsItsPayload(t *testing.T) {
	var f Frame
	if f.Data() != nil || f.Take() != nil {
		t.Error("a frame begins with payload")
	}
	own := []byte("given")
	f.Give(own)
	if got := f.Take(); unsafe.SliceData(got) != unsafe.SliceData(own) {
		t.Error("Take returns another slice than was given")
	}
	f.Give(nil)
	if f.Data() != nil {
		t.Error("giving nil leaves payload")
	}
	if got := len(f.Alloc(5000)); got != 5000 {
		t.Errorf("Alloc(5000) returns %d bytes", got)
	}
	f.Release()
	f.Release()
	if f.Data() != nil {
		t.Error("Release leaves payload")
	}
}
