package collective

import (
	"encoding/binary"
	"math"
)

// The kernels of half and bfloat16 that are not vectors: format.value and
// format.round with the numbers filled in, which is several times as fast.

func halfValue(h uint16) float32 {
	x := math.Float32frombits(uint32(h&0x7fff)<<13) * (1 << 112)
	u := math.Float32bits(x)
	if x >= 1<<16 { // infinity or NaN
		u |= infinity
	}
	return math.Float32frombits(u | uint32(h>>15)<<31)
}

func roundHalf(x float32) uint16 {
	const rebias, beside = (127 - 15) << 23, (127 - 15 + 14) << 23
	u := math.Float32bits(x)
	sign := uint16(u >> 31 << 15)
	u &= 1<<31 - 1
	switch {
	case u >= rebias+1<<23 && u < infinity:
		return sign | uint16(min((u-rebias+0xfff+u>>13&1)>>13, 0x7c00))
	case u < infinity: // subnormal
		return sign | uint16(math.Float32bits(math.Float32frombits(u)+math.Float32frombits(beside))-beside)
	case u == infinity:
		return sign | 0x7c00
	default:
		return 0x7fff
	}
}

func bfloatValue(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

func roundBFloat(x float32) uint16 {
	u := math.Float32bits(x)
	if u&(1<<31-1) > infinity {
		return 0x7fff
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// get and put are an element as it lies in memory.

func get(b []byte, i int) uint16 { return binary.LittleEndian.Uint16(b[i:]) }

func put(b []byte, i int, x uint16) { binary.LittleEndian.PutUint16(b[i:], x) }

func reduceHalves(dst, a, b []byte, op RedOp) {
	wholeElements(dst, 2)
	switch op {
	case Sum:
		for i := addVectors(dst, a, b, Float16); i < len(dst); i += 2 {
			put(dst, i, roundHalf(halfValue(get(a, i))+halfValue(get(b, i))))
		}
	case Prod:
		for i := 0; i < len(dst); i += 2 {
			put(dst, i, roundHalf(halfValue(get(a, i))*halfValue(get(b, i))))
		}
	default:
		extremeHalves(dst, a, b, half.top, op)
	}
}

func reduceBFloats(dst, a, b []byte, op RedOp) {
	wholeElements(dst, 2)
	switch op {
	case Sum:
		for i := addVectors(dst, a, b, BFloat16); i < len(dst); i += 2 {
			put(dst, i, roundBFloat(bfloatValue(get(a, i))+bfloatValue(get(b, i))))
		}
	case Prod:
		for i := 0; i < len(dst); i += 2 {
			put(dst, i, roundBFloat(bfloatValue(get(a, i))*bfloatValue(get(b, i))))
		}
	default:
		extremeHalves(dst, a, b, bfloat.top, op)
	}
}

// extremeHalves is min and max of either type, whose infinity is inf.
func extremeHalves(dst, a, b []byte, inf uint32, op RedOp) {
	switch op {
	case Min:
		for i := 0; i < len(dst); i += 2 {
			x, y := get(a, i), get(b, i)
			put(dst, i, pickHalf(x, y, inf, rankHalf(x) <= rankHalf(y)))
		}
	case Max:
		for i := 0; i < len(dst); i += 2 {
			x, y := get(a, i), get(b, i)
			put(dst, i, pickHalf(x, y, inf, rankHalf(x) >= rankHalf(y)))
		}
	default:
		panic("collective: no such reduction")
	}
}

// rankHalf returns an integer that is ordered as the values are, −0 below +0.
func rankHalf(x uint16) int16 { return int16(x) ^ int16(x)>>15&0x7fff }

// pickHalf returns x if first, else y; but a number rather than a NaN.
func pickHalf(x, y uint16, inf uint32, first bool) uint16 {
	xNaN, yNaN := uint32(x&0x7fff) > inf, uint32(y&0x7fff) > inf
	switch {
	case xNaN && yNaN:
		return 0x7fff
	case yNaN || first && !xNaN:
		return x
	default:
		return y
	}
}
