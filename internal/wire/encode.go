package wire

import (
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of FrameBatch.
const (
	batchSession = 1
	batchFrom    = 2
	batchNumber  = 3
	batchHeaders = 4
	batchPayload = 15
)

// inline is the payload up to which a batch is sent in one piece. Below it a
// copy costs less than what grpc does for each buffer.
const inline = 4 << 10

// marshal returns the batch as a FrameBatch: a head in a buffer of its own,
// then the payloads as they are.
//
//	┌ head ──────────────────────────────────────────────┐┌ payload ┐┌ payload ┐
//	 session  from  number  header header …  tag, length   frame 0    frame 1 …
func (b *Batch) marshal() (mem.BufferSlice, error) {
	if len(b.Frames) > MaxFrames {
		return nil, fmt.Errorf("wire: batch of %d frames; at most %d, send several", len(b.Frames), MaxFrames)
	}
	head, payload := b.sizes()
	if payload <= inline {
		buf := payloads.Get(head + payload)
		*buf = b.appendPayload(b.appendHead((*buf)[:0], payload))
		return mem.BufferSlice{mem.NewBuffer(buf, payloads)}, nil
	}
	buf := payloads.Get(head)
	*buf = b.appendHead((*buf)[:0], payload)
	out := make(mem.BufferSlice, 1, 1+len(b.Frames))
	out[0] = mem.NewBuffer(buf, payloads)
	return b.refer(out), nil
}

// sizes returns the length of everything up to the payload's first byte, and of
// the payload.
func (b *Batch) sizes() (head, payload int) {
	for i := range b.Frames {
		f := b.Frames[i].pack()
		n := f.size()
		head += 1 + protowire.SizeBytes(n)
		payload += len(b.Frames[i].data)
	}
	if b.Session != 0 {
		head += 1 + protowire.SizeFixed64()
	}
	if b.From != 0 {
		head += 1 + protowire.SizeVarint(uint64(b.From))
	}
	if b.Number != 0 {
		head += 1 + protowire.SizeVarint(uint64(b.Number))
	}
	if payload != 0 {
		head += 1 + protowire.SizeVarint(uint64(payload))
	}
	return head, payload
}

// appendHead appends everything up to the payload's first byte.
func (b *Batch) appendHead(p []byte, payload int) []byte {
	if b.Session != 0 {
		p = protowire.AppendTag(p, batchSession, protowire.Fixed64Type)
		p = protowire.AppendFixed64(p, b.Session)
	}
	if b.From != 0 {
		p = protowire.AppendTag(p, batchFrom, protowire.VarintType)
		p = protowire.AppendVarint(p, uint64(b.From))
	}
	if b.Number != 0 {
		p = protowire.AppendTag(p, batchNumber, protowire.VarintType)
		p = protowire.AppendVarint(p, uint64(b.Number))
	}
	for i := range b.Frames {
		f := b.Frames[i].pack()
		p = protowire.AppendTag(p, batchHeaders, protowire.BytesType)
		p = protowire.AppendVarint(p, uint64(f.size()))
		p = f.append(p)
	}
	if payload != 0 {
		p = protowire.AppendTag(p, batchPayload, protowire.BytesType)
		p = protowire.AppendVarint(p, uint64(payload))
	}
	return p
}

func (b *Batch) appendPayload(p []byte) []byte {
	for i := range b.Frames {
		p = append(p, b.Frames[i].data...)
	}
	return p
}

// refer appends the payloads, each with a reference for grpc to free.
func (b *Batch) refer(out mem.BufferSlice) mem.BufferSlice {
	for i := range b.Frames {
		f := &b.Frames[i]
		if len(f.data) == 0 {
			continue
		}
		f.buf.Ref()
		out = append(out, f.buf)
	}
	return out
}
