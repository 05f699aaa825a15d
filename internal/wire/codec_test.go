package wire

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/transit"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// anyBatch draws a batch whose payloads have any of the given sizes.
func anyBatch(r *rand.Rand, frames int, sizes ...int) *Batch {
	b := &Batch{Session: r.Uint64(), From: r.Uint32(), Number: r.Uint32N(3)}
	for range frames {
		f := Frame{Header: anyHeader(r)}
		if n := sizes[r.IntN(len(sizes))]; f.Payload && n > 0 {
			fill(r, f.Alloc(n))
		}
		b.Frames = append(b.Frames, f)
	}
	return b
}

// anyHeader draws a header in which zeros and largest values are frequent.
func anyHeader(r *rand.Rand) transit.Header {
	draw := func(limit int64) int64 {
		switch r.IntN(4) {
		case 0:
			return 0
		case 1:
			return limit
		default:
			return r.Int64N(limit) >> r.IntN(60)
		}
	}
	kind := r.IntN(3)
	return transit.Header{
		Conn: uint32(draw(math.MaxUint32)), Source: uint32(draw(1<<28 - 1)),
		Seq: uint32(draw(math.MaxUint32)), Hop: uint32(draw(math.MaxUint32)),
		Credit: kind == 1, Alone: kind == 2, Payload: r.IntN(4) > 0, At: int32(draw(math.MaxInt32)),
		Head: shaping.Time(draw(math.MaxInt64)), Tail: shaping.Time(draw(math.MaxInt64)),
		Bytes: shaping.Bytes(draw(math.MaxInt64)),
		From:  int32(draw(math.MaxInt32)), To: int32(draw(math.MaxInt32)), Channel: int32(draw(math.MaxInt32)),
		Protocol: collective.Protocol(r.IntN(3)),
	}
}

func fill(r *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

// message is the batch as protobuf's own code would build it: from the
// contract, not from the layout that the codec has in its tables.
func message(b *Batch) *railyardv1.FrameBatch {
	m := &railyardv1.FrameBatch{Session: b.Session, FromParticipant: b.From, Batch: b.Number}
	for i := range b.Frames {
		f := &b.Frames[i]
		h := EncodeHeader(&f.Header)
		h.PayloadBytes = uint32(len(f.Data()))
		m.Headers = append(m.Headers, h)
		m.Payload = append(m.Payload, f.Data()...)
	}
	return m
}

func sameBatch(t *testing.T, got, want *Batch) {
	t.Helper()
	if got.Session != want.Session || got.From != want.From || got.Number != want.Number {
		t.Fatalf("got batch %x from %d number %d, want %x from %d number %d",
			got.Session, got.From, got.Number, want.Session, want.From, want.Number)
	}
	if len(got.Frames) != len(want.Frames) {
		t.Fatalf("got %d frames, want %d", len(got.Frames), len(want.Frames))
	}
	for i := range got.Frames {
		g, w := &got.Frames[i], &want.Frames[i]
		if g.Header != w.Header {
			t.Fatalf("frame %d: got header %+v, want %+v", i, g.Header, w.Header)
		}
		if !bytes.Equal(g.Data(), w.Data()) {
			t.Fatalf("frame %d: payload of %d bytes differs from that of %d bytes", i, len(g.Data()), len(w.Data()))
		}
	}
}

// scatter cuts a message into buffers at random places, empty ones included.
func scatter(r *rand.Rand, msg []byte) mem.BufferSlice {
	var out mem.BufferSlice
	for len(msg) > 0 {
		n := min(r.IntN(1+r.IntN(5000)), len(msg))
		out = append(out, mem.SliceBuffer(msg[:n]))
		msg = msg[n:]
	}
	return append(out, mem.SliceBuffer(nil))
}

// What the codec writes is byte for byte what protobuf writes; what protobuf
// writes the codec reads, however it is cut into buffers.
func TestCodecIsTheContract(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := NewCodec()
	for _, frames := range []int{0, 1, 2, 7, 300} {
		for _, sizes := range [][]int{{0}, {1, 3}, {0, 1000, 2000}, {5000}, {0, 1 << 15, 100_000}} {
			t.Run(fmt.Sprintf("%d frames of %v", frames, sizes), func(t *testing.T) {
				b := anyBatch(r, frames, sizes...)
				want, err := proto.MarshalOptions{Deterministic: true}.Marshal(message(b))
				if err != nil {
					t.Fatal(err)
				}
				out, err := c.Marshal(b)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(out.Materialize(), want) {
					t.Fatal("the codec and protobuf write different bytes")
				}
				out.Free()

				var got Batch
				if err := c.Unmarshal(scatter(r, want), &got); err != nil {
					t.Fatal(err)
				}
				sameBatch(t, &got, b)
			})
		}
	}
}

// Fields may come in any order, twice, and from a later version.
func TestDecodeLikeProtobuf(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := anyBatch(r, 3, 6000)
	for i := range b.Frames {
		b.Frames[i].Payload = true
	}
	m := message(b)
	var later []byte
	later = protowire.AppendBytes(protowire.AppendTag(later, 16, protowire.BytesType), []byte("new"))
	later = protowire.AppendVarint(protowire.AppendTag(later, 17, protowire.VarintType), 150)
	later = protowire.AppendFixed32(protowire.AppendTag(later, 18, protowire.Fixed32Type), 1)
	later = protowire.AppendFixed64(protowire.AppendTag(later, 19, protowire.Fixed64Type), 1)
	payload, _ := proto.Marshal(&railyardv1.FrameBatch{Payload: m.Payload})
	stale, _ := proto.Marshal(&railyardv1.FrameBatch{Session: 99, Batch: 99, Payload: []byte("an earlier payload")})
	m.Payload = nil
	rest, _ := proto.Marshal(m)
	wrongType := protowire.AppendBytes(protowire.AppendTag(nil, batchSession, protowire.BytesType), []byte("hi"))

	msg := slices.Concat(stale, later, payload, wrongType, rest)
	var oracle railyardv1.FrameBatch
	if err := proto.Unmarshal(msg, &oracle); err != nil {
		t.Fatalf("the test's own message: %v", err)
	}
	if b.Number == 0 { // proto3 leaves a zero out, so the stale value stands
		b.Number = 99
	}
	var got Batch
	if err := NewCodec().Unmarshal(scatter(r, msg), &got); err != nil {
		t.Fatal(err)
	}
	sameBatch(t, &got, b)
}

// A payload passes through in the memory it is in: on the way out always, on
// the way in when one buffer holds it.
func TestPayloadIsNotCopied(t *testing.T) {
	var b Batch
	for range 3 {
		f := Frame{Header: transit.Header{Payload: true}}
		f.Alloc(inline)
		b.Frames = append(b.Frames, f)
	}
	out, err := NewCodec().Marshal(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 4 {
		t.Fatalf("marshalled into %d buffers, want a head and 3 payloads", len(out))
	}
	var got Batch
	if err := NewCodec().Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i := range b.Frames {
		sent, passed, received := b.Frames[i].Data(), out[i+1].ReadOnlyData(), got.Frames[i].Data()
		if unsafe.SliceData(sent) != unsafe.SliceData(passed) {
			t.Errorf("frame %d was copied on its way out", i)
		}
		if unsafe.SliceData(passed) != unsafe.SliceData(received) {
			t.Errorf("frame %d was copied on its way in", i)
		}
		if cap(received) != len(received) {
			t.Errorf("frame %d: appending to its payload would write beyond it", i)
		}
	}
}

func TestHeaderThatCannotBeSentPanics(t *testing.T) {
	for _, h := range []transit.Header{{At: -1}, {From: -1}, {Tail: -1}, {Bytes: -1}, {Channel: -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was sent", h)
				}
			}()
			EncodeHeader(&h)
		}()
	}
}

func TestMarshalTooManyFrames(t *testing.T) {
	_, err := NewCodec().Marshal(&Batch{Frames: make([]Frame, MaxFrames+1)})
	if err == nil || !strings.Contains(err.Error(), "batch of 65537 frames; at most 65536") {
		t.Errorf("got %v", err)
	}
}

// Other messages go the way they always do.
func TestCodecFallsBack(t *testing.T) {
	c := NewCodec()
	want := &railyardv1.Grant{Round: 7, UntilPs: math.MaxInt64}
	out, err := c.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got railyardv1.Grant
	if err := c.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(&got, want) {
		t.Errorf("got %v, want %v", &got, want)
	}
	if _, err := c.Marshal("no message"); err == nil {
		t.Error("a string was marshalled")
	}
	if err := c.Unmarshal(out, new(int)); err == nil {
		t.Error("an int was unmarshalled")
	}
}
