package collective

// Two elements of 8 bits have 65,536 results, which are looked up.

// fp8Tables holds x op y at [op][x<<8|y].
type fp8Tables [Max + 1][1 << 16]uint8

var (
	tablesE4M3 = makeFP8Tables(&e4m3)
	tablesE5M2 = makeFP8Tables(&e5m2)
)

func makeFP8Tables(f *format) (t fp8Tables) {
	for op := range t {
		for x := range uint32(256) {
			for y := range x + 1 {
				z := uint8(f.combine(x, y, RedOp(op)))
				t[op][x<<8|y], t[op][y<<8|x] = z, z
			}
		}
	}
	return t
}

func reduceFP8(dst, a, b []byte, t *fp8Tables, op RedOp) {
	table := &t[op] // a reduction beyond Max is a bug, and panics
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = table[uint(a[i])<<8|uint(b[i])]
	}
}
