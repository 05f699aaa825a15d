package kernel

import (
	"testing"
	"unsafe"
)

// What stands close together for the cache's sake must not grow out of its
// lines unnoticed: BenchmarkEvents/large would tell, but only somebody who asks.
func TestCacheLines(t *testing.T) {
	for _, tc := range []struct {
		name      string
		got, want uintptr
	}{
		{"block", unsafe.Sizeof(block{}), 128},
		{"conn", unsafe.Sizeof(conn{}), 64},
		{"engine", unsafe.Sizeof(engine{}), 32},
	} {
		if tc.got != tc.want {
			t.Errorf("%s takes %d bytes, not %d", tc.name, tc.got, tc.want)
		}
	}
}
