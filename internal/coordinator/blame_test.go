package coordinator

import (
	"errors"
	"io"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// TestBlame: whoever dies is named, whoever complains first. A process can only
// tell by its streams, of which its peers' may break sooner.
func TestBlame(t *testing.T) {
	t.Parallel()
	complains := func(i int, cause wire.Cause, text string) answer {
		f := wire.Failf(cause, "%s", text)
		f.Member = gossip.List(i).String()
		return answer{from: i, response: &railyardv1.SessionResponse{
			Response: &railyardv1.SessionResponse_Failure{Failure: wire.EncodeFailure(f)}}}
	}
	breaks := func(i int) answer {
		return answer{from: i, err: status.Error(codes.Unavailable, "reset"), when: died.Add(5 * time.Millisecond)}
	}
	closes := func(i int) answer { return answer{from: i, err: io.EOF, when: died.Add(6 * time.Millisecond)} }
	for _, test := range []struct {
		name    string
		answers []answer
		want    string
	}{
		{"the dead one's stream breaks first", []answer{breaks(1), complains(0, wire.PeerLost, "no node1")},
			"peer-lost: node 1 lost: process node1 (pid 101) ended: signal: killed; noticed within 5ms (wall time) (member node1)"},
		{"a peer complains first", []answer{complains(0, wire.PeerLost, "no node1"), complains(2, wire.PeerLost, "no node1"), breaks(1)},
			"peer-lost: node 1 lost: process node1 (pid 101) ended: signal: killed; noticed within 5ms (wall time) (member node1)"},
		{"only a peer complains", []answer{complains(0, wire.PeerLost, "no node1")},
			"peer-lost: no node1 (member 0)"},
		{"one who says what is wrong is at fault itself", []answer{complains(0, wire.Mismatch, "nonsense"), breaks(1)},
			"mismatch: nonsense (member 0)"},
		{"one whom nobody here has started", []answer{closes(2)},
			"peer-lost: node 2 lost: process node2 (pid 102) ended: it closed the session; noticed within 7ms (wall time) (member node2)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			k := mourned()
			for _, a := range test.answers {
				k.answers <- a
			}
			_, _, err := k.hear(t.Context(), func() string { return "nobody" })
			if err == nil || err.Error() != test.want {
				t.Errorf("%v\nwant %s", err, test.want)
			}
		})
	}
}

// died is when the second member of a mourned cluster did.
var died = time.Unix(1000, 0)

// mourned returns a cluster of three members of which the second, whose process
// it has started, was killed.
func mourned() *Cluster {
	k := &Cluster{config: Config{Stall: bound}, answers: make(chan answer, 8)}
	for i := range 3 {
		m := &member{Member: gossip.Member{Name: "node" + gossip.List(i).String(), Nodes: gossip.List(i)}, index: i, pid: int64(100 + i)}
		m.spoke.Store(died.Add(-time.Millisecond).UnixNano())
		k.members = append(k.members, m)
	}
	dead := &process{name: "node1", done: make(chan struct{}), err: errors.New("signal: killed"), at: died}
	close(dead.done)
	k.members[1].process = dead
	return k
}
