package cli

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// outlet is a stream of this process, to a terminal, a pipe or a file. It
// remembers that it failed, and lets go of a write that nobody takes once the
// process is to end: a terminal that is halted must not keep it.
type outlet struct {
	w io.Writer

	mu  sync.Mutex    // guards what follows
	err error         // the first
	end chan struct{} // closed when the process is to end
}

// parting is how long a write may take when the process is to end.
const parting = 300 * time.Millisecond

// ending returns the channel that is closed when the process is to end.
func (o *outlet) ending() chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end == nil {
		o.end = make(chan struct{})
	}
	return o.end
}

// failure returns the first error, if there was one.
func (o *outlet) failure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *outlet) failed(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
}

// Write implements io.Writer.
func (o *outlet) Write(b []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done, own := make(chan result, 1), slices.Clone(b)
	go func() {
		n, err := o.w.Write(own)
		done <- result{n, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-o.ending():
		select {
		case r = <-done:
		case <-time.After(parting):
			r.err = context.Canceled
		}
	}
	if r.err != nil {
		o.failed(r.err)
	}
	return r.n, r.err
}

// release makes streams let go when ctx ends, until what it returns is called.
func release(ctx context.Context, streams ...io.Writer) func() bool {
	return context.AfterFunc(ctx, func() {
		for _, s := range streams {
			if o, ok := s.(*outlet); ok {
				close(o.ending())
			}
		}
	})
}

// file returns the file that a stream is, if it is one.
func file(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*outlet); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok
}
