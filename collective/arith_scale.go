package collective

import "encoding/binary"

// What avg and mulsum do besides adding, as NCCL does it: avg of floats and
// mulsum multiply each input when it is first read, avg of integers divides each
// result when it is stored. No plan knows of it, so every plan gets it right.

// Prepare does to a rank's input in place what the reduction does before the
// first element is combined. rank is that of the communicator, of n.
//
// Avg multiplies floats by 1/n, rounded to float32 and then to the type, and
// rounds each product (NCCL 2.30 src/enqueue.cc hostToDevRedOp). MulSum multiplies
// by the rank's factor, see MulSumFactor. All others do nothing.
func Prepare(input []byte, d DType, op RedOp, rank, n int) {
	switch {
	case op == MulSum:
		scaleBy(input, d, float64(MulSumFactor(rank)))
	case op == Avg && d.float():
		scaleBy(input, d, 1/float64(n))
	}
}

// Finish does to a result in place what the reduction over n ranks does after the
// last element is combined: Avg divides integers by n, truncating towards zero.
// All others do nothing.
func Finish(output []byte, d DType, op RedOp, n int) {
	if op != Avg {
		return
	}
	switch d {
	case Int8:
		divide[int8](output, int64(n))
	case Uint8:
		divide[uint8](output, uint64(n))
	case Int32:
		divide[int32](output, int64(n))
	case Uint32:
		divide[uint32](output, uint64(n))
	case Int64:
		divide[int64](output, int64(n))
	case Uint64:
		divide[uint64](output, uint64(n))
	}
}

// MulSumFactor returns what mulsum multiplies a rank's input by: 1 on even ranks
// and 2 on odd ones (nccl-tests, verifiable/verifiable.h,
// ncclVerifiablePremulScalar).
func MulSumFactor(rank int) int { return 1 + rank%2 }

// scaleBy multiplies all elements by a factor rounded to their type.
func scaleBy(b []byte, d DType, factor float64) {
	var block [2048]byte // a whole number of elements of any type
	for i := 0; i < len(block); i += int(d.Size()) {
		putFactor(block[i:], d, factor)
	}
	for len(b) > 0 {
		n := min(len(b), len(block))
		Combine(b[:n], b[:n], block[:n], d, Prod)
		b = b[n:]
	}
}

// putFactor stores a positive number as an element; integers take whole ones.
func putFactor(dst []byte, d DType, x float64) {
	switch f := d.narrow(); {
	case d == Float64:
		encode(dst, []float64{x})
	case d == Float32:
		encode(dst, []float32{float32(x)})
	case f != nil && d.Size() == 2:
		binary.LittleEndian.PutUint16(dst, uint16(f.round(float32(x))))
	case f != nil:
		dst[0] = uint8(f.round(float32(x)))
	case d.Size() == 8:
		encode(dst, []uint64{uint64(x)})
	case d.Size() == 4:
		encode(dst, []uint32{uint32(x)})
	default:
		dst[0] = uint8(x)
	}
}

// divide divides integers in the wider type of n, which none overflows.
func divide[T int8 | uint8 | int32 | uint32 | int64 | uint64, W int64 | uint64](b []byte, n W) {
	if v, seen := view[T](b); seen {
		for i := range v {
			v[i] = T(W(v[i]) / n)
		}
		return
	}
	var one [1]T
	for size := sizeOf[T](); len(b) > 0; b = b[size:] {
		decode(one[:], b)
		one[0] = T(W(one[0]) / n)
		encode(b, one[:])
	}
}
