package collective

import (
	"encoding/binary"
	"fmt"
)

// CombineAll sets dst to the reduction of all srcs as a switch that reduces does
// it (NVSwitch, SHARP): in one pass over all of them. Sums are accumulated in a
// wider type, in the order of srcs, and rounded once: float32 in float64, floats
// of 16 and 8 bits in float32. Doubles have no wider type, and integers wrap alike
// in any; so they, like all other reductions, give what Combine gives one after
// the other.
//
// There is at least one source; all are as long as dst, which may be srcs[0]. Any
// other overlap gives garbage; other lengths panic.
func CombineAll(dst []byte, srcs [][]byte, d DType, op RedOp) {
	for _, s := range srcs {
		if len(s) != len(dst) {
			panic(fmt.Sprintf("collective: combining %d bytes into %d", len(s), len(dst)))
		}
	}
	wholeElements(dst, int(d.Size()))
	switch f := d.narrow(); {
	case op.kernel() == Sum && d == Float32:
		accumulateFloats(dst, srcs)
	case op.kernel() == Sum && f != nil:
		accumulateNarrow(dst, srcs, f, int(d.Size()))
	default:
		copy(dst, srcs[0])
		for _, s := range srcs[1:] {
			Combine(dst, dst, s, d, op)
		}
	}
}

// accumulated is how many elements are added up at a time: they stay in the first
// cache.
const accumulated = 512

func accumulateFloats(dst []byte, srcs [][]byte) {
	var wide [accumulated]float64
	var in [accumulated]float32
	for at := 0; at < len(dst); at += 4 * accumulated {
		end := min(len(dst), at+4*accumulated)
		k := (end - at) / 4
		for j, s := range srcs {
			decode(in[:k], s[at:end])
			for i, x := range in[:k] {
				if j == 0 {
					wide[i] = float64(x)
				} else {
					wide[i] += float64(x)
				}
			}
		}
		for i := range k {
			in[i] = float32(wide[i])
		}
		encode(dst[at:end], in[:k])
	}
}

func accumulateNarrow(dst []byte, srcs [][]byte, f *format, size int) {
	for at := 0; at < len(dst); at += size {
		sum := f.value(element(srcs[0][at:], size))
		for _, s := range srcs[1:] {
			sum += f.value(element(s[at:], size))
		}
		if bits := f.round(sum); size == 2 {
			binary.LittleEndian.PutUint16(dst[at:], uint16(bits))
		} else {
			dst[at] = uint8(bits)
		}
	}
}

// element returns the bits of the first element, of one or two bytes.
func element(b []byte, size int) uint32 {
	if size == 2 {
		return uint32(binary.LittleEndian.Uint16(b))
	}
	return uint32(b[0])
}
