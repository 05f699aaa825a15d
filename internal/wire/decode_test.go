package wire

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

const (
	data   = railyardv1.FrameKind_FRAME_KIND_DATA
	simple = railyardv1.Protocol_PROTOCOL_SIMPLE
)

// What breaks the contract is an error that names the field, the value and what
// is allowed, and leaves nothing in the batch.
func TestDecodeErrors(t *testing.T) {
	headers := func(h ...*railyardv1.FrameHeader) *railyardv1.FrameBatch {
		return &railyardv1.FrameBatch{Headers: h}
	}
	for _, c := range []struct {
		name string
		msg  any // a message, or bytes
		want string
	}{
		{"no kind", headers(&railyardv1.FrameHeader{Protocol: simple}),
			"kind: missing; allowed are data, credit, payload, lost and nak"},
		{"kind of a later version", headers(&railyardv1.FrameHeader{Kind: 6, Protocol: simple}),
			"kind 6: at most 5"},
		{"no protocol", headers(&railyardv1.FrameHeader{Kind: data}),
			"protocol PROTOCOL_UNSPECIFIED: unknown; allowed are PROTOCOL_SIMPLE, PROTOCOL_LL, PROTOCOL_LL128"},
		{"negative instant", headers(&railyardv1.FrameHeader{Kind: data, Protocol: simple, TailPs: -1}),
			"tail_ps 18446744073709551615: at most 9223372036854775807"},
		{"position beyond an int32", headers(&railyardv1.FrameHeader{Kind: data, Protocol: simple, HopIndex: 1 << 31}),
			"hop_index 2147483648: at most 2147483647"},
		{"payload without elements", headers(&railyardv1.FrameHeader{Kind: data, Protocol: simple, PayloadBytes: 5}),
			"payload_bytes 5: must be 0 without has_payload"},
		{"payload too short", headers(&railyardv1.FrameHeader{Kind: data, Protocol: simple, HasPayload: true, PayloadBytes: 5}),
			"payload: 0 bytes, but the headers' payload_bytes are 5 together"},
		{"payload too long", &railyardv1.FrameBatch{Payload: []byte("hello")},
			"payload: 5 bytes, but the headers' payload_bytes are 0 together"},
		{"two frames too many", headers(make([]*railyardv1.FrameHeader, MaxFrames+2)...),
			"headers: more than 65536"},
		{"participant beyond 32 bits", protowire.AppendVarint([]byte{batchFrom << 3}, 1<<32),
			"from_participant 4294967296: at most 4294967295"},
		{"sequence beyond 32 bits", []byte{batchHeaders<<3 | 2, 7, 4 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
			"seq 68719476735: at most 4294967295"},
		{"length beyond the end", []byte{batchPayload<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f}, "ends within a field"},
		{"length beyond 63 bits", protowire.AppendVarint([]byte{batchHeaders<<3 | 2}, math.MaxUint64), "ends within a field"},
		{"endless varint", bytes.Repeat([]byte{0x80}, 11), "varint longer than 64 bits"},
		{"varint that ends early", []byte{batchFrom << 3, 0x80}, "ends within a field"},
		{"fixed64 that ends early", []byte{batchSession<<3 | 1, 1, 2, 3}, "ends within a field"},
		{"unknown field that ends early", []byte{9<<3 | 5, 1}, "ends within a field"},
		{"group", []byte{9<<3 | 3, 9<<3 | 4}, "group"},
		{"field number 0", []byte{0}, "tag that protobuf does not know"},
		{"wire type 7", []byte{1<<3 | 7}, "tag that protobuf does not know"},
		{"header that ends early", []byte{batchHeaders<<3 | 2, 2, 1 << 3, 0x80}, "frame header: field 1"},
		{"header with a bad tag", []byte{batchHeaders<<3 | 2, 1, 0}, "frame header: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			msg, ok := c.msg.([]byte)
			if !ok {
				m := c.msg.(*railyardv1.FrameBatch)
				for i, h := range m.Headers {
					if h == nil {
						m.Headers[i] = &railyardv1.FrameHeader{Kind: data, Protocol: simple}
					}
				}
				msg, _ = proto.Marshal(m)
			}
			b := Batch{Frames: make([]Frame, 3)}
			err := NewCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(msg)}, &b)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
			if b.Session != 0 || b.From != 0 || len(b.Frames) != 0 {
				t.Errorf("the batch holds %+v", b)
			}
		})
	}
}

// An error takes no reference with it: grpc frees every buffer.
func TestDecodeErrorKeepsNothing(t *testing.T) {
	m := message(anyBatch(rand.New(rand.NewPCG(11, 12)), 20, 3000))
	m.Payload = append(m.Payload, 1)
	msg, _ := proto.Marshal(m)
	var l ledger
	data := l.paged(msg, 4096)
	var b Batch
	if err := NewCodec().Unmarshal(data, &b); err == nil {
		t.Fatal("a byte too many was accepted")
	}
	data.Free()
	if l.out != 0 {
		t.Errorf("%d buffers are still out", l.out)
	}
}

// A message costs a small multiple of its own size, whatever it claims.
func TestDecodeAllocatesInMeasure(t *testing.T) {
	header, _ := proto.Marshal(&railyardv1.FrameBatch{Headers: []*railyardv1.FrameHeader{
		{Kind: data, Protocol: simple, HasPayload: true, PayloadBytes: math.MaxInt32},
	}})
	for name, msg := range map[string][]byte{
		"claims of payload":  bytes.Repeat(header, MaxFrames),
		"a length of 2^40":   protowire.AppendVarint([]byte{batchPayload<<3 | 2}, 1<<40),
		"a header of 2^40":   protowire.AppendVarint([]byte{batchHeaders<<3 | 2}, 1<<40),
		"nothing but zeroes": make([]byte, 1<<16),
	} {
		var before, after runtime.MemStats
		var batch Batch
		runtime.ReadMemStats(&before)
		err := NewCodec().Unmarshal(mem.BufferSlice{mem.SliceBuffer(msg)}, &batch)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(60*len(msg)+16<<10); got > most {
			t.Errorf("%s: %d bytes allocated for a message of %d", name, got, len(msg))
		}
	}
}

// FuzzDecode feeds bytes that may be anything, cut into buffers anywhere. The
// codec may refuse what protobuf takes, since it checks more. What it takes,
// protobuf takes too and understands alike.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, frames := range []int{0, 1, 5} {
		msg, err := proto.Marshal(message(anyBatch(r, frames, 0, 10, 3000)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(msg, uint64(frames))
	}
	f.Add([]byte{batchPayload<<3 | 2, 0xff, 0xff, 0xff, 0xff, 0x0f}, uint64(1))
	c := NewCodec()
	f.Fuzz(func(t *testing.T, msg []byte, seed uint64) {
		var got Batch
		if c.Unmarshal(scatter(rand.New(rand.NewPCG(seed, 0)), msg), &got) != nil {
			return
		}
		var oracle railyardv1.FrameBatch
		if err := proto.Unmarshal(msg, &oracle); err != nil {
			t.Fatalf("the codec takes what protobuf refuses: %v", err)
		}
		theirs, err := proto.Marshal(&oracle)
		if err != nil {
			t.Fatal(err)
		}
		var again Batch
		if err := c.Unmarshal(mem.BufferSlice{mem.SliceBuffer(theirs)}, &again); err != nil {
			t.Fatalf("the codec refuses its own message once protobuf has rewritten it: %v", err)
		}
		sameBatch(t, &got, &again)
		got.Release()
		again.Release()
	})
}
