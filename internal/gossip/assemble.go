package gossip

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Expect is the cluster that a coordinator waits for.
type Expect struct {
	// Nodes is the number of declared nodes; they are 0 to Nodes-1.
	Nodes int
	// Cluster is the id its members carry; empty takes any. A member without
	// an id is taken too.
	Cluster string
	// Version is the version its members must have; empty takes any.
	Version string
	// Lost, when set, says of members that they are gone though nobody has
	// noticed yet: they are passed over.
	Lost func(Member) bool
	// Deadline is how long to wait for all of them.
	Deadline time.Duration
}

// Assembly is a complete cluster.
type Assembly struct {
	// Members are the nodesims, ordered by the lowest node that each hosts.
	Members []Member
	// ByNode is the member that hosts each node.
	ByNode map[int]Member
}

// assemble picks from the members present those that make up the cluster. If
// they don't, the error is the gravest that holds: what waiting won't mend
// comes first, and missing nodes, which it may, last.
func assemble(present []Member, e Expect) (Assembly, error) {
	ours, foreign := sift(present, e)
	if others := without(ours, func(m Member) bool { return e.Version == "" || m.Version == e.Version }); len(others) > 0 {
		return Assembly{}, &VersionError{Want: e.Version, Members: others}
	}
	if others := without(ours, func(m Member) bool { return m.last() < e.Nodes }); len(others) > 0 {
		return Assembly{}, &SurplusError{Of: e.Nodes, Members: others}
	}
	hosts, err := hostsOf(upTo(e.Nodes), ours)
	if missing, ok := err.(*MissingError); ok {
		missing.Strays = foreign
	}
	if err != nil {
		return Assembly{}, err
	}
	slices.SortFunc(ours, func(a, b Member) int { return cmp.Compare(a.Nodes[0].First, b.Nodes[0].First) })
	return Assembly{Members: ours, ByNode: hosts}, nil
}

// sift parts the nodesims of the cluster from those of another.
func sift(present []Member, e Expect) (ours []Member, foreign []Stray) {
	for _, m := range present {
		switch {
		case m.Role != Nodesim || e.Lost != nil && e.Lost(m):
		case e.Cluster != "" && m.Cluster != "" && m.Cluster != e.Cluster:
			foreign = append(foreign, strayOf(m))
		default:
			ours = append(ours, m)
		}
	}
	return ours, foreign
}

// hostsOf returns who hosts each of the wanted nodes, or a DuplicateError or
// MissingError.
func hostsOf(wanted Nodes, members []Member) (map[int]Member, error) {
	hosts, twice := map[int]Member{}, map[int]bool{}
	for _, m := range members {
		for i := range m.Nodes.All() {
			if !wanted.Contains(i) {
				continue
			}
			if _, taken := hosts[i]; taken {
				twice[i] = true
			}
			hosts[i] = m
		}
	}
	if len(twice) > 0 {
		nodes := List(slices.Collect(maps.Keys(twice))...)
		claims := func(m Member) bool { return slices.ContainsFunc(slices.Collect(nodes.All()), m.Nodes.Contains) }
		return nil, &DuplicateError{Nodes: nodes, Members: keep(members, claims)}
	}
	var missing []int
	for i := range wanted.All() {
		if _, ok := hosts[i]; !ok {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		return nil, &MissingError{Nodes: List(missing...), Of: wanted.Len(), Here: members}
	}
	return hosts, nil
}

// last returns the highest node that the member hosts; it hosts one.
func (m Member) last() int { return m.Nodes[len(m.Nodes)-1].Last }

// upTo returns the nodes 0 to n-1.
func upTo(n int) Nodes {
	if n < 1 {
		return nil
	}
	return Nodes{{0, n - 1}}
}

func keep(members []Member, ok func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(members), func(m Member) bool { return !ok(m) })
}

func without(members []Member, ok func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(members), ok)
}
