package sweep

import (
	"fmt"

	"github.com/railyard/railyard/collective"
)

// Sizes returns the sizes of the sweep in bytes, smallest first.
func (s *Spec) Sizes() []int64 {
	var sizes []int64
	for b := s.MinBytes; b <= s.MaxBytes; {
		sizes = append(sizes, b)
		next := b + s.StepBytes
		if s.Factor > 1 {
			next = b * s.Factor
		}
		if next <= b {
			break // a step of nothing, zero bytes times a factor, or int64's end
		}
		b = next
	}
	return sizes
}

// Elements returns, for a size of the sweep, the number of elements that one
// part of the buffers has, and the size and count that nccl-tests prints: the
// larger buffer, and the elements of one part. Where buffers have a part for
// each rank nccl-tests rounds the part down to 16 bytes.
func Elements(op collective.Op, size, elem int64, ranks int) (count, bytes int64) {
	in, out := op.Parts(ranks)
	parts := int64(max(in, out))
	count = size / elem / parts
	if parts > 1 {
		count = count / (16 / elem) * (16 / elem)
	}
	return count, count * parts * elem
}

// checkSizes reports a size that is not a whole number of elements.
func (s *Spec) checkSizes() error {
	if s.MinBytes > s.MaxBytes {
		return fmt.Errorf("-b %d: larger than -e %d", s.MinBytes, s.MaxBytes)
	}
	for _, d := range s.DTypes {
		for _, b := range s.Sizes() {
			if b%d.Size() != 0 {
				return fmt.Errorf("size %d: not a multiple of %s's %d bytes; choose -b, -e, -f or -i so that every size is", b, d, d.Size())
			}
		}
	}
	return nil
}
