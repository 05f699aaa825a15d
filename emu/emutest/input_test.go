package emutest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/railyard/railyard/collective"
)

// floats makes every element of a rank's input the value that it is given.
func floats(values ...float32) func(int, []byte) {
	return func(rank int, input []byte) {
		v := float32(0)
		if rank < len(values) {
			v = values[rank]
		}
		for i := 0; i < len(input); i += 4 {
			binary.LittleEndian.PutUint32(input[i:], math.Float32bits(v))
		}
	}
}

// Sums of 1e8, 1, −1e8 and 1 depend on the order in which ranks are added, and so on
// the algorithm and the place in the buffer; a switch with its wider accumulator
// gives 2 always (NCCL issue 2360).
func TestCancellationOnOnesOwnData(t *testing.T) {
	for algorithm, wants := range map[string][]float32{"ring": {0, 1, 2}, "tree": {0, 1, 2}, "nvls": {2}} { // order: each is judged alone
		var seen []float32
		for _, order := range [][]float32{{1e8, 1, -1e8, 1}, {1, 1, 1e8, -1e8}, {1e8, -1e8, 1, 1}} {
			r := Run(t, Case{Algorithm: algorithm, GPUs: 8, Count: 4096, DType: collective.Float32, Input: floats(order...)})
			for i := 0; i < len(r.Outputs[0]); i += 4 {
				v := math.Float32frombits(binary.LittleEndian.Uint32(r.Outputs[0][i:]))
				if !slices.Contains(seen, v) {
					seen = append(seen, v)
				}
			}
		}
		for _, v := range seen {
			if !slices.Contains(wants, v) {
				t.Errorf("%s gives %v, want one of %v", algorithm, v, wants)
			}
		}
		if algorithm != "nvls" && len(seen) < 2 {
			t.Errorf("%s gives %v alone: order must show", algorithm, seen)
		}
	}
}

// A sum of halves overflows where an average of the same inputs, which are divided
// before they are added, does not (Horovod issue 1699); integers wrap (NCCL issue 422).
func TestOverflowOnOnesOwnData(t *testing.T) {
	words := func(v uint16) func(int, []byte) {
		return func(_ int, input []byte) {
			for i := 0; i < len(input); i += 2 {
				binary.LittleEndian.PutUint16(input[i:], v)
			}
		}
	}
	const big, infinity = 0x7800, 0x7c00 // 32768 as a half
	octets := func(rank int, input []byte) {
		for i := range input {
			input[i] = []byte{120, 100}[rank]
		}
	}
	for _, c := range []struct {
		name string
		of   Case
		want []byte
	}{
		{"sum of halves", Case{DType: collective.Float16, RedOp: collective.Sum, GPUs: 4, Input: words(big)}, []byte{0, infinity >> 8}},
		{"average of halves", Case{DType: collective.Float16, RedOp: collective.Avg, GPUs: 4, Input: words(big)}, []byte{0, big >> 8}},
		{"sum of int8", Case{DType: collective.Int8, RedOp: collective.Sum, GPUs: 2, Input: octets}, []byte{220}},
		{"average of int8", Case{DType: collective.Int8, RedOp: collective.Avg, GPUs: 2, Input: octets}, []byte{256 - 18}},
		{"largest of int8", Case{DType: collective.Int8, RedOp: collective.Max, GPUs: 2, Input: octets}, []byte{120}},
	} {
		c.of.Algorithm, c.of.Count = "ring", 1000
		for rank, out := range Run(t, c.of).Outputs {
			if want := bytes.Repeat(c.want, len(out)/len(c.want)); len(out) == 0 || !bytes.Equal(out, want) {
				t.Errorf("%s: rank %d has % x, want % x", c.name, rank, out[:8], want[:8])
			}
		}
	}
}

// Outputs are those of the operation: test data come to what Run has compared, a
// broadcast to the root's input, and who gets nothing has none.
func TestOutputs(t *testing.T) {
	r := Run(t, Case{Algorithm: "ring", Op: collective.Broadcast, Options: collective.Options{Root: 2}, GPUs: 4, Count: 100, Input: floats(3, 4, 5, 6)})
	for rank, out := range r.Outputs {
		if len(out) != 400 || math.Float32frombits(binary.LittleEndian.Uint32(out)) != 5 {
			t.Errorf("rank %d has %d bytes, % x", rank, len(out), out[:min(4, len(out))])
		}
	}
	r = Run(t, Case{Algorithm: "ring", Op: collective.Reduce, Options: collective.Options{Root: 1}, GPUs: 3, Count: 10})
	if len(r.Outputs[1]) != 40 || len(r.Outputs[0]) != 0 {
		t.Errorf("a reduce to rank 1 gives %d, %d and %d bytes", len(r.Outputs[0]), len(r.Outputs[1]), len(r.Outputs[2]))
	}
	if r = Run(t, Case{Algorithm: "ring", GPUs: 2, Count: 10, Headers: true}); len(r.Outputs[0]) != 0 {
		t.Error("headers alone have an output")
	}
}
