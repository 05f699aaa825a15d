package gossip

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Usage reports whether err is a mistake in how a cluster was started, which
// will be there again at the next try (exit code 64), rather than a matter of
// time and circumstance (exit code 2).
func Usage(err error) bool {
	var u interface{ usage() bool }
	return errors.As(err, &u) && u.usage()
}

// MissingError says that nobody hosts some of the declared nodes.
type MissingError struct {
	Nodes Nodes
	// Of is the number of nodes that were waited for.
	Of int
	// Waited is how long; 0 if there was no waiting.
	Waited time.Duration
	// Join is the address at which they should have come.
	Join string
	// Here are the nodesims that did, Strays the processes that were turned
	// away.
	Here   []Member
	Strays []Stray
}

func (e *MissingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "gossip: missing: %s of %d", named(e.Nodes), e.Of)
	if e.Waited > 0 {
		fmt.Fprintf(&b, " after %v", e.Waited.Round(time.Millisecond))
	}
	if len(e.Here) == 0 {
		b.WriteString("; no nodesim is here")
	} else {
		fmt.Fprintf(&b, "; here: %s", list(e.Here, hosting))
	}
	if len(e.Strays) > 0 {
		fmt.Fprintf(&b, "; turned away: %s", list(e.Strays, Stray.String))
	}
	if e.Join != "" {
		fmt.Fprintf(&b, "; check that a nodesim was started for each, that it was told to join %s, and what its log says", e.Join)
	}
	return b.String()
}

// DuplicateError says that nodes are hosted more than once.
type DuplicateError struct {
	Nodes Nodes
	// Members are all who claim one of them.
	Members []Member
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("gossip: duplicate: %s hosted more than once: %s; stop all but one",
		named(e.Nodes), list(e.Members, hosting))
}

func (e *DuplicateError) usage() bool { return true }

// SurplusError says that members host nodes which the cluster doesn't have.
type SurplusError struct {
	// Of is the number of nodes that the cluster has.
	Of      int
	Members []Member
}

func (e *SurplusError) Error() string {
	return fmt.Sprintf("gossip: surplus: the cluster has %d nodes, 0 to %d, but there is %s; declare more nodes or stop it",
		e.Of, e.Of-1, list(e.Members, hosting))
}

func (e *SurplusError) usage() bool { return true }

// VersionError says that members run another version than is wanted.
type VersionError struct {
	Want    string
	Members []Member
}

func (e *VersionError) Error() string {
	version := func(m Member) string { return fmt.Sprintf("%s has %s", m, m.Version) }
	return fmt.Sprintf("gossip: version mismatch: %s is wanted, but %s; run the same build everywhere",
		e.Want, list(e.Members, version))
}

func (e *VersionError) usage() bool { return true }

// String names the stray, and why it is one.
func (s Stray) String() string { return fmt.Sprintf("%q (%s): %s", s.Name, s.Addr, s.Reason) }

func named(n Nodes) string {
	if n.Len() == 1 {
		return "node " + n.String()
	}
	return "nodes " + n.String()
}

func hosting(m Member) string { return fmt.Sprintf("%s hosting %s", m, m.Nodes) }

// listed is how many members or strays a verdict names.
const listed = 8

func list[T any](all []T, say func(T) string) string {
	var parts []string
	for i, x := range all {
		if i == listed {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-listed))
			break
		}
		parts = append(parts, say(x))
	}
	return strings.Join(parts, ", ")
}

// several are errors that hold at once, on one line.
type several []error

func (s several) Error() string {
	var parts []string
	for _, err := range s {
		parts = append(parts, err.Error())
	}
	return strings.Join(parts, "; ")
}

func (s several) Unwrap() []error { return s }

// orNil is s as an error, without those that are nil, or nil if there are none.
func (s several) orNil() error {
	s = slices.DeleteFunc(s, func(err error) bool { return err == nil })
	if len(s) == 0 {
		return nil
	}
	return s
}
