package kernel_test

import (
	"slices"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// spread is a cluster on several kernels without windows: whoever has the
// earliest event anywhere handles it, and what it sends arrives at once. Slow,
// and too simple to be wrong.
type spread struct {
	t       testing.TB
	fabric  *fabric.Fabric
	kernels []*kernel.Kernel
	shared  *transit.Shared // nil when no port is
	owners  transit.Owners

	ends []emu.End
	// What a test wants to see: what a kernel sends, that a frame has reached
	// one, that one has handled an instant.
	emitted         func(from int, e *kernel.Emission)
	handed, handled func(kernel int)
}

// newSpread puts node i on participant host[i].
func newSpread(t testing.TB, c emu.Cluster, host []int) *spread {
	t.Helper()
	n := slices.Max(host) + 1
	s := &spread{t: t, fabric: build(t, c), owners: transit.Owners{Node: host, Shared: n}}
	for i := range n {
		s.kernels = append(s.kernels, kernel.New(kernel.Config{Fabric: s.fabric, Owners: s.owners, Me: i}))
	}
	if s.fabric.Contended() {
		s.shared = transit.NewShared(s.fabric, s.owners, false)
	}
	return s
}

func (s *spread) begin(b emu.Batch) {
	s.t.Helper()
	s.ends = nil
	for i, k := range s.kernels {
		w, err := kernel.Lay(s.fabric, b, func(node int) bool { return s.owners.Node[node] == i })
		if err != nil {
			s.t.Fatal(err)
		}
		k.Begin(b, w)
	}
}

// run handles events, one instant of one participant at a time, until none is
// pending.
func (s *spread) run() {
	for {
		who, at := -1, shaping.Never
		for i, k := range s.kernels {
			if n := k.Next(); n < at {
				who, at = i, n
			}
		}
		if s.shared != nil && s.shared.Next() < at {
			s.shared.Forward(s.shared.Next()+1, func(e transit.Emission, _ shaping.Time) { s.hand(e.To, e.Header) })
			continue
		}
		if who < 0 {
			emu.SortEnds(s.ends)
			return
		}
		s.instant(who, at)
	}
}

func (s *spread) instant(who int, at shaping.Time) {
	k := s.kernels[who]
	k.Run(at+1, 0)
	e := k.Effects()
	s.ends = append(s.ends, e.Ends...)
	out := slices.Clone(e.Out)
	k.Forget()
	for i := range out {
		if s.emitted != nil {
			s.emitted(who, &out[i])
		}
	}
	for i := range out {
		s.hand(out[i].To, out[i].Header)
	}
	if s.handled != nil {
		s.handled(who)
	}
}

func (s *spread) hand(to int, h transit.Header) {
	if to == s.owners.Shared {
		s.shared.Accept(h)
		return
	}
	s.kernels[to].Accept(h)
	if s.handed != nil {
		s.handed(to)
	}
}
