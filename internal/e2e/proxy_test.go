//go:build e2e

package e2e

import (
	"bytes"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
)

// mirror is a program that sends back what it is sent.
func mirror(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// TestProxy: what is sent through a link comes back whole, and an interrupt ends the
// proxy in time with a connection open and bytes on their way.
func TestProxy(t *testing.T) {
	p := start(t, "nodesim", "proxy", "--to", mirror(t), "--link", "ndr", "--dilation", "1000")
	address := p.await(p.stdout, `proxy on (\S+) to \S+ over rate=49MB/s,latency=1.795ms\n`)[1]
	sent := bytes.Repeat([]byte("nodesim proxy "), 100_000)
	for range 2 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			_, _ = c.Write(sent)
			_ = c.(*net.TCPConn).CloseWrite()
		}()
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
			t.Errorf("%d bytes sent, %d came back: %v", len(sent), len(got), err)
		}
		_ = c.Close()
	}
	open, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	_, _ = open.Write(sent)
	if _, err := io.ReadFull(open, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}

	at := p.signal(syscall.SIGINT)
	if code := p.wait(); code != 0 {
		t.Errorf("the proxy ended with code %d\n%s", code, p.stderr)
	}
	if took := p.ended.Sub(at); took > interrupt {
		t.Errorf("the proxy ended after %v, want at most %v", took, interrupt)
	}
	if said := p.stdout.String(); !strings.Contains(said, "3 connections carried, 0 refused") {
		t.Errorf("it says at its end:\n%s", said)
	}
}
