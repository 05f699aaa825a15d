package gossip

import (
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/memberlist"
)

// node is what memberlist hands on of a peer.
func node(name, meta string) *memberlist.Node {
	return &memberlist.Node{Name: name, Addr: net.IPv4(127, 0, 0, 1), Port: 7000, Meta: []byte(meta)}
}

var fullMember = Member{
	Name: "node~3", Instance: "00c0ffee", Addr: "127.0.0.1:7000", Role: Nodesim, Cluster: "c1",
	Version: "v1.2.3+dirty", GRPC: "[::1]:9000", Nodes: List(3, 4, 5, 9), GPUs: 8,
}

func TestMetadataRoundTrip(t *testing.T) {
	coordinator := Member{Name: "c", Instance: "1", Addr: "127.0.0.1:7000", Role: Coordinator, Version: "v1", GRPC: "host:1"}
	for _, m := range []Member{fullMember, coordinator} {
		meta, err := m.encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeMember(node(wireName(m.Name, m.Instance), string(meta)))
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("sent %+v\ngot  %+v, %v", m, got, err)
		}
	}
}

func TestMetadataIsSmall(t *testing.T) {
	meta, err := fullMember.encode()
	if err != nil || len(meta) > 128 {
		t.Errorf("%d bytes, %v: %s", len(meta), err, meta)
	}
}

// A newer version may say more of itself; it must remain readable, so that it
// can be named in a VersionError.
func TestMetadataMayGrow(t *testing.T) {
	m, err := decodeMember(node("n~1", `{"f":1,"r":"nodesim","v":"v9","a":"h:1","n":"0","new":[1]}`))
	if err != nil || m.Version != "v9" {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestBadMetadata(t *testing.T) {
	for _, c := range []struct{ name, meta, says string }{
		{"n~1", ``, "not Railyard's"},
		{"n~1", "\x00\xff", "not Railyard's"},
		{"n~1", `null`, "format 0"},
		{"n~1", `{"f":2}`, "format 2"},
		{"n~1", `{"f":1,"r":"root","v":"v","a":"h:1","n":"0"}`, `role "root"`},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1"}`, "hosts at least one"},
		{"n~1", `{"f":1,"r":"coordinator","v":"v","a":"h:1","n":"0"}`, "hosts none"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0-9999999999"}`, "not a node"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0","g":-1}`, "gpus -1"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0","g":2000}`, "gpus 2000"},
		{"n~1", `{"f":1,"r":"nodesim","v":"","a":"h:1","n":"0"}`, "version: must not be empty"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v\u001b[2J","a":"h:1","n":"0"}`, "version"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","c":"a b","a":"h:1","n":"0"}`, "cluster"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"nowhere","n":"0"}`, "host:port"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"h:0","n":"0"}`, "port must be"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":"0.0.0.0:5","n":"0"}`, "no host that others can reach"},
		{"n~1", `{"f":1,"r":"nodesim","v":"v","a":":5","n":"0"}`, "no host that others can reach"},
		{"~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0"}`, "name: must not be empty"},
		{strings.Repeat("n", 65) + "~1", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0"}`, "name"},
		{"n~\n", `{"f":1,"r":"nodesim","v":"v","a":"h:1","n":"0"}`, "instance"},
		{"n~1", `{"f":1,"x":"` + strings.Repeat("x", 512) + `"}`, "more than the 512 allowed"},
	} {
		if _, err := decodeMember(node(c.name, c.meta)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s %.60s: error %v, want one that says %q", c.name, c.meta, err, c.says)
		}
	}
}

// FuzzDecodeMember feeds what a hostile peer may send. What is accepted must be
// a member that we could be ourselves.
func FuzzDecodeMember(f *testing.F) {
	meta, _ := fullMember.encode()
	f.Add("node~3~00c0ffee", meta)
	f.Add("n", []byte(`{"f":1,"r":"nodesim","n":"0-1048575"}`))
	f.Add("\xff~\x00", []byte(`{"f":1e9}`))
	f.Fuzz(func(t *testing.T, name string, meta []byte) {
		m, err := decodeMember(node(name, string(meta)))
		if err != nil {
			return
		}
		if err := m.validate(); err != nil {
			t.Fatalf("accepted %+v: %v", m, err)
		}
		again, err := m.encode()
		if err != nil {
			return // its set of nodes takes more room in our form than in its own
		}
		m2, err := decodeMember(node(wireName(m.Name, m.Instance), string(again)))
		if err != nil || !reflect.DeepEqual(m, m2) {
			t.Fatalf("accepted %+v, which comes back as %+v, %v", m, m2, err)
		}
	})
}
