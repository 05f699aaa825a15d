package wire

import (
	"fmt"
	"math"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// decoder takes a FrameBatch apart. Payload is looked at last, when all is
// known to be well, so that no reference needs to be undone.
type decoder struct {
	cursor
	batch   *Batch
	scratch []byte
	lengths []int  // of the frames' payloads
	total   int64  // sum of lengths
	body    cursor // where the payload begins
	size    int    // bytes of payload
}

func (b *Batch) unmarshal(data mem.BufferSlice) error {
	*b = Batch{Frames: b.Frames[:0]}
	d := decoder{cursor: newCursor(data), batch: b}
	for d.left > 0 {
		if err := d.field(); err != nil {
			return err
		}
	}
	if d.total != int64(d.size) {
		return fmt.Errorf("payload: %d bytes, but the headers' payload_bytes are %d together", d.size, d.total)
	}
	d.deal()
	return nil
}

// field reads one field. As in protobuf the last of several counts, and a field
// of an unknown number or an unexpected type is skipped.
func (d *decoder) field() (err error) {
	num, typ, err := d.tag()
	if err != nil {
		return err
	}
	switch {
	case num == batchSession && typ == protowire.Fixed64Type:
		d.batch.Session, err = d.fixed64()
	case num == batchFrom && typ == protowire.VarintType:
		d.batch.From, err = d.uint32("from_participant")
	case num == batchNumber && typ == protowire.VarintType:
		d.batch.Number, err = d.uint32("batch")
	case num == batchHeaders && typ == protowire.BytesType:
		err = d.header()
	case num == batchPayload && typ == protowire.BytesType:
		err = d.payload()
	default:
		err = d.skipValue(typ)
	}
	return err
}

func (d *decoder) uint32(name string) (uint32, error) {
	v, err := d.varint()
	if err == nil && v > math.MaxUint32 {
		err = fmt.Errorf("%s %d: at most %d", name, v, uint32(math.MaxUint32))
	}
	return uint32(v), err
}

func (d *decoder) header() error {
	n, err := d.length()
	if err != nil {
		return err
	}
	if len(d.batch.Frames) == MaxFrames {
		return fmt.Errorf("headers: more than %d", MaxFrames)
	}
	var f fields
	if err := f.consume(d.bytes(n, &d.scratch)); err != nil {
		return err
	}
	h, size, err := f.unpack()
	if err != nil {
		return err
	}
	d.batch.Frames = append(d.batch.Frames, Frame{Header: h})
	d.lengths = append(d.lengths, size)
	// At most MaxFrames × 2^31: the sum stays far within 64 bits.
	d.total += int64(size)
	return nil
}

func (d *decoder) payload() error {
	n, err := d.length()
	if err != nil {
		return err
	}
	d.body, d.size = d.cursor, n
	d.skip(n)
	return nil
}

// deal gives each frame its part of the payload.
func (d *decoder) deal() {
	for i, n := range d.lengths {
		if n == 0 {
			continue
		}
		f := &d.batch.Frames[i]
		f.buf = d.body.buffer(n)
		data := f.buf.ReadOnlyData()
		// Appending to one payload must not write into the next.
		f.data = data[:n:n]
	}
}
