package simtest

import (
	"fmt"
	"math/rand/v2"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// DrawScenario returns the scenario of a seed: a cluster, operations on it, faults in
// the words of scenario files, and what is done about them. Most are small.
func DrawScenario(seed uint64) emu.Scenario {
	d := &drawing{Rand: rand.New(rand.NewPCG(seed, 6))}
	d.s = emu.Scenario{Name: fmt.Sprintf("sim-%d", seed), Cluster: d.cluster()}
	d.s.Cluster.Name, d.s.Cluster.Seed = "", seed
	f, err := fabric.NewWith(d.s.Cluster, fabric.Options{Pools: true})
	if err != nil {
		panic(fmt.Sprintf("simtest: seed %d draws a cluster that cannot be built: %v", seed, err))
	}
	d.f = f
	for range 1 + d.IntN(3) {
		d.s.Phases = append(d.s.Phases, d.phase())
	}
	d.s.Resilience = d.resilience()
	d.span = d.length()
	// No run without a fault that stops or cuts something may last so long.
	d.s.Resilience.Watchdog = 300*shaping.Millisecond + 1000*d.span
	d.faults()
	return d.s
}

// drawing is a scenario that is being drawn.
type drawing struct {
	*rand.Rand
	s    emu.Scenario
	f    *fabric.Fabric
	span shaping.Duration // how long it lasts without faults
}

func (d *drawing) chance(of int) bool { return d.IntN(of) == 0 }

// upTo draws a duration of 1 ps to most.
func (d *drawing) upTo(most shaping.Duration) shaping.Duration {
	return 1 + shaping.Duration(d.Int64N(int64(most)))
}

func (d *drawing) cluster() emu.Cluster {
	if d.chance(8) {
		return drawPods(d.Rand, 0)
	}
	for {
		c := drawCluster(d.Rand)
		for i := range c.Groups {
			g := &c.Groups[i]
			g.Count = min(g.Count, 1+d.IntN(3))
			if d.chance(3) {
				g.GPUs = min(g.GPUs, 2)
				g.NICs = min(g.NICs, g.GPUs)
			}
		}
		if _, err := fabric.New(c); err == nil { // fewer nodes may not fill a shape
			return c
		}
	}
}

func (d *drawing) resilience() emu.Resilience {
	r := emu.Resilience{IBTimeout: 1 + d.IntN(8), IBRetry: d.IntN(8), Control: d.upTo(200 * shaping.Microsecond), Replan: d.upTo(shaping.Millisecond)}
	if d.chance(12) {
		r.IBTimeout = []int{0, 32}[d.IntN(2)] // without end
	}
	r.Failover, r.Failback = d.chance(3), d.chance(2)
	r.Probe, r.Recover = d.upTo(100*shaping.Microsecond), d.upTo(100*shaping.Microsecond)
	if d.chance(2) {
		r.Sweep = d.upTo(100 * shaping.Microsecond)
	}
	return r
}

func (d *drawing) phase() emu.Phase {
	p := emu.Phase{OnFailure: emu.Policies()[d.IntN(len(emu.Policies()))], MaxAttempts: 1}
	if d.chance(4) {
		p.OnFailure = emu.Shrink // the way on that most can go wrong with
	}
	calls := 1
	if d.chance(3) {
		calls = 2 + d.IntN(2)
		p.Blocking = d.chance(2)
	}
	for range calls {
		p.Calls = append(p.Calls, d.call(&p))
	}
	if p.OnFailure == emu.Retry || p.OnFailure == emu.Shrink {
		p.MaxAttempts = 1 + d.IntN(4)
	}
	return p
}

// call draws until there is one that the cluster can carry out. Shrinking shuts out
// operations with a root.
func (d *drawing) call(p *emu.Phase) emu.Call {
	for {
		c := emu.Call{Iterations: 1 + d.IntN(3), Channels: 1 + d.IntN(4)}
		comm := d.f.All()
		if d.chance(3) && len(comm) > 1 {
			c.Ranks = subset(d.Rand, comm)
			comm = c.Ranks
		}
		d.use(&c, comm)
		one := emu.Scenario{Name: "one", Cluster: d.s.Cluster, Phases: []emu.Phase{{Calls: []emu.Call{c}, OnFailure: p.OnFailure, MaxAttempts: 1}}}
		if _, err := experiment.Prepare(one); err == nil {
			return c
		}
	}
}

// use draws what a call does, and on how much.
func (d *drawing) use(c *emu.Call, comm []int) {
	if d.chance(8) { // what NCCL would do
		ops := collective.Ops()
		c.Op, c.DType = ops[d.IntN(len(ops))], collective.Float32
	} else {
		var r emu.Run
		drawUse(d.Rand, &r, d.f.Shape(comm))
		c.Op, c.Algorithm, c.Protocol, c.DType, c.RedOp = r.Op, r.Algorithm, r.Options.Protocol.String(), r.DType, r.RedOp
	}
	c.Bytes = shaping.Bytes(1 + d.Int64N(1<<(1+d.IntN(18))))
	if d.chance(10) {
		c.Bytes = shaping.Bytes(1 + d.Int64N(1<<21))
	}
	if c.Op == collective.Barrier {
		c.Bytes = 0
	}
	c.Root = d.IntN(len(comm))
	c.InPlace = c.Op.InPlace() && d.chance(2)
}

// length returns how long the phases take where nothing fails.
func (d *drawing) length() shaping.Duration {
	u, err := experiment.Prepare(d.s)
	if err != nil {
		panic(fmt.Sprintf("simtest: %s cannot be carried out: %v", d.s.Name, err))
	}
	at := shaping.Time(0)
	session := predict.New(u.Fabric, false)
	_, err = u.Run(func(b emu.Batch) (experiment.Executed, error) {
		out, err := session.Execute(b)
		at = out.Next()
		return experiment.Executed{Outcome: out}, err
	}, experiment.Watcher{})
	if err != nil {
		panic(fmt.Sprintf("simtest: %s fails without faults: %v\n%s", d.s.Name, err, u.YAML()))
	}
	return max(at.Sub(0), shaping.Microsecond)
}
