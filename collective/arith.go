package collective

import "fmt"

// number is what element types are in Go, where Go has them.
type number interface {
	float32 | float64 | int8 | uint8 | int32 | uint32 | int64 | uint64
}

// Combine sets dst[i] = a[i] op b[i] for raw little-endian elements of type d.
//
// The three have the same length, a whole number of elements. dst may be a or
// b; any other overlap gives garbage. Other lengths, or a type or reduction
// that does not exist, are bugs of the caller and panic. Nothing is
// allocated, and addresses need no alignment, though aligned ones are faster.
//
// Integers wrap. Floats follow IEEE 754, rounded to nearest even in their type
// after each call; see arith_narrow.go for those of 16 and 8 bits. Min and max do
// as fminf and fmaxf, which NCCL uses (2.30 src/device/reduce_kernel.h): a NaN
// loses against a number, and −0 is below +0. So every order of min and max
// gives the same bits, unless all are NaN.
//
// Avg and MulSum add: what else they do is done before and after, see Prepare
// and Finish.
//
// a op b has the bits of b op a, but for the payload of a NaN that a float or
// double makes of two: all others make one NaN only.
func Combine(dst, a, b []byte, d DType, op RedOp) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panic(fmt.Sprintf("collective: combining %d and %d bytes into %d", len(a), len(b), len(dst)))
	}
	op = op.kernel()
	switch d {
	case Float32:
		done := 0
		if op == Sum {
			done = addVectors(dst, a, b, d)
		}
		reduceBytes[float32](dst[done:], a[done:], b[done:], op)
	case Float64:
		reduceBytes[float64](dst, a, b, op)
	case Float16:
		reduceHalves(dst, a, b, op)
	case BFloat16:
		reduceBFloats(dst, a, b, op)
	case Float8E4M3:
		reduceFP8(dst, a, b, tablesE4M3, op)
	case Float8E5M2:
		reduceFP8(dst, a, b, tablesE5M2, op)
	case Int8:
		reduceBytes[int8](dst, a, b, op)
	case Uint8:
		reduceBytes[uint8](dst, a, b, op)
	case Int32:
		reduceBytes[int32](dst, a, b, op)
	case Uint32:
		reduceBytes[uint32](dst, a, b, op)
	case Int64:
		reduceBytes[int64](dst, a, b, op)
	case Uint64:
		reduceBytes[uint64](dst, a, b, op)
	default:
		panic(fmt.Sprintf("collective: no such type: %s", d))
	}
}

// kernel returns the reduction that combines two elements: the averages and
// premultiplied sums add.
func (o RedOp) kernel() RedOp {
	if o == Avg || o == MulSum {
		return Sum
	}
	return o
}

// reduceBytes reduces in place where the bytes can be seen as a []T, else by
// way of blocks that can.
func reduceBytes[T number](dst, a, b []byte, op RedOp) {
	d, ok1 := view[T](dst)
	x, ok2 := view[T](a)
	y, ok3 := view[T](b)
	if ok1 && ok2 && ok3 {
		reduce(d, x, y, op)
		return
	}
	const block = 256
	var u, v [block]T
	for len(dst) > 0 {
		n := min(len(dst), block*sizeOf[T]())
		k := n / sizeOf[T]()
		decode(u[:k], a[:n])
		decode(v[:k], b[:n])
		reduce(u[:k], u[:k], v[:k], op)
		encode(dst[:n], u[:k])
		dst, a, b = dst[n:], a[n:], b[n:]
	}
}

func reduce[T number](dst, a, b []T, op RedOp) {
	switch op {
	case Sum:
		sum(dst, a, b)
	case Prod:
		prod(dst, a, b)
	case Min:
		minimum(dst, a, b)
	case Max:
		maximum(dst, a, b)
	default:
		panic(fmt.Sprintf("collective: no such reduction: %s", op))
	}
}

// Sums and products go eight elements at a time over arrays, which spares the
// bounds checks and a quarter of the time. Min and max gain nothing by it.

func sum[T number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i <= len(dst)-8; i += 8 {
		d, x, y := (*[8]T)(dst[i:i+8]), (*[8]T)(a[i:i+8]), (*[8]T)(b[i:i+8])
		d[0], d[1], d[2], d[3] = x[0]+y[0], x[1]+y[1], x[2]+y[2], x[3]+y[3]
		d[4], d[5], d[6], d[7] = x[4]+y[4], x[5]+y[5], x[6]+y[6], x[7]+y[7]
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] + b[i]
	}
}

func prod[T number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i <= len(dst)-8; i += 8 {
		d, x, y := (*[8]T)(dst[i:i+8]), (*[8]T)(a[i:i+8]), (*[8]T)(b[i:i+8])
		d[0], d[1], d[2], d[3] = x[0]*y[0], x[1]*y[1], x[2]*y[2], x[3]*y[3]
		d[4], d[5], d[6], d[7] = x[4]*y[4], x[5]*y[5], x[6]*y[6], x[7]*y[7]
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] * b[i]
	}
}

func minimum[T number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = lesser(a[i], b[i])
	}
}

func maximum[T number](dst, a, b []T) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = greater(a[i], b[i])
	}
}

// lesser and greater use the built-in functions, which take no branch, and put
// right the one case in which they differ from fminf: a single NaN.

func lesser[T number](x, y T) T {
	if m := min(x, y); m == m {
		return m
	}
	return notNaN(x, y)
}

func greater[T number](x, y T) T {
	if m := max(x, y); m == m {
		return m
	}
	return notNaN(x, y)
}

func notNaN[T number](x, y T) T {
	if x == x {
		return x
	}
	return y
}
