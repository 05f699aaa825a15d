package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
	"github.com/railyard/railyard/shaping"
)

// choose settles algorithm, protocol and channels of a case. What the user named
// is taken or refused, never replaced.
func (s *Spec) choose(f *fabric.Fabric, g *group, bytes int64, c *Case) error {
	shape := g.shape
	if s.Plan != nil {
		return s.planned(shape.NRanks(), c)
	}
	algorithms, err := AlgorithmFilter(s.Algorithm)
	if err != nil {
		return err
	}
	protocols, err := ProtocolFilter(s.Tuning.Protocols)
	if err != nil {
		return err
	}
	k := s.Communicator(f, shape, algorithms.Named(s.Op)...)
	use := collective.Use{Op: s.Op, DType: c.DType, RedOp: c.RedOp}
	for _, e := range s.candidates(&k, bytes, algorithms.Named(s.Op)) {
		use.Protocol = e.Protocol
		switch {
		case !algorithms.Allows(s.Op, e.Algorithm):
			e.Why = "not among those asked for"
		case s.AutoProtocol && !protocols.Allows(s.Op, e.Protocol.String()) || !s.AutoProtocol && e.Protocol != s.Protocol:
			e.Why = fmt.Sprintf("protocol %s is not among those asked for", e.Protocol)
		default:
			e.Why = s.illegal(e, use, shape, slices.Contains(algorithms.Named(s.Op), e.Algorithm))
			if e.Why == "" && strings.HasPrefix(e.Algorithm, "collnet") {
				e.Why = g.tree
			}
		}
		c.Candidates = append(c.Candidates, e)
	}
	best := tuner.Choose(c.Candidates)
	if best < 0 {
		return s.nothing(algorithms.Named(s.Op), c.Candidates)
	}
	c.Chosen = c.Candidates[best]
	c.Channels = s.channels(&k, bytes, &c.Chosen)
	c.chunk = k.Chunk(c.Chosen.Algorithm, s.Op, c.Chosen.Protocol, bytes, c.Channels, &s.Tuning)
	return nil
}

// illegal says why a candidate may not run here, or would not be considered by
// NCCL; empty: it may. A name that the user gave asks for what NCCL would leave
// out by default, but not for what is impossible or was switched off.
func (s *Spec) illegal(e tuner.Estimate, use collective.Use, shape collective.Shape, named bool) string {
	a, err := collective.Lookup(e.Algorithm)
	if err != nil {
		return err.Error()
	}
	if err := a.Check(use, shape); err != nil {
		return err.Error()
	}
	if off := strings.HasPrefix(e.Algorithm, tuner.NVLS) && s.Tuning.NoNVLS; named && !off {
		return ""
	}
	return e.Why
}

// nothing says why no candidate is left.
func (s *Spec) nothing(named []string, all []tuner.Estimate) error {
	if len(named) == 1 {
		a, err := collective.Lookup(named[0])
		if err != nil {
			return err
		}
		if !s.AutoProtocol && a.Protocols != nil && !slices.Contains(a.Protocols, s.Protocol) {
			return fmt.Errorf("%s %s: it does not use protocol %s; leave out %s, or name %s", s.by(s.AlgorithmBy, "--algo"), named[0],
				s.Protocol, s.by(s.ProtocolBy, "--proto"), joined(a.Protocols, " or "))
		}
		for _, e := range all {
			if e.Algorithm == named[0] && (s.AutoProtocol || e.Protocol == s.Protocol) {
				return fmt.Errorf("%s %s: %s", s.by(s.AlgorithmBy, "--algo"), named[0], e.Why)
			}
		}
	}
	why := make([]string, len(all))
	for i, e := range all {
		why[i] = fmt.Sprintf("%s %s: %s", e.Algorithm, e.Protocol, e.Why)
	}
	return fmt.Errorf("nothing that %s and %s allow does %s here (%s)", s.by(s.AlgorithmBy, "--algo"), s.by(s.ProtocolBy, "--proto"),
		s.Op, strings.Join(why, "; "))
}

// joined names things.
func joined[T fmt.Stringer](all []T, between string) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return strings.Join(names, between)
}

// by returns where the user said something, for messages.
func (s *Spec) by(said, flag string) string { return cmp.Or(said, flag) }

// candidates returns what NCCL has for the operation, and below it what the user
// named besides, of which NCCL knows no cost.
func (s *Spec) candidates(k *tuner.Communicator, bytes int64, named []string) []tuner.Estimate {
	all := tuner.Estimates(s.Op, *k, shaping.Bytes(bytes))
	for _, name := range named {
		if !slices.ContainsFunc(all, func(e tuner.Estimate) bool { return e.Algorithm == name }) {
			all = append(all, tuner.Unmodelled(name, bytes)...)
		}
	}
	return all
}

// Communicator returns what the tuner is told of a communicator of the cluster.
// Algorithms that were named count as switched on.
func (s *Spec) Communicator(f *fabric.Fabric, shape collective.Shape, named ...string) tuner.Communicator {
	first := f.System(0)
	k := tuner.Communicator{Ranks: shape.NRanks(), Nodes: len(shape.Nodes), NICs: max(len(shape.Nodes[0].Heads), 1), Channels: first.SM.Channels,
		Reported: first.Reported, GPU: tuner.GenerationOf(first.Compute), CPU: makers[first.CPU], Version: s.Tuning.Release(),
		NVLS: !s.Tuning.NoNVLS, CollNet: s.Tuning.CollNet}
	for _, name := range named {
		k.CollNet = k.CollNet || strings.HasPrefix(name, "collnet")
	}
	// The fabric has been made of that name, so it exists.
	if link, err := catalog.LookupLink(f.Cluster.Fabric.Link); err == nil {
		k.NIC = link.Wire
	}
	// Channels go round the rails: a number that does not divide would leave
	// some NICs with more of them than others, and the run waits for those.
	if nics := k.NICs; k.Nodes > 1 && nics <= k.Channels {
		k.Channels -= k.Channels % nics
	}
	k.NICs = min(k.NICs, k.Ranks/max(k.Nodes, 1))
	k.NICs = max(k.NICs, 1)
	return k
}

var makers = [...]tuner.CPU{catalog.Intel: tuner.Intel, catalog.AMD: tuner.AMD, catalog.Arm: tuner.OtherCPU}

// channels returns how many the chosen way gets: as many as the user said, else
// as the size is worth, within the user's bounds.
func (s *Spec) channels(k *tuner.Communicator, bytes int64, e *tuner.Estimate) int {
	if s.Channels > 0 {
		return s.Channels
	}
	if e.Algorithm == tuner.Direct {
		bytes = k.Message(s.Op, bytes)
	}
	return s.Tuning.Bound(k.Worth(e.Algorithm, e.Protocol, bytes, s.Tuning.Threads))
}

// options returns those of the case's plan.
func (s *Spec) options(c *Case, root int) collective.Options {
	o := collective.Options{Protocol: c.Chosen.Protocol, Channels: c.Channels, Slices: s.Slices, Root: root, ChunkBytes: c.chunk}
	switch o.Protocol {
	case collective.LL:
		o.BufferBytes = s.Tuning.LLBufferBytes
	case collective.LL128:
		o.BufferBytes = s.Tuning.LL128BufferBytes
	default:
		o.BufferBytes = s.Tuning.BufferBytes
	}
	return o
}

// AlgorithmFilter reads what --algo and NCCL_ALGO may say: names of the
// registry.
func AlgorithmFilter(text string) (tuner.Filter, error) {
	known := AlgorithmNames()
	return tuner.ParseFilter(text, known, func(name string, _ []string) error {
		_, err := collective.Lookup(name)
		return err
	})
}

// AlgorithmNames returns the names that may be asked for.
func AlgorithmNames() []string {
	var known []string
	for _, a := range collective.Algorithms() {
		known = append(known, a.Name)
	}
	return known
}

// ProtocolNames returns the names of the protocols.
func ProtocolNames() []string {
	return []string{collective.Simple.String(), collective.LL.String(), collective.LL128.String()}
}

// ProtocolFilter reads what --proto and NCCL_PROTO may say.
func ProtocolFilter(text string) (tuner.Filter, error) {
	return tuner.ParseFilter(text, ProtocolNames(), func(name string, known []string) error {
		return fmt.Errorf("protocol %q: unknown; allowed are %s", name, strings.Join(known, ", "))
	})
}
