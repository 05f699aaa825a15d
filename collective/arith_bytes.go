package collective

import (
	"encoding/binary"
	"fmt"
	"unsafe"
)

// sizeOf returns the bytes of a T.
func sizeOf[T number]() int { return int(unsafe.Sizeof(*new(T))) }

// littleEndian says whether this machine's elements look like those on the wire.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// view returns b as a slice of T over the same memory, or false when the machine
// can't: b begins at an odd address, or elements are stored the other way round.
// Bytes that are no whole number of elements panic.
func view[T number](b []byte) ([]T, bool) {
	size := sizeOf[T]()
	wholeElements(b, size)
	p := unsafe.Pointer(unsafe.SliceData(b))
	if !littleEndian || uintptr(p)%uintptr(size) != 0 {
		return nil, false
	}
	return unsafe.Slice((*T)(p), len(b)/size), true
}

// wholeElements panics when bytes are no whole number of elements of a size.
func wholeElements(b []byte, size int) {
	if len(b)%size != 0 {
		panic(fmt.Sprintf("collective: %d bytes are no whole number of %d B elements", len(b), size))
	}
}

// decode reads the elements of dst from little-endian bytes.
func decode[T number](dst []T, src []byte) {
	for i := range dst {
		switch p := unsafe.Pointer(&dst[i]); sizeOf[T]() {
		case 1:
			*(*uint8)(p) = src[i]
		case 4:
			*(*uint32)(p) = binary.LittleEndian.Uint32(src[4*i:])
		default:
			*(*uint64)(p) = binary.LittleEndian.Uint64(src[8*i:])
		}
	}
}

// encode writes the elements of src as little-endian bytes.
func encode[T number](dst []byte, src []T) {
	for i := range src {
		switch p := unsafe.Pointer(&src[i]); sizeOf[T]() {
		case 1:
			dst[i] = *(*uint8)(p)
		case 4:
			binary.LittleEndian.PutUint32(dst[4*i:], *(*uint32)(p))
		default:
			binary.LittleEndian.PutUint64(dst[8*i:], *(*uint64)(p))
		}
	}
}
