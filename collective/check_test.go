package collective

import (
	"errors"
	"slices"
	"testing"
)

// small are plans to damage, all of whose steps matter.
func small(t *testing.T) []*Plan {
	var plans []*Plan
	for _, op := range ring.Ops {
		for _, n := range []int{1, 2, 3, 5} {
			plans = append(plans, mustBuild(t, "ring", op, Uniform(1, n), Options{Channels: 1}))
		}
		plans = append(plans, mustBuild(t, "ring", op, Uniform(2, 2), Options{Channels: 2}))
	}
	for _, s := range []Shape{Uniform(1, 1), Uniform(1, 2), Uniform(2, 2), Uniform(4, 1), Uniform(3, 2)} {
		plans = append(plans, mustBuild(t, "tree", AllReduce, s, Options{Channels: 2}))
	}
	return plans
}

// eachStep calls f with a fresh copy of every small plan for every step in it.
func eachStep(t *testing.T, f func(p *Plan, ranks [][]Block, at Place)) {
	for _, p := range small(t) {
		for r := range p.Ranks {
			for b, block := range p.Rank(r) {
				for i := range block.Steps {
					q, ranks := unrolled(p)
					f(q, ranks, Place{r, b, i})
				}
			}
		}
	}
}

// caught fails the test unless Check refuses p.
func caught(t *testing.T, p *Plan, at Place, damage string) *CheckError {
	t.Helper()
	var e *CheckError
	if err := Check(p); !errors.As(err, &e) {
		t.Fatalf("%s %s of %d ranks: %s at %v passes: %v", p.Algorithm, p.Op, p.Ranks, damage, at, err)
	}
	return e
}

func TestEveryLostStepIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		b := &ranks[at.Rank][at.Block]
		b.Steps = slices.Delete(b.Steps, at.Step, at.Step+1)
		caught(t, p, at, "a lost step")
	})
}

func TestEveryRepeatedMessageIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		b := &ranks[at.Rank][at.Block]
		if b.Steps[at.Step].Kind == Copy {
			return // copying twice is only slow
		}
		b.Steps = slices.Insert(b.Steps, at.Step, b.Steps[at.Step])
		if e := caught(t, p, at, "a repeated step"); e.Problem != Unpaired {
			t.Errorf("repeated step at %v: %v, want it unpaired", at, e)
		}
	})
}

func TestEveryOtherIndexIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		s := &ranks[at.Rank][at.Block].Steps[at.Step]
		in, out := p.Op.Parts(p.Ranks)
		for k := -2; k <= in*p.Chunks; k++ {
			if was := s.Src.Index; s.Kind.ReadsSrc() && k != was && !(k == Own && was == 0) {
				s.Src.Index = k
				caught(t, p, at, "another source")
				s.Src.Index = was
			}
		}
		for k := -2; k <= out*p.Chunks; k++ {
			if was := s.Dst.Index; s.Kind.WritesDst() && k != was && !(k == Own && was == 0) {
				s.Dst.Index = k
				caught(t, p, at, "another destination")
				s.Dst.Index = was
			}
		}
	})
}

func TestEveryOtherKindIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		s := &ranks[at.Rank][at.Block].Steps[at.Step]
		was := *s
		for kind := range numStepKinds {
			if kind == was.Kind {
				continue
			}
			s.Kind = kind
			caught(t, p, at, kind.String())
		}
	})
}

func TestEveryOtherPeerIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		b := &ranks[at.Rank][at.Block]
		for _, list := range [][]int{b.SendTo, b.RecvFrom} {
			for i, was := range list {
				for r := -1; r <= p.Ranks; r++ {
					if r != was {
						list[i] = r
						caught(t, p, at, "another peer")
					}
				}
				list[i] = was
			}
		}
	})
}

func TestEveryLostDependencyIsCaught(t *testing.T) {
	eachStep(t, func(p *Plan, ranks [][]Block, at Place) {
		s := &ranks[at.Rank][at.Block].Steps[at.Step]
		if s.Deps == nil {
			return
		}
		s.Deps = nil
		if e := caught(t, p, at, "a lost dependency"); e.Problem != Race || e.Rank != at.Rank || e.Block/2 != at.Block/2 {
			t.Errorf("lost dependency at %v: %v, want a race there", at, e)
		}
	})
}

// Each rank sends a whole chunk before it receives; one slice more must fit, or
// no one can go on.
func TestSlotsMustHoldMoreThanAChunk(t *testing.T) {
	for _, slots := range []int{2, 3, 4, 5, 6, 8} {
		p := *mustBuild(t, "ring", AllReduce, Uniform(1, 6), Options{Channels: 2})
		p.Slots = slots
		err := Check(&p)
		if enough := slots >= p.ChunkSteps+p.SliceSteps; enough != (err == nil) {
			t.Errorf("%d slots for chunks of %d in slices of %d: %v", slots, p.ChunkSteps, p.SliceSteps, err)
		}
		var e *CheckError
		if err != nil && (!errors.As(err, &e) || e.Problem != Deadlock || len(e.Cycle) != 6 || e.Cycle[0] != e.Place) {
			t.Errorf("%d slots: %v with cycle %v, want a deadlock of all 6 ranks", slots, err, e.Cycle)
		}
	}
}

// Each of these is right as it stands but for one thing.
func TestCheckNames(t *testing.T) {
	for _, c := range []struct {
		name string
		plan *Plan
		want CheckError
	}{
		{"a value nobody wrote", explicit(Plan{Op: AllReduce, Scratch: 1}, []Block{
			{Steps: []Step{{Kind: Copy, Src: tmp(0), Dst: out(0)}}},
		}), CheckError{Place: Place{0, 0, 0}, Problem: Unwritten}},

		{"a local sum of one thing", explicit(Plan{Op: AllReduce}, []Block{
			{Steps: []Step{{Kind: Copy, Src: in(0), Dst: out(0)}, {Kind: ReduceLocal, Src: in(0), Dst: out(0)}}},
		}), CheckError{Place: Place{0, 0, 1}, Problem: Duplicate}},

		{"chunks in a ring of dependencies", explicit(Plan{Op: AllReduce, Chunks: 2}, []Block{
			{Steps: []Step{{Kind: Copy, Src: in(0), Dst: out(0), Deps: []Dep{{1, 0}}}}},
			{Steps: []Step{{Kind: Copy, Src: in(1), Dst: out(1), Deps: []Dep{{0, 0}}}}},
		}), CheckError{Place: Place{0, 0, 0}, Problem: Deadlock, Cycle: []Place{{0, 0, 0}, {0, 1, 0}}}},

		{"a step that waits for itself", explicit(Plan{Op: AllReduce}, []Block{
			{Steps: []Step{{Kind: Copy, Src: in(0), Dst: out(0), Deps: []Dep{{0, 0}}}}},
		}), CheckError{Place: Place{0, 0, 0}, Problem: Deadlock, Cycle: []Place{{0, 0, 0}}}},

		{"both receive before they send", exchange(Recv, Send),
			CheckError{Place: Place{0, 0, 0}, Problem: Deadlock, Cycle: []Place{{0, 0, 0}, {1, 0, 0}}}},

		{"two chunks sent, one received", explicit(Plan{Op: Broadcast, Chunks: 2}, []Block{
			{SendTo: []int{1}, Steps: []Step{{Kind: Copy, Src: in(0), Dst: out(0), Count: 2}, {Kind: Send, Src: in(0), Count: 2, Send: 1}}},
		}, []Block{
			{RecvFrom: []int{0}, Steps: []Step{{Kind: Recv, Dst: out(0), Recv: 1}}},
		}), CheckError{Place: Place{1, 0, 0}, Problem: Misfit}},

		{"chunks moved by one in place", explicit(Plan{Op: AllReduce, Chunks: 3, Scratch: 3}, []Block{
			{Steps: []Step{{Kind: Copy, Src: tmp(0), Dst: tmp(1), Count: 2}}},
		}), CheckError{Place: Place{0, 0, 0}, Problem: Malformed}},

		{"an input that is not there", explicit(Plan{Op: Scatter}, []Block{
			{Steps: []Step{{Kind: Copy, Src: in(0), Dst: out(0)}}},
		}, []Block{
			{Steps: []Step{{Kind: Copy, Src: in(1), Dst: out(0)}}},
		}), CheckError{Place: Place{1, 0, 0}, Problem: Unwritten}},

		{"more blocks than the plan says", NewPlan(Plan{
			Op: AllReduce, Ranks: 1, Channels: 1, Chunks: 1, Slots: 1, ChunkSteps: 1, SliceSteps: 1,
		}, func(int) []Block { return make([]Block, 1) }), CheckError{Place: Place{0, -1, -1}, Problem: Malformed}},

		{"nothing at all", explicit(Plan{Op: AllReduce}, nil), CheckError{Place: Place{0, -1, -1}, Problem: Unwritten}},
	} {
		var e *CheckError
		if err := Check(c.plan); !errors.As(err, &e) {
			t.Errorf("%s: passes", c.name)
		} else if e.Place != c.want.Place || e.Problem != c.want.Problem || !slices.Equal(e.Cycle, c.want.Cycle) {
			t.Errorf("%s: %v, cycle %v; want %v: %v, cycle %v", c.name, e, e.Cycle, c.want.Place, c.want.Problem, c.want.Cycle)
		}
	}
}

// exchange is an all-gather of two ranks in the given order of steps.
func exchange(first, second StepKind) *Plan {
	ranks := make([][]Block, 2)
	for r := range ranks {
		b := Block{SendTo: []int{1 - r}, RecvFrom: []int{1 - r}}
		for _, kind := range []StepKind{first, second} {
			if kind == Send {
				b.Steps = append(b.Steps, Step{Kind: Send, Src: in(0), Send: 1})
			} else {
				b.Steps = append(b.Steps, Step{Kind: Recv, Dst: out(1 - r), Recv: 1})
			}
		}
		b.Steps = append(b.Steps, Step{Kind: Copy, Src: in(0), Dst: out(r)})
		ranks[r] = []Block{b}
	}
	return explicit(Plan{Op: AllGather}, ranks...)
}

func TestSendBeforeReceive(t *testing.T) {
	if err := Check(exchange(Send, Recv)); err != nil {
		t.Error(err)
	}
}

func TestInPlaceForms(t *testing.T) {
	for _, op := range Ops() {
		err := CheckInPlace(direct(op, 3))
		var e *CheckError
		switch op {
		case AllToAll, AllToAllV, SendRecv:
			if !errors.As(err, &e) || e.Problem != Malformed {
				t.Errorf("%v: %v, want it refused", op, err)
			}
		default:
			if err != nil {
				t.Errorf("%v: %v", op, err)
			}
		}
	}
	// Apart, the early copy is right; in place it spoils what is sent later.
	p := explicit(Plan{Op: ReduceScatter}, []Block{
		{SendTo: []int{1}, RecvFrom: []int{1}, Steps: []Step{
			{Kind: Send, Src: in(1), Send: 1}, {Kind: RecvReduceCopy, Src: in(0), Dst: out(0), Recv: 1},
		}},
	}, []Block{
		{SendTo: []int{0}, RecvFrom: []int{0}, Steps: []Step{
			{Kind: Copy, Src: in(0), Dst: out(0)}, {Kind: Send, Src: in(0), Send: 1},
			{Kind: RecvReduceCopy, Src: in(1), Dst: out(0), Recv: 1},
		}},
	})
	if err := Check(p); err != nil {
		t.Errorf("apart: %v", err)
	}
	var e *CheckError
	if err := CheckInPlace(p); !errors.As(err, &e) || e.Problem != Mixed || e.Place != (Place{1, 0, 2}) {
		t.Errorf("in place: %v, want chunks mixed at rank 1 step 2", err)
	}
}

// Damage drawn at random must never make Check panic.
func FuzzCheck(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Add([]byte{1, 255, 254, 3, 128, 7, 0, 0, 12, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func(n int) int {
			if len(data) == 0 {
				return 0
			}
			v := int(data[0])
			data = data[1:]
			return v % n
		}
		base := []*Plan{
			mustBuild(t, "ring", ReduceScatter, Uniform(2, 2), Options{Channels: 2}),
			mustBuild(t, "tree", AllReduce, Uniform(2, 2), Options{Channels: 2}), echo(2, 0),
		}[next(3)]
		p, ranks := unrolled(base)
		for len(data) > 0 {
			b := &ranks[next(p.Ranks)][0]
			s := &b.Steps[next(len(b.Steps))]
			switch next(9) {
			case 0:
				s.Kind = StepKind(next(12))
			case 1:
				s.Src, s.Dst = Ref{Buffer(next(5)), next(12) - 3}, Ref{Buffer(next(5)), next(12) - 3}
			case 2:
				s.Count = next(256) - 3
			case 3:
				s.Recv, s.Send = Mask(next(256)), Mask(next(256))
			case 4:
				s.Deps = append(s.Deps, Dep{next(4) - 1, next(6) - 1})
			case 5:
				b.Window = Window{First: next(5) - 2, Stride: next(4) - 1, Count: next(5) - 1, Shift: next(9) - 1, Order: make([]int, next(4))}
			case 6:
				b.SendTo, b.RecvFrom = append(b.SendTo, next(7)-1), append(b.RecvFrom, next(7)-1)
			case 7:
				p.Slots, p.ChunkSteps, p.SliceSteps = next(9)-1, next(9)-1, next(5)-1
			case 8:
				p.Op, p.Chunks, p.Scratch, b.Channel = Op(next(12)), next(4), next(7)-1, next(4)-1
			}
		}
		_, _ = Check(p), CheckInPlace(p)
	})
}

// The sizes that are asked for: 64 ranks and some 100,000 steps, 256 and a
// million; and a plan whose order nothing but messages settles.
func BenchmarkCheck(b *testing.B) {
	for _, c := range []struct {
		name     string
		algo     string
		s        Shape
		channels int
		check    func(*Plan) error
	}{
		{"ring/64", "ring", Uniform(8, 8), 12, Check},
		{"ring/256", "ring", Uniform(32, 8), 8, Check},
		{"tree/256", "tree", Uniform(32, 8), 16, Check},
		{"tree/256/in-place", "tree", Uniform(32, 8), 16, CheckInPlace},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := mustBuild(b, c.algo, AllReduce, c.s, Options{Channels: c.channels})
			b.ReportAllocs()
			for b.Loop() {
				if err := c.check(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
