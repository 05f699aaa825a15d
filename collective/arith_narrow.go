package collective

import "math"

// Floats of 16 and 8 bits. Sums and products are done in float32 and rounded
// once, to nearest even. That is exact: rounding first to p bits and then to q
// never differs from rounding to q at once when p ≥ 2q + 2, for sums and products
// (S. A. Figueroa: When is double rounding innocuous?, SIGNUM 30 (1995)), and a
// float32 has p = 24, half q = 11, bfloat16 8, e4m3 4, e5m2 3. Where results are
// subnormal the theorem is silent: sums are exact there, as are products but
// those of bfloat16, for which the factors would have to multiply to 65535 =
// 3·5·17·257, and 257 has 9 bits.
//
// Results that are NaN are the positive NaN with all bits set, as CUDA makes
// them, so no NaN depends on the order of operands.

// format is a float of at most 16 bits: sign, exponent, fraction.
type format struct {
	frac uint32 // bits of the fraction
	bias uint32 // of the exponent
	sign uint32 // the bit
	top  uint32 // bits of what is larger than all finite values when rounded
	inf  uint32 // bits of infinity; 0: there is none
	nan  uint32 // bits of the NaN results have; all above inf and top are NaNs
}

// The four formats. Overflow gives infinity in those of 16 bits, and the largest
// finite value in those of 8: CUDA's __nv_fp8_e4m3 and __nv_fp8_e5m2 convert with
// __NV_SATFINITE (CUDA Math API, FP8), and NCCL rounds by them what it has added
// or multiplied as half (2.30 src/device/reduce_kernel.h). That half loses
// nothing: it has 11 ≥ 2·4 + 2 bits, and what overflows it saturates anyhow.
var (
	half   = format{frac: 10, bias: 15, sign: 1 << 15, top: 0x7c00, inf: 0x7c00, nan: 0x7fff}
	bfloat = format{frac: 7, bias: 127, sign: 1 << 15, top: 0x7f80, inf: 0x7f80, nan: 0x7fff}
	// OCP 8-bit Floating Point Specification 1.0: e4m3 has no infinity, and NaN
	// is 0x7f; e5m2 is like IEEE 754.
	e4m3 = format{frac: 3, bias: 7, sign: 1 << 7, top: 0x7e, nan: 0x7f}
	e5m2 = format{frac: 2, bias: 15, sign: 1 << 7, top: 0x7b, inf: 0x7c, nan: 0x7f}
)

// narrow returns the format of a type, nil when it is wider or no float.
func (d DType) narrow() *format {
	switch d {
	case Float16:
		return &half
	case BFloat16:
		return &bfloat
	case Float8E4M3:
		return &e4m3
	case Float8E5M2:
		return &e5m2
	}
	return nil
}

const infinity = 0x7f800000 // bits of a float32

// round returns the bits of the value nearest to x, of two the even one.
func (f *format) round(x float32) uint32 {
	u := math.Float32bits(x)
	sign := u >> 31 * f.sign
	u &= 1<<31 - 1
	drop := 23 - f.frac
	switch rebias := (127 - f.bias) << 23; {
	case u > infinity:
		return f.nan
	case u < rebias+1<<23:
		// Subnormal. Beside a number whose last bit is the subnormals' last bit
		// the processor rounds as wanted.
		beside := rebias + (drop+1)<<23
		u = math.Float32bits(math.Float32frombits(u)+math.Float32frombits(beside)) - beside
	default:
		u = (u - rebias + (1<<(drop-1) - 1) + u>>drop&1) >> drop
	}
	return sign | min(u, f.top)
}

// value returns the number that bits stand for.
func (f *format) value(bits uint32) float32 {
	m := bits & (f.sign - 1)
	x := math.Float32frombits(m<<(23-f.frac)) * math.Float32frombits((254-f.bias)<<23)
	if m > f.top {
		x = float32(math.NaN())
		if m == f.inf {
			x = math.Float32frombits(infinity)
		}
	} else if m == f.inf && f.inf != 0 {
		x = math.Float32frombits(infinity)
	}
	return math.Float32frombits(math.Float32bits(x) | bits/f.sign<<31)
}

// combine returns the bits of x op y.
func (f *format) combine(x, y uint32, op RedOp) uint32 {
	a, b := f.value(x), f.value(y)
	switch op {
	case Sum:
		return f.round(a + b)
	case Prod:
		return f.round(a * b)
	case Min:
		return f.round(lesser(a, b))
	case Max:
		return f.round(greater(a, b))
	}
	panic("collective: no such reduction")
}
