package memnet

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// arrived returns how many packets wait at a transport.
func arrived(t *Transport) int { return len(t.packets) }

func send(t *testing.T, from *Transport, to string) {
	t.Helper()
	if _, err := from.WriteTo([]byte("x"), to); err != nil {
		t.Errorf("a packet to %s: %v", to, err)
	}
}

func TestPackets(t *testing.T) {
	n := New()
	a, b := n.Listen(), n.Listen()
	buf := []byte("hello")
	if _, err := a.WriteTo(buf, b.String()); err != nil {
		t.Fatal(err)
	}
	buf[0] = 'J' // the packet is a copy
	if p := <-b.PacketCh(); string(p.Buf) != "hello" || p.From.String() != a.String() {
		t.Errorf("got %q from %v", p.Buf, p.From)
	}
	for range queued + 1 { // the last one is lost, and nobody waits
		send(t, a, b.String())
	}
	if arrived(b) != queued {
		t.Errorf("%d packets wait", arrived(b))
	}
	send(t, a, "127.0.0.1:99")
}

func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		a, b := n.Listen(), n.Listen()
		n.Cut(b.String())
		send(t, a, b.String())
		send(t, b, a.String())
		if arrived(a)+arrived(b) != 0 {
			t.Error("a packet crossed a cut cable")
		}
		for _, d := range []struct{ from, to *Transport }{{a, b}, {b, a}} {
			start := time.Now()
			_, err := d.from.DialTimeout(d.to.String(), time.Second)
			if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Second {
				t.Errorf("dialling over a cut cable: %v after %v", err, time.Since(start))
			}
		}
		n.Mend(b.String())
		send(t, a, b.String())
		if arrived(b) != 1 {
			t.Error("a packet was lost on a mended cable")
		}
	})
}

func TestStreams(t *testing.T) {
	n := New()
	a, b := n.Listen(), n.Listen()
	near, err := a.DialTimeout(b.String(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	far := <-b.StreamCh()
	go func() {
		_, _ = near.Write([]byte("hello"))
		_ = near.Close()
	}()
	if got, err := io.ReadAll(far); string(got) != "hello" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
}

// Nobody is left waiting when a transport shuts down, and its port refuses.
func TestShutdown(t *testing.T) {
	n := New()
	a, b := n.Listen(), n.Listen()
	near, err := a.DialTimeout(b.String(), time.Second) // nobody takes it
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := b.Shutdown(); err != nil {
			t.Error(err)
		}
	}
	if _, err := near.Write([]byte("x")); err == nil {
		t.Error("wrote to a stream that nobody can read")
	}
	if _, err := a.DialTimeout(b.String(), time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("dialled a closed port: %v", err)
	}
	send(t, a, b.String())
}

func TestLose(t *testing.T) {
	lose := func(permille int, seed uint64) int {
		n := New()
		n.Lose(permille, seed)
		a, b := n.Listen(), n.Listen()
		for range queued {
			send(t, a, b.String())
		}
		return arrived(b)
	}
	if none, all := lose(1000, 1), lose(0, 1); none != 0 || all != queued {
		t.Errorf("%d and %d of %d arrived", none, all, queued)
	}
	if half := lose(500, 1); half < queued*4/10 || half > queued*6/10 || half != lose(500, 1) {
		t.Errorf("%d of %d arrived, then %d", half, queued, lose(500, 1))
	}
}
