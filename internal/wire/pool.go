package wire

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/mem"
)

// payloads is where every buffer of the data plane comes from and goes back to:
// payloads, message heads, and the pieces in which grpc reads a connection.
var payloads mem.BufferPool = new(pool)

const (
	minClass = 11 // 2 KiB: grpc does not count references to buffers up to 1 KiB
	maxClass = 22 // 4 MiB: twice the largest slice of a built-in algorithm
)

// pool is a mem.BufferPool with one class for each power of two. It exists
// because grpc's own pool clears every buffer it hands out, which for payload
// costs a pass over memory for nothing: every byte is written before it is
// read.
type pool struct {
	classes [maxClass - minClass + 1]sync.Pool
}

// Get returns a buffer of n bytes that may hold anything.
func (p *pool) Get(n int) *[]byte {
	if n > 1<<maxClass {
		b := make([]byte, n)
		return &b
	}
	class := max(bits.Len(uint(max(n, 1)-1)), minClass)
	if b, ok := p.classes[class-minClass].Get().(*[]byte); ok {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n, 1<<class)
	return &b
}

// Put takes a buffer of any origin: its capacity says which class it serves.
func (p *pool) Put(b *[]byte) {
	class := bits.Len(uint(cap(*b))) - 1
	if class < minClass || class > maxClass {
		return
	}
	p.classes[class-minClass].Put(b)
}
