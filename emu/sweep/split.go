package sweep

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Split says which ranks of the world form a communicator together: those whose
// numbers give the same colour. The zero value leaves the world whole.
type Split struct {
	Op    SplitOp
	Value int
	// Ranks is how many a process has (-g times -t): nccl-tests splits processes,
	// so these share a colour. 0 means 1.
	Ranks int
}

// SplitOp makes a colour out of a process and a value.
type SplitOp uint8

// The operations of nccl-tests' NCCL_TESTS_SPLIT.
const (
	Whole    SplitOp = iota // one colour
	SplitAnd                // process & value
	SplitOr                 // process | value
	SplitMod                // process mod value
	SplitDiv                // process / value
)

// splitOps has the names that nccl-tests takes; case does not count.
var splitOps = []struct {
	op          SplitOp
	word, short string
}{{SplitAnd, "AND", "&"}, {SplitOr, "OR", "|"}, {SplitMod, "MOD", "%"}, {SplitDiv, "DIV", "/"}}

// Group returns the colour of a rank of the world.
func (s Split) Group(rank int) int {
	process := rank / max(s.Ranks, 1)
	switch s.Op {
	case SplitAnd:
		return process & s.Value
	case SplitOr:
		return process | s.Value
	case SplitMod:
		return process % s.Value
	case SplitDiv:
		return process / s.Value
	default:
		return 0
	}
}

// String returns the split as ParseSplit takes it, empty for none.
func (s Split) String() string {
	for _, o := range splitOps {
		if o.op == s.Op {
			return fmt.Sprintf("%s %d", o.word, s.Value)
		}
	}
	return ""
}

// Valid reports what is wrong with a split that nobody parsed.
func (s Split) Valid() error {
	switch {
	case s.Op > SplitDiv:
		return fmt.Errorf("split operation %d: unknown", s.Op)
	case s.Value < 0 || s.Value > maxSplit:
		return fmt.Errorf("split value %d: must be from 0 to %d", s.Value, maxSplit)
	case s.Ranks < 0:
		return fmt.Errorf("split of processes with %d ranks: must not be negative", s.Ranks)
	case s.Value == 0 && (s.Op == SplitMod || s.Op == SplitDiv):
		return errors.New("split by 0: MOD and DIV need a value of at least 1")
	default:
		return nil
	}
}

// maxSplit is the largest value: nccl-tests' colours are C's int.
const maxSplit = 1<<31 - 1

// ParseSplit reads what nccl-tests takes in NCCL_TESTS_SPLIT: "AND 0x7",
// "MOD 4", "DIV 8", "OR 7", or "&0x7", "%4", "/8", "|7". Values are decimal,
// hexadecimal after 0x, or binary after 0b.
func ParseSplit(s string) (Split, error) {
	text := strings.TrimSpace(s)
	for _, o := range splitOps {
		for _, prefix := range []string{o.word, o.short} {
			if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
				continue
			}
			v, err := strconv.ParseUint(strings.TrimSpace(text[len(prefix):]), 0, 31)
			if err != nil {
				return Split{}, fmt.Errorf("%.64q: after %s comes a whole number such as 8, 0x7 or 0b11, up to %d", s, prefix, maxSplit)
			}
			split := Split{Op: o.op, Value: int(v)}
			return split, split.Valid()
		}
	}
	return Split{}, fmt.Errorf(`%.64q must be AND, OR, MOD or DIV (or &, |, %%, /) and a number, such as "MOD 8" or "&0x7"`, s)
}

// ParseSplitMask reads NCCL_TESTS_SPLIT_MASK, which is hexadecimal with or
// without 0x and means AND.
func ParseSplitMask(s string) (Split, error) {
	digits := strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(s), "0x"), "0X")
	v, err := strconv.ParseUint(digits, 16, 31)
	if err != nil {
		return Split{}, fmt.Errorf("%.64q must be a hexadecimal number up to 0x%x, such as 0x7", s, maxSplit)
	}
	return Split{Op: SplitAnd, Value: int(v)}, nil
}
