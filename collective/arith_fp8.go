package collective

// Two elements of 8 bits have 65,536 results, which are looked up.

// fp8Tables holds x op y at [op][x<<8|y].
type fp8Tables [Max + 1][1 << 16]uint8

var (
	tablesE4M3 = makeFP8Tables(&e4m3)
	tablesE5M2 = makeFP8Tables(&e5m2)
)

// makeFP8Tables is run whenever a program begins: a millisecond or two for both.
func makeFP8Tables(f *format) *fp8Tables {
	var t fp8Tables
	var value [256]float32
	for x := range value {
		value[x] = f.value(uint32(x))
	}
	for x, a := range value {
		for y, b := range value[:x+1] {
			t.set(Sum, x, y, f.round(a+b))
			t.set(Prod, x, y, f.round(a*b))
			t.set(Min, x, y, f.round(lesser(a, b)))
			t.set(Max, x, y, f.round(greater(a, b)))
		}
	}
	return &t
}

// set stores a result for operands in either order.
func (t *fp8Tables) set(op RedOp, x, y int, bits uint32) {
	t[op][x<<8|y], t[op][y<<8|x] = uint8(bits), uint8(bits)
}

func reduceFP8(dst, a, b []byte, t *fp8Tables, op RedOp) {
	table := &t[op] // a reduction beyond Max is a bug, and panics
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = table[uint(a[i])<<8|uint(b[i])]
	}
}
