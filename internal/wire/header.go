package wire

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/railyard/railyard/emu/transit"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// fields is a FrameHeader as the wire has it: every field is a varint, and
// entry i is the field with number i+1. The layout is what lets a batch be
// written and read without a message object for each frame.
type fields [18]uint64

// Positions in fields: the field numbers of FrameHeader, less one.
const (
	fConn = iota
	fKind
	fSource
	fSeq
	fHop
	fHopIndex
	fHead
	fTail
	fWireBytes
	fHasPayload
	fPayloadBytes
	fFrom
	fTo
	fChannel
	fProtocol
	fPSN
	fWay
	fFlip
)

var fieldNames = [len(fields{})]string{
	"conn_id", "kind", "source", "seq", "hop", "hop_index", "head_ps", "tail_ps", "wire_bytes",
	"has_payload", "payload_bytes", "from_gpu", "to_gpu", "channel", "protocol", "psn", "way", "flip",
}

// limits is the largest value of each field. What lies above would wrap round
// when it is narrowed, or mean a negative number, or, as a source, not fit the
// order of events (transit.Order).
var limits = fields{
	fConn: math.MaxUint32, fKind: uint64(railyardv1.FrameKind_FRAME_KIND_NAK),
	fSource: 1<<28 - 1, fSeq: math.MaxUint32, fHop: math.MaxUint32, fHopIndex: math.MaxInt32,
	fHead: math.MaxInt64, fTail: math.MaxInt64, fWireBytes: math.MaxInt64,
	fHasPayload: 1, fPayloadBytes: math.MaxInt32,
	fFrom: math.MaxInt32, fTo: math.MaxInt32, fChannel: math.MaxInt32,
	fProtocol: uint64(railyardv1.Protocol_PROTOCOL_LL128),
	fPSN:      math.MaxUint32, fWay: math.MaxInt64, fFlip: math.MaxInt32,
}

// pack returns the fields of a header whose payload has n bytes. A header
// that the wire can't say comes from a bug in the kernel and panics.
func pack(h *transit.Header, n int) fields {
	f := fields{
		fConn: uint64(h.Conn), fKind: uint64(kind(h)),
		fSource: uint64(h.Source), fSeq: uint64(h.Seq), fHop: uint64(h.Hop), fHopIndex: uint64(h.At),
		fHead: uint64(h.Head), fTail: uint64(h.Tail), fWireBytes: uint64(h.Bytes),
		fPayloadBytes: uint64(n),
		fFrom:         uint64(h.From), fTo: uint64(h.To), fChannel: uint64(h.Channel),
		fProtocol: uint64(protocols.encode(h.Protocol)), fPSN: uint64(h.PSN), fWay: uint64(h.Way), fFlip: uint64(h.Flip),
	}
	if h.Payload {
		f[fHasPayload] = 1
	}
	if err := f.check(); err != nil {
		panic(fmt.Sprintf("wire: frame that can't be sent: %v", err))
	}
	return f
}

// kind returns what a header's frame carries.
func kind(h *transit.Header) railyardv1.FrameKind {
	switch {
	case h.Credit:
		return railyardv1.FrameKind_FRAME_KIND_CREDIT
	case h.Alone:
		return railyardv1.FrameKind_FRAME_KIND_PAYLOAD
	case h.Lost && h.Nak:
		return railyardv1.FrameKind_FRAME_KIND_NAK
	case h.Lost:
		return railyardv1.FrameKind_FRAME_KIND_LOST
	default:
		return railyardv1.FrameKind_FRAME_KIND_DATA
	}
}

func (f *Frame) pack() fields { return pack(&f.Header, len(f.data)) }

// unpack checks the fields and returns the header and its payload's length.
func (f *fields) unpack() (h transit.Header, n int, err error) {
	if err := f.check(); err != nil {
		return transit.Header{}, 0, err
	}
	protocol, err := protocols.decode(railyardv1.Protocol(f[fProtocol]))
	if err != nil {
		return transit.Header{}, 0, err
	}
	nak := f[fKind] == uint64(railyardv1.FrameKind_FRAME_KIND_NAK)
	return transit.Header{
		Lost: nak || f[fKind] == uint64(railyardv1.FrameKind_FRAME_KIND_LOST), Nak: nak,
		PSN: uint32(f[fPSN]), Way: transit.Way(f[fWay]), Flip: uint32(f[fFlip]),
		Conn: uint32(f[fConn]), Credit: f[fKind] == uint64(railyardv1.FrameKind_FRAME_KIND_CREDIT),
		Alone:  f[fKind] == uint64(railyardv1.FrameKind_FRAME_KIND_PAYLOAD),
		Source: uint32(f[fSource]), Seq: uint32(f[fSeq]), Hop: uint32(f[fHop]), At: int32(f[fHopIndex]),
		Head: shaping.Time(f[fHead]), Tail: shaping.Time(f[fTail]), Bytes: shaping.Bytes(f[fWireBytes]),
		Payload: f[fHasPayload] == 1,
		From:    int32(f[fFrom]), To: int32(f[fTo]), Channel: int32(f[fChannel]),
		Protocol: protocol,
	}, int(f[fPayloadBytes]), nil
}

func (f *fields) check() error {
	for i, v := range f {
		if v > limits[i] {
			return fmt.Errorf("frame header: %s %d: at most %d", fieldNames[i], v, limits[i])
		}
	}
	if f[fKind] == 0 {
		return fmt.Errorf("frame header: kind: missing; allowed are data, credit, payload, lost and nak")
	}
	if f[fPayloadBytes] > 0 && f[fHasPayload] == 0 {
		return fmt.Errorf("frame header: payload_bytes %d: must be 0 without has_payload", f[fPayloadBytes])
	}
	return nil
}

// size returns how many bytes the fields take as a message.
func (f *fields) size() int {
	n := 0
	for i, v := range f {
		if v != 0 {
			n += protowire.SizeTag(protowire.Number(i+1)) + protowire.SizeVarint(v)
		}
	}
	return n
}

// append appends the fields as a message, in ascending order as protobuf does.
func (f *fields) append(b []byte) []byte {
	for i, v := range f {
		if v != 0 {
			b = protowire.AppendTag(b, protowire.Number(i+1), protowire.VarintType)
			b = protowire.AppendVarint(b, v)
		}
	}
	return b
}

// consume reads the fields from a message. What it doesn't know it skips, as
// protobuf does, so that a later version may say more.
func (f *fields) consume(b []byte) error {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("frame header: %w", protowire.ParseError(n))
		}
		b = b[n:]
		if num <= protowire.Number(len(f)) && typ == protowire.VarintType {
			f[num-1], n = protowire.ConsumeVarint(b)
		} else {
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return fmt.Errorf("frame header: field %d: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
	}
	return nil
}

// EncodeHeader returns a header as it goes to or comes from the fabric: without
// its payload, which takes the way from node to node.
func EncodeHeader(h *transit.Header) *railyardv1.FrameHeader {
	pack(h, 0)
	m := &railyardv1.FrameHeader{
		ConnId: h.Conn, Kind: kind(h),
		Source: h.Source, Seq: h.Seq, Hop: h.Hop, HopIndex: uint32(h.At),
		HeadPs: int64(h.Head), TailPs: int64(h.Tail), WireBytes: int64(h.Bytes), HasPayload: h.Payload,
		FromGpu: uint32(h.From), ToGpu: uint32(h.To), Channel: uint32(h.Channel),
		Protocol: protocols.encode(h.Protocol), Psn: h.PSN, Way: uint64(h.Way), Flip: h.Flip,
	}
	return m
}

// DecodeHeader returns a header that went to or came from the fabric. Errors
// name the field, its value and what is allowed.
func DecodeHeader(m *railyardv1.FrameHeader) (transit.Header, error) {
	f := fields{
		fConn: uint64(m.GetConnId()), fKind: uint64(m.GetKind()),
		fSource: uint64(m.GetSource()), fSeq: uint64(m.GetSeq()), fHop: uint64(m.GetHop()),
		fHopIndex: uint64(m.GetHopIndex()),
		fHead:     uint64(m.GetHeadPs()), fTail: uint64(m.GetTailPs()), fWireBytes: uint64(m.GetWireBytes()),
		fPayloadBytes: uint64(m.GetPayloadBytes()),
		fFrom:         uint64(m.GetFromGpu()), fTo: uint64(m.GetToGpu()), fChannel: uint64(m.GetChannel()),
		fProtocol: uint64(m.GetProtocol()), fPSN: uint64(m.GetPsn()), fWay: m.GetWay(), fFlip: uint64(m.GetFlip()),
	}
	if m.GetHasPayload() {
		f[fHasPayload] = 1
	}
	h, n, err := f.unpack()
	if err == nil && n > 0 {
		err = fmt.Errorf("frame header: payload_bytes %d: must be 0 on the way by the fabric", n)
	}
	return h, err
}
