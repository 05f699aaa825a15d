package collective

import (
	"fmt"
	"slices"
	"strings"
)

// DType is the type of an element. The zero value is nccl-tests' default.
type DType uint8

// The element types of NCCL 2.24 and later.
const (
	Float32 DType = iota
	Float16
	BFloat16
	Float64
	Int8
	Uint8
	Int32
	Uint32
	Int64
	Uint64
	Float8E4M3
	Float8E5M2
	numDTypes
)

var dtypes = [numDTypes]struct {
	name string // as nccl-tests' -d takes it
	also string // as NCCL's own headers and frameworks say it
	size int64  // bytes
}{
	Float32:    {"float", "fp32 float32", 4},
	Float16:    {"half", "fp16 float16", 2},
	BFloat16:   {"bfloat16", "bf16", 2},
	Float64:    {"double", "fp64 float64", 8},
	Int8:       {"int8", "char", 1},
	Uint8:      {"uint8", "byte", 1},
	Int32:      {"int32", "int", 4},
	Uint32:     {"uint32", "uint", 4},
	Int64:      {"int64", "long", 8},
	Uint64:     {"uint64", "ulong", 8},
	Float8E4M3: {"f8e4m3", "fp8_e4m3 float8_e4m3fn", 1},
	Float8E5M2: {"f8e5m2", "fp8_e5m2 float8_e5m2", 1},
}

// DTypes returns every element type in declaration order.
func DTypes() []DType { return enumerate[DType](numDTypes) }

// String returns nccl-tests' name of the type.
func (d DType) String() string {
	if d >= numDTypes {
		return "unknown"
	}
	return dtypes[d].name
}

// Size returns the bytes of one element.
func (d DType) Size() int64 { return dtypes[d].size }

// float reports whether the type is a floating-point type.
func (d DType) float() bool { return d.narrow() != nil || d == Float32 || d == Float64 }

// ParseDType returns the type with the given name of nccl-tests, or with one of
// frameworks such as "fp32" and "float32". The error lists what is allowed.
func ParseDType(s string) (DType, error) {
	for i := range dtypes {
		if s == dtypes[i].name || slices.Contains(strings.Fields(dtypes[i].also), s) {
			return DType(i), nil
		}
	}
	return 0, unknown("element type", s, DTypes())
}

// RedOp is how elements of several ranks are combined.
type RedOp uint8

// The reductions of NCCL. MulSum is nccl-tests' name for a sum whose inputs are
// first multiplied by a factor of each rank.
const (
	Sum RedOp = iota
	Prod
	Min
	Max
	Avg
	MulSum
	numRedOps
)

var redOpNames = [numRedOps]string{
	Sum: "sum", Prod: "prod", Min: "min", Max: "max", Avg: "avg", MulSum: "mulsum",
}

// RedOps returns every reduction in declaration order.
func RedOps() []RedOp { return enumerate[RedOp](numRedOps) }

// String returns nccl-tests' name of the reduction.
func (o RedOp) String() string { return name(redOpNames[:], int(o)) }

// ParseRedOp returns the reduction with the given name of nccl-tests. The error
// lists what is allowed.
func ParseRedOp(s string) (RedOp, error) {
	if i := slices.Index(redOpNames[:], s); i >= 0 {
		return RedOp(i), nil
	}
	return 0, unknown("reduction", s, RedOps())
}

func enumerate[T ~uint8](n T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}

// unknown is the error for a name that is not among the allowed ones.
func unknown[T fmt.Stringer](what, got string, allowed []T) error {
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = a.String()
	}
	return fmt.Errorf("%s %q: unknown; allowed are %s", what, got, strings.Join(names, ", "))
}
