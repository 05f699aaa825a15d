package wire

import (
	"errors"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// cursor reads a message that lies in several buffers, as grpc hands it over:
// one buffer for each HTTP/2 frame, 16 KiB at most. Copying a cursor keeps a
// place in the message.
type cursor struct {
	bufs mem.BufferSlice
	at   int    // cur is the rest of bufs[at]
	cur  []byte // never empty while left > 0
	left int    // bytes left in all buffers together
}

var (
	errTruncated = errors.New("message ends within a field")
	errOverflow  = errors.New("varint longer than 64 bits")
	errTag       = errors.New("tag that protobuf does not know")
	errGroup     = errors.New("group, which no version of the contract has")
)

func newCursor(bufs mem.BufferSlice) cursor {
	c := cursor{bufs: bufs, at: -1, left: bufs.Len()}
	c.settle()
	return c
}

// settle moves on to the next buffer that has bytes left.
func (c *cursor) settle() {
	for len(c.cur) == 0 && c.left > 0 {
		c.at++
		c.cur = c.bufs[c.at].ReadOnlyData()
	}
}

// skip moves past n bytes, which must be left.
func (c *cursor) skip(n int) {
	c.left -= n
	for n > len(c.cur) {
		n -= len(c.cur)
		c.at++
		c.cur = c.bufs[c.at].ReadOnlyData()
	}
	c.cur = c.cur[n:]
	c.settle()
}

// copy fills dst, for which enough bytes must be left, and moves past them.
func (c *cursor) copy(dst []byte) {
	for len(dst) > 0 {
		n := copy(dst, c.cur)
		dst = dst[n:]
		c.skip(n)
	}
}

// bytes returns the next n bytes, which must be left, and moves past them. They
// lie in the message if one buffer holds them all, else in scratch.
func (c *cursor) bytes(n int, scratch *[]byte) []byte {
	if n <= len(c.cur) {
		b := c.cur[:n]
		c.skip(n)
		return b
	}
	if cap(*scratch) < n {
		*scratch = make([]byte, n)
	}
	b := (*scratch)[:n]
	c.copy(b)
	return b
}

// buffer returns the next n bytes, which must be left, and moves past them:
// by reference if one buffer holds them all, else gathered once.
func (c *cursor) buffer(n int) mem.Buffer {
	if n <= len(c.cur) {
		off := c.bufs[c.at].Len() - len(c.cur)
		b := c.bufs[c.at].Slice(off, off+n)
		c.skip(n)
		return b
	}
	data := payloads.Get(n)
	c.copy(*data)
	return mem.NewBuffer(data, payloads)
}

func (c *cursor) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		if c.left == 0 {
			return 0, errTruncated
		}
		b := c.cur[0]
		c.skip(1)
		if shift == 63 && b > 1 {
			break
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errOverflow
}

func (c *cursor) tag() (protowire.Number, protowire.Type, error) {
	v, err := c.varint()
	if err != nil {
		return 0, 0, err
	}
	num, typ := protowire.DecodeTag(v)
	if !num.IsValid() || typ > protowire.Fixed32Type {
		return 0, 0, errTag
	}
	return num, typ, nil
}

// length reads the length of a field and makes sure that the field is whole.
func (c *cursor) length() (int, error) {
	n, err := c.varint()
	if err != nil {
		return 0, err
	}
	if n > uint64(c.left) {
		return 0, errTruncated
	}
	return int(n), nil
}

func (c *cursor) fixed64() (uint64, error) {
	if c.left < 8 {
		return 0, errTruncated
	}
	var b [8]byte
	c.copy(b[:])
	v, _ := protowire.ConsumeFixed64(b[:])
	return v, nil
}

// skipValue moves past a field that this version does not know.
func (c *cursor) skipValue(typ protowire.Type) error {
	n, err := 0, error(nil)
	switch typ {
	case protowire.VarintType:
		_, err = c.varint()
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		n, err = c.length()
	default:
		err = errGroup
	}
	if err != nil {
		return err
	}
	if n > c.left {
		return errTruncated
	}
	c.skip(n)
	return nil
}
