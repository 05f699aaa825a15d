package simtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/transit"
	"github.com/railyard/railyard/shaping"
)

// TestPacedInTime: under the paced clock, as long as every frame arrives before
// its stamp, times are those of predict to the picosecond, whenever the hosts
// look at their clocks and in whichever order frames come. Nothing is sent
// before its departure, and from there to its stamp there is the slack that the
// kernels promise.
func TestPacedInTime(t *testing.T) {
	crossed := uint64(0)
	for seed := range uint64(12) {
		c := Draw(1000 + seed)
		want, err := c.Predict()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{1, 2, 4} {
			n = min(n, c.Cluster.Nodes())
			got, err := c.paced(n, seed)
			if err == nil {
				err = Compare(want, got)
			}
			if err == nil {
				err = got.Wrong
			}
			if err != nil {
				t.Fatalf("seed %d on %d participants: %v\n%v", c.Seed, n, err, c)
			}
			crossed += got.Frames
		}
	}
	if crossed == 0 {
		t.Fatal("no frame crossed between participants")
	}
}

// paced runs a case on n participants that all go by one clock, which is looked
// at at drawn instants.
func (c *Case) paced(n int, seed uint64) (Run, error) {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return Run{}, err
	}
	var r Run
	v := NewVirtual(f, c.Host(n, seed), seed, true)
	err = c.each(func(b emu.Batch) (emu.Outcome, error) {
		p := &pacedHosts{Virtual: v, rng: rand.New(rand.NewPCG(seed, 2)), relayed: make([][]transit.Header, len(v.kernels))}
		out, err := p.execute(b)
		if err == nil && r.Wrong == nil {
			r.Wrong = Right(b, v.Verdicts())
		}
		r.Frames += p.frames
		return out, err
	}, &r)
	r.Records = v.Records()
	return r, err
}

// pacedHosts are the participants of a Virtual under the paced clock.
type pacedHosts struct {
	*Virtual
	rng     *rand.Rand
	slack   shaping.Duration
	relayed [][]transit.Header // by the fabric, to each participant
	frames  uint64
	out     emu.Outcome
}

func (p *pacedHosts) execute(b emu.Batch) (emu.Outcome, error) {
	before := p.events()
	p.hosts = make([]elements, len(p.kernels))
	p.slack = shaping.Duration(shaping.Never)
	if p.shared != nil {
		p.slack = p.fabric.LeastHop()
	}
	for i, k := range p.kernels {
		w, err := kernel.Lay(p.fabric, b, func(node int) bool { return p.owners.Node[node] == i })
		if err != nil {
			return p.out, err
		}
		p.hosts[i] = newElements(b, w)
		k.Begin(b, w)
		p.slack = min(p.slack, k.Slack())
	}
	if p.slack <= 0 {
		return p.out, fmt.Errorf("the slack is %d ps", p.slack)
	}
	for now := p.next() - 1; ; {
		next := p.next()
		if next == shaping.Never {
			break
		}
		// Within the slack nothing that is sent after now can be due.
		now = max(now, next-1)
		until := now.Add(1 + shaping.Duration(p.rng.Int64N(int64(min(p.slack, shaping.Millisecond)))))
		if err := p.step(now, until); err != nil {
			return p.out, err
		}
		now = until
	}
	if p.shared != nil {
		p.records = append(p.records, p.shared.TakeRecords()...)
		p.out.Now = max(p.out.Now, p.shared.Now())
	}
	for _, k := range p.kernels {
		p.out.Now = max(p.out.Now, k.Now())
	}
	p.out.Events = p.events() - before
	emu.SortEnds(p.out.Ends)
	err := p.stuck()
	if err == nil {
		p.verdicts = judge(b, p.hosts)
	}
	return p.out, err
}

// step takes all participants, in any order, from an instant to another.
func (p *pacedHosts) step(now, until shaping.Time) error {
	for _, i := range p.rng.Perm(len(p.kernels) + 1) {
		if i == len(p.kernels) {
			if err := p.forward(until); err != nil {
				return err
			}
			continue
		}
		k := p.kernels[i]
		for from := range p.kernels {
			p.deliver(i, from, until)
		}
		for _, h := range p.relayed[i] {
			k.Accept(h)
		}
		p.relayed[i] = nil
		for k.Pace(until+1, 1+p.rng.IntN(1000)); k.Next() <= until; k.Pace(until+1, 1+p.rng.IntN(1000)) {
		}
		if err := p.effects(i, now); err != nil {
			return err
		}
	}
	return nil
}

// deliver hands over what is due by an instant, and any number of what is not.
// Elements whose headers come by way of the fabric are handed over at once.
func (p *pacedHosts) deliver(to, from int, until shaping.Time) {
	q := p.inbox[to][from]
	n := p.rng.IntN(len(q) + 1)
	for i := range q {
		if q[i].Alone || q[i].Tail <= until {
			n = max(n, i+1)
		}
	}
	for range n {
		p.take(to, from)
	}
}

func (p *pacedHosts) effects(i int, now shaping.Time) error {
	k := p.kernels[i]
	e := k.Effects()
	p.hosts[i].move(e.Moves, nil)
	for j := range e.Out {
		m := &e.Out[j]
		if m.Departs <= now || m.Tail.Sub(m.Departs) < p.slack {
			return fmt.Errorf("a frame departs at %d and is due at %d, sent after %d; the slack is %d", m.Departs, m.Tail, now, p.slack)
		}
		p.send(i, m)
	}
	p.out.Ends = append(p.out.Ends, e.Ends...)
	p.records = append(p.records, e.Records...)
	k.Forget()
	return nil
}

func (p *pacedHosts) send(i int, m *kernel.Emission) {
	f, to := message{Header: m.Header}, m.To
	if to == p.owners.Shared {
		p.shared.Accept(m.Header)
		if to = p.kernels[i].Host(m); to == i || !m.Payload {
			return
		}
		f.Alone = true
	}
	if m.Payload {
		f.elements = p.hosts[i][m.Run].Take(int(m.Conn))
	}
	p.inbox[to][i] = append(p.inbox[to][i], f)
	p.frames++
}

// forward runs the fabric up to and including an instant.
func (p *pacedHosts) forward(until shaping.Time) (err error) {
	if p.shared == nil {
		return nil
	}
	for p.shared.Next() <= until {
		p.shared.Forward(until+1, func(e transit.Emission, _ shaping.Time) {
			if e.Tail.Sub(p.shared.Now()) < p.slack {
				err = fmt.Errorf("the fabric hands on a frame at %d that is due at %d; the slack is %d", p.shared.Now(), e.Tail, p.slack)
			}
			p.relayed[e.To] = append(p.relayed[e.To], e.Header)
		})
	}
	return err
}

// next returns the earliest instant at which something is pending anywhere.
func (p *pacedHosts) next() shaping.Time {
	at := shaping.Never
	for i, k := range p.kernels {
		at = min(at, k.Next())
		for from := range p.kernels {
			for j := range p.inbox[i][from] {
				at = min(at, p.inbox[i][from][j].Tail)
			}
		}
		for j := range p.relayed[i] {
			at = min(at, p.relayed[i][j].Tail)
		}
	}
	if p.shared != nil {
		at = min(at, p.shared.Next())
	}
	return at
}

func (p *pacedHosts) events() (n uint64) {
	for _, k := range p.kernels {
		n += k.Popped()
	}
	if p.shared != nil {
		n += p.shared.Popped()
	}
	return n
}
