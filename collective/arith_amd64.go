package collective

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// vector says whether the processor has the instructions of arith_amd64.s. Tests
// clear it, to see that results do not depend on it.
var vector = cpu.X86.HasAVX2 && hasF16C()

//go:noescape
func addFloatsAVX(dst, a, b *byte, n int)

//go:noescape
func addHalvesAVX(dst, a, b *byte, n int)

//go:noescape
func addBFloatsAVX(dst, a, b *byte, n int)

// hasF16C asks the processor whether it converts halves, which package cpu does
// not tell.
func hasF16C() bool

// addVectors adds as many elements of type d as fill vectors, and returns how many
// bytes that was: the rest is left to others.
func addVectors(dst, a, b []byte, d DType) int {
	const group = 32 // elements
	n := len(dst) / int(d.Size()) / group * group
	if n == 0 || !vector {
		return 0
	}
	x, y, z := unsafe.SliceData(a), unsafe.SliceData(b), unsafe.SliceData(dst)
	switch d {
	case Float32:
		addFloatsAVX(z, x, y, n)
	case Float16:
		addHalvesAVX(z, x, y, n)
	case BFloat16:
		addBFloatsAVX(z, x, y, n)
	default:
		return 0
	}
	return n * int(d.Size())
}
