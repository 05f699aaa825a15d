package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/railyard/railyard/shaping"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run starts a proxy and returns where it listens, and what ends it.
func run(t *testing.T, to string, hops ...shaping.Hop) (address string, end func() Report) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan string, 1), make(chan Report, 1)
	go func() {
		r, err := Run(ctx, Config{Listen: "127.0.0.1:0", To: to, Hops: hops, Dilation: 10, Logger: zap.NewNop(), Ready: func(a string) { ready <- a }})
		if err != nil {
			t.Error(err)
		}
		done <- r
	}()
	return <-ready, func() Report { cancel(); return <-done }
}

// upstream serves connections one by one, each in a goroutine of its own.
func upstream(t *testing.T, serve func(*net.TCPConn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(c.(*net.TCPConn)); _ = c.Close() })
		}
	})
	t.Cleanup(func() { _ = ln.Close(); all.Wait() })
	return ln.Addr().String()
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// TestCarries: many connections at once, each gets back what it sent, once the
// upstream has seen all of it: the half close passes through.
func TestCarries(t *testing.T) {
	to := upstream(t, func(c *net.TCPConn) {
		all, err := io.ReadAll(c)
		if err != nil {
			t.Error(err)
		}
		if _, err := c.Write(all); err != nil {
			t.Error(err)
		}
	})
	const latency = 200 * time.Microsecond
	address, end := run(t, to, shaping.Hop{Rate: 5 * shaping.GBps, Latency: shaping.Duration(latency/10) * shaping.Nanosecond})
	const n = 20
	sum := 0
	var all sync.WaitGroup
	for i := range n {
		sent := bytes.Repeat([]byte(fmt.Sprint(i, " ")), 10_000*i)
		sum += len(sent)
		all.Go(func() {
			began := time.Now()
			c := dial(t, address)
			if _, err := c.Write(sent); err != nil {
				t.Error(err)
			}
			if err := c.CloseWrite(); err != nil {
				t.Error(err)
			}
			got, err := io.ReadAll(c)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("connection %d: sent %d bytes, %d came back: %v", i, len(sent), len(got), err)
			}
			if took := time.Since(began); took < 2*latency {
				t.Errorf("there and back took %v, less than twice %v", took, latency)
			}
		})
	}
	all.Wait()
	if r := end(); r.Connections != n || r.Refused != 0 || r.Up.Bytes != int64(sum) || r.Down.Bytes != int64(sum) {
		t.Errorf("%d connections, %d refused, %d bytes up, %d down, want %d, 0 and %d each way",
			r.Connections, r.Refused, r.Up.Bytes, r.Down.Bytes, n, sum)
	}
}

// TestRefused: a client of an upstream that is not there is reset, and the next
// one is served all the same.
func TestRefused(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close() // nobody listens there now
	address, end := run(t, ln.Addr().String(), shaping.Hop{})
	for range 3 {
		c, err := net.Dial("tcp", address)
		if errors.Is(err, syscall.ECONNRESET) {
			continue // already
		} else if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read %d bytes, %v, want a reset", n, err)
		}
	}
	if r := end(); r.Refused != 3 || r.Connections != 0 {
		t.Errorf("%d refused, %d carried, want 3 and 0", r.Refused, r.Connections)
	}
}

// TestReset: a reset of either end is one for the other.
func TestReset(t *testing.T) {
	saw := make(chan error, 1)
	to := upstream(t, func(c *net.TCPConn) {
		one := make([]byte, 1)
		if _, err := c.Read(one); err == nil && one[0] == 'r' {
			_ = c.SetLinger(0)
			return
		}
		_, err := c.Read(one)
		saw <- err
	})
	address, end := run(t, to, shaping.Hop{Latency: shaping.Microsecond})
	c := dial(t, address)
	_, _ = c.Write([]byte("r"))
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("upstream was reset, the client sees %v", err)
	}
	c = dial(t, address)
	_, _ = c.Write([]byte("x"))
	_ = c.SetLinger(0)
	_ = c.Close()
	if err := <-saw; err == nil {
		t.Error("the client was reset, upstream sees bytes")
	}
	end()
}

// TestEnd: open connections, busy or not, do not hold a proxy that is told to end.
func TestEnd(t *testing.T) {
	to := upstream(t, func(c *net.TCPConn) { _, _ = io.Copy(c, c) })
	address, end := run(t, to, shaping.Hop{Rate: shaping.MBps, Latency: shaping.Second})
	idle, busy := dial(t, address), dial(t, address)
	_, _ = idle.Write(make([]byte, 1))
	go func() {
		for {
			if _, err := busy.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}()
	end()
	for _, c := range []net.Conn{idle, busy} {
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	}
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = Run(t.Context(), Config{Listen: taken.Addr().String(), Logger: zap.NewNop()})
	if !errors.Is(err, ErrListen) || !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("listening where somebody does: %v", err)
	}
	if _, err := Run(t.Context(), Config{Listen: "127.0.0.1:0", Logger: zap.NewNop()}); err == nil {
		t.Error("a proxy without a link ran")
	}
}
