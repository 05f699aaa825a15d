package gossip

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/memberlist"
)

// Role says which of Railyard's daemons a member is.
type Role string

// The roles.
const (
	Coordinator Role = "coordinator"
	Nodesim     Role = "nodesim"
)

// Member is a process of the cluster, as it describes itself.
type Member struct {
	// Name is what the process was told to call itself. It need not be unique:
	// two processes of one name are two members, so that the mistake can be
	// reported instead of hiding one of them.
	Name string
	// Instance tells a restarted process from the one it replaces. Start
	// draws it.
	Instance string
	// Addr is the host:port at which the member gossips.
	Addr string
	Role Role
	// Cluster is the id of the cluster it belongs to; empty if it was only told
	// an address to join and has not found anyone there yet.
	Cluster string
	// Version is the version of its binary.
	Version string
	// GRPC is the host:port at which other processes reach its services.
	GRPC string
	// Nodes are the indexes of the nodes it hosts; a coordinator hosts none.
	Nodes Nodes
	// GPUs is the number of GPUs of each hosted node; 0 where they differ or
	// where the process will only learn it from the plan.
	GPUs int
	// Since is when this process entered the member in its roster, which for one
	// that was taken for dead and came back is when it did.
	Since time.Time
}

// String names the member for people: its name, and where it can be found.
func (m Member) String() string { return fmt.Sprintf("%s (%s)", m.Name, m.Addr) }

// Bounds on what a member may say of itself.
const (
	maxText = 64      // bytes of a name, a cluster id, a version
	maxGPUs = 1 << 10 // of a node; the largest built so far has 72
)

// recordFormat is the version of the metadata's form. Fields may be added
// under the same number, since unknown ones are ignored: a member of another
// version must stay readable, or it could not be named in a verdict.
const recordFormat = 1

// record is a Member's metadata on the wire: JSON with keys of one letter,
// some 100 of the 512 bytes that memberlist allows.
type record struct {
	Format  int    `json:"f"`
	Role    Role   `json:"r"`
	Cluster string `json:"c,omitempty"`
	Version string `json:"v"`
	GRPC    string `json:"a"`
	Nodes   string `json:"n,omitempty"`
	GPUs    int    `json:"g,omitempty"`
}

// encode returns the member's metadata, or an error that names the field at
// fault.
func (m Member) encode() ([]byte, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	b, err := json.Marshal(record{
		Format: recordFormat, Role: m.Role, Cluster: m.Cluster, Version: m.Version,
		GRPC: m.GRPC, Nodes: m.Nodes.String(), GPUs: m.GPUs,
	})
	if err != nil {
		return nil, err
	}
	if len(b) > memberlist.MetaMaxSize {
		return nil, fmt.Errorf("nodes %q: takes %d bytes to announce and memberlist carries %d; host fewer separate ranges in one process",
			m.Nodes, len(b), memberlist.MetaMaxSize)
	}
	return b, nil
}

// decodeMember makes a Member of what a peer sent. The peer is not trusted:
// whatever is not a valid member is an error.
func decodeMember(n *memberlist.Node) (Member, error) {
	if len(n.Meta) > memberlist.MetaMaxSize {
		return Member{}, fmt.Errorf("its metadata has %d bytes, more than the %d allowed", len(n.Meta), memberlist.MetaMaxSize)
	}
	var r record
	if err := json.Unmarshal(n.Meta, &r); err != nil {
		return Member{}, fmt.Errorf("its metadata is not Railyard's: %w", err)
	}
	if r.Format != recordFormat {
		return Member{}, fmt.Errorf("its metadata has format %d and this version reads %d", r.Format, recordFormat)
	}
	nodes, err := ParseNodes(r.Nodes)
	if err != nil {
		return Member{}, err
	}
	name, instance, _ := cutWireName(n.Name)
	m := Member{
		Name: name, Instance: instance, Addr: n.Address(), Role: r.Role, Cluster: r.Cluster,
		Version: r.Version, GRPC: r.GRPC, Nodes: nodes, GPUs: r.GPUs,
	}
	return m, m.validate()
}

// validate reports everything that is wrong with what a member says of itself.
func (m Member) validate() error {
	errs := several{
		checkText("name", m.Name, false),
		checkText("instance", m.Instance, true),
		checkText("cluster", m.Cluster, true),
		checkText("version", m.Version, false),
	}
	// A coordinator that only runs one command serves nobody.
	if m.Role != Coordinator || m.GRPC != "" {
		errs = append(errs, checkReachable("grpc address", m.GRPC))
	}
	switch {
	case m.Role != Coordinator && m.Role != Nodesim:
		errs = append(errs, fmt.Errorf("role %q: unknown; allowed are %s, %s", m.Role, Coordinator, Nodesim))
	case m.Role == Coordinator && m.Nodes.Len() > 0:
		errs = append(errs, fmt.Errorf("nodes %q: a coordinator hosts none", m.Nodes))
	case m.Role == Nodesim && m.Nodes.Len() == 0:
		errs = append(errs, errors.New("nodes: a nodesim hosts at least one; name it, such as 0 or 3-5"))
	}
	if m.GPUs < 0 || m.GPUs > maxGPUs {
		errs = append(errs, fmt.Errorf("gpus %d: must be 0 to %d", m.GPUs, maxGPUs))
	}
	return errs.orNil()
}

// checkText keeps control characters out of terminals and logs, and texts
// within the metadata's bounds: a character that JSON escapes would take six.
func checkText(field, s string, mayBeEmpty bool) error {
	if s == "" && !mayBeEmpty {
		return fmt.Errorf("%s: must not be empty", field)
	}
	odd := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"\<>&`, r) }
	if len(s) > maxText || strings.ContainsFunc(s, odd) {
		return fmt.Errorf("%s %.80q: must be at most %d characters, printable ASCII without spaces, quotes, \\ < > &", field, s, maxText)
	}
	return nil
}

// checkReachable wants a host:port that another process can dial.
func checkReachable(field, s string) error {
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return fmt.Errorf("%s %.80q: must be host:port", field, s)
	}
	if p, err := strconv.ParseUint(port, 10, 16); err != nil || p == 0 {
		return fmt.Errorf("%s %.80q: the port must be 1 to 65535", field, s)
	}
	ip := net.ParseIP(host)
	if host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("%s %.80q: names no host that others can reach; advertise the address of an interface", field, s)
	}
	return checkText(field+" host", host, false)
}

// A member's name in memberlist is NAME~INSTANCE. memberlist wants names to be
// unique and drops the second process of a name without telling it; with the
// instance in it both are seen, and a restarted process doesn't have to wait
// until its predecessor is known to be dead.
const instanceMark = "~"

func wireName(name, instance string) string { return name + instanceMark + instance }

func cutWireName(s string) (name, instance string, ok bool) {
	i := strings.LastIndex(s, instanceMark)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(instanceMark):], true
}
