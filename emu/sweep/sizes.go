package sweep

import (
	"fmt"

	"github.com/railyard/railyard/collective"
)

// MaxSizes is how many sizes a sweep may visit. The table of a longer one is
// of no use to anybody, and comes from a step left at one byte.
const MaxSizes = 10_000

// Sizes returns the sizes in bytes from least to most: each factor times the
// one before it, or, when factor is below 2, step bytes more.
func Sizes(least, most, factor, step int64) ([]int64, error) {
	var sizes []int64
	for size := least; size <= most; {
		if len(sizes) == MaxSizes {
			return nil, fmt.Errorf("from %d to %d are more than %d sizes; take a larger step", least, most, MaxSizes)
		}
		sizes = append(sizes, size)
		next := size + step
		if factor > 1 {
			next = size * factor
			if size > most/factor {
				break // also where the product would overflow
			}
		}
		if next <= size {
			break
		}
		size = next
	}
	return sizes, nil
}

// align is what a rank's share of a buffer is rounded down to, in bytes, so
// that every share begins aligned.
const align = 16

// Message returns what nccl-tests makes of a size given with -b or -e: the
// elements of its column "count", which are those of one part of the buffers
// (collective.Op.Parts), and the bytes of its column "size", which are those of
// the larger buffer. Where buffers fall into a part a rank, parts are rounded
// down to 16 bytes, so small sizes on many ranks become 0.
func Message(op collective.Op, bytes, elemSize int64, n int) (count, size int64) {
	count = bytes / elemSize
	in, out := op.Parts(n)
	if parted(op) {
		count /= int64(n)
		count -= count % (align / elemSize)
	}
	return count, count * int64(max(in, out)) * elemSize
}

// parted reports whether a buffer of the operation has a part for each rank.
// On one rank Parts alone can't tell.
func parted(op collective.Op) bool {
	in, out := op.Parts(2)
	return max(in, out) > 1
}

// MaxBytes is the largest size there may be, whatever the operation and the
// algorithm. It keeps every count, offset and instant within 63 bits: at 1 GB/s
// 16 TiB take five hours of the hundred days that int64 picoseconds can say.
const MaxBytes = 16 << 40

// Sizes returns the sizes of the sweep in bytes, smallest first. A barrier has
// none to choose from: it is an all-reduce of one element.
func (s *Spec) Sizes() ([]int64, error) {
	if s.Op == collective.Barrier {
		return []int64{s.DTypes[0].Size()}, nil
	}
	return Sizes(s.MinBytes, s.MaxBytes, s.Factor, s.StepBytes)
}

// checkSizes reports sizes that cannot be run.
func (s *Spec) checkSizes() error {
	switch {
	case s.Op == collective.Barrier:
		return nil
	case s.MinBytes < 0 || s.MinBytes > s.MaxBytes:
		return fmt.Errorf("-b %d: must be from 0 to -e %d", s.MinBytes, s.MaxBytes)
	case s.MaxBytes > MaxBytes:
		return fmt.Errorf("-e %d: above %d (16T), the most there may be", s.MaxBytes, int64(MaxBytes))
	}
	_, err := s.Sizes()
	return err
}
