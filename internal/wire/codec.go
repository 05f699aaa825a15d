package wire

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Codec encodes a *Batch as the FrameBatch of the contract without copying its
// payload, and every other message as grpc's own protobuf codec does. It has
// that codec's name, because it speaks the same bytes: either end of a stream
// may use the one or the other.
type Codec struct{ proto encoding.CodecV2 }

// NewCodec returns the codec for grpc.ForceCodecV2 and grpc.ForceServerCodecV2.
// ServerOptions and DialOptions include it.
func NewCodec() Codec {
	return Codec{proto: encoding.GetCodecV2(protocodec.Name)}
}

// Name returns "proto".
func (c Codec) Name() string { return protocodec.Name }

// Marshal implements encoding.CodecV2. A batch keeps its payload: grpc gets
// references of its own.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	if b, ok := v.(*Batch); ok {
		return b.marshal()
	}
	return c.proto.Marshal(v)
}

// Unmarshal implements encoding.CodecV2. Whatever data holds, it neither panics
// nor allocates more than a small multiple of it; a message that breaks the
// contract's rules is an error and leaves the batch empty.
func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*Batch)
	if !ok {
		return c.proto.Unmarshal(data, v)
	}
	if err := b.unmarshal(data); err != nil {
		*b = Batch{Frames: b.Frames[:0]}
		return fmt.Errorf("wire: frame batch: %w", err)
	}
	return nil
}
