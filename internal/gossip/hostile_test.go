package gossip

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
)

// rogue is a memberlist with our label whose metadata is whatever it likes.
type rogue struct{ meta []byte }

func (r rogue) NodeMeta(int) []byte             { return r.meta }
func (r rogue) NotifyMsg([]byte)                {}
func (r rogue) GetBroadcasts(int, int) [][]byte { return nil }
func (r rogue) LocalState(bool) []byte          { return nil }
func (r rogue) MergeRemoteState([]byte, bool)   {}

func (y *yard) rogue(name string, meta string) *memberlist.Memberlist {
	y.t.Helper()
	c := memberlist.DefaultLANConfig()
	loopback.apply(c)
	c.Name, c.Delegate, c.Transport = name, rogue{[]byte(meta)}, y.net.Listen()
	c.Logger = log.New(io.Discard, "", 0)
	l, err := memberlist.Create(c)
	if err != nil {
		y.t.Fatal(err)
	}
	return l
}

// A peer with metadata that is no member's is turned away and named; it never
// enters the roster.
func TestGarbagePeerIsTurnedAway(t *testing.T) {
	for _, meta := range []string{"", "\x00\x01", `{"f":9}`, `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0-4294967295"}`} {
		inYard(t, func(y *yard) {
			l := y.rogue("rogue", meta)
			// To memberlist itself it has joined: it admits us.
			_, _ = l.Join([]string{y.seed.Addr()})
			_, err := y.seed.Await(context.Background(), y.expect(1))
			var m *MissingError
			if !errors.As(err, &m) || len(m.Strays) != 1 || m.Strays[0].Name != "rogue" {
				t.Errorf("metadata %q: %v", meta, err)
			}
			if len(y.seed.Members()) != 1 {
				t.Errorf("metadata %q: here are %v", meta, y.seed.Members())
			}
			_ = l.Shutdown()
		})
	}
}

// To join something that is nothing of ours fails, with the reason.
func TestJoiningGarbageFails(t *testing.T) {
	inYard(t, func(y *yard) {
		l := y.rogue("rogue", "?")
		c := nodesim(Loopback(), 0)
		c.Join, c.Transport = []string{fmt.Sprintf("127.0.0.1:%d", l.LocalNode().Port)}, y.net.Listen()
		_, err := Start(context.Background(), c)
		var j *JoinError
		if !errors.As(err, &j) || !strings.Contains(err.Error(), "not Railyard's") || Usage(err) {
			t.Errorf("got %v", err)
		}
		_ = l.Shutdown()
	})
}

// What a flood of strays can make us remember is bounded.
func TestStraysAreBounded(t *testing.T) {
	l := newLedger("self~1", "c1", (&Config{}).logger())
	for i := range 10 * maxStrays {
		if l.admit(node(fmt.Sprint(i), "?")) == nil {
			t.Fatal("garbage admitted")
		}
	}
	if n := len(l.strayed()); n != maxStrays {
		t.Errorf("%d strays remembered", n)
	}
}

// Messages of ours that a peer made up do nothing.
func TestFarewellsAreChecked(t *testing.T) {
	l := newLedger("self~1", "c1", (&Config{}).logger())
	meta, _ := fullMember.encode()
	gatekeeper{l}.NotifyJoin(node("self~1", string(meta)))
	gatekeeper{l}.NotifyJoin(node("peer~1", string(meta)))
	rumours := 0
	v := voice{ledger: l, rumour: func(string) { rumours++ }}
	for _, msg := range []string{"", "bye", "bye ", "bye nobody~1", "hello peer~1", "bye self~1", "gone", "gon peer~1"} {
		v.NotifyMsg([]byte(msg))
	}
	if len(l.leaving) != 0 {
		t.Errorf("%v are leaving", l.leaving)
	}
	if rumours > 0 {
		t.Errorf("%d rumours", rumours)
	}
	v.NotifyMsg([]byte("bye peer~1"))
	if !l.leaving["peer~1"] {
		t.Error("a true farewell was not heard")
	}
}

// A join that fails while a foreigner happens to come by is not the
// foreigner's doing.
func TestForeignerIsNotBlamedForNothing(t *testing.T) {
	inYard(t, func(y *yard) {
		nobody := y.net.Listen()
		_ = nobody.Shutdown()
		c := nodesim(Loopback(), 0)
		c.Join, c.Transport = []string{nobody.String()}, y.net.Listen()
		at := c.Transport.(fmt.Stringer).String()
		time.AfterFunc(time.Second, func() {
			o := nodesim(Loopback(), 1)
			o.Meta.Cluster, o.Join, o.Transport = "c2", []string{at}, y.net.Listen()
			if _, err := Start(context.Background(), o); !errors.As(err, new(*ForeignError)) {
				t.Errorf("the foreigner got %v", err)
			}
		})
		_, err := Start(context.Background(), c)
		var j *JoinError
		if !errors.As(err, &j) || j.Waited != 10*time.Second {
			t.Errorf("got %v", err)
		}
	})
}
