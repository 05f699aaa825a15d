package simtest

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/fault"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

func (t *truth) port(name string) (fabric.PortID, bool) {
	for id := range fabric.PortID(t.Setup.Fabric.Ports()) {
		if t.Setup.Fabric.PortName(id) == name {
			return id, true
		}
	}
	return 0, false
}

// severed checks that a way that was given up had been cut: its port was down, or
// lost packets, or a partition parted the two, within the last try.
func (t *truth) severed(f *emu.Failure) error {
	id, ok := t.port(f.Link)
	if !ok && !t.struck(f) {
		return fmt.Errorf("there is no port %q, nor was such a part struck", f.Link)
	} else if !ok {
		return t.patient(f)
	}
	const slack = 2 * shaping.Millisecond // on the way, and in queues
	from := max(f.At.Add(-t.bear.Try()-slack), 0)
	comm := t.Runs[f.Run].Comm
	s, line := t.Setup.Schedule, t.Setup.Schedule.Port(id)
	apart := s.Apart(t.Setup.Fabric.NodeOf(comm[f.Rank]), t.Setup.Fabric.NodeOf(comm[f.Peer]))
	if _, down := apart.DownDuring(from, f.At); down {
		return nil
	}
	if !worst(line, from, f.At) {
		return fmt.Errorf("%s was up, and lost nothing from %d ps on", f.Link, from)
	}
	return t.patient(f)
}

// struck reports whether a fault had struck a part that a failure names, the fault that
// it names.
func (t *truth) struck(f *emu.Failure) bool {
	return slices.ContainsFunc(t.Setup.Schedule.Struck(), func(s fault.Struck) bool {
		return s.Fault == f.Fault && s.From <= f.At && slices.Contains(s.Parts, f.Link)
	})
}

// worst reports whether a part loses, or carries nothing, at some time of a span.
func worst(l *fault.Line, from, to shaping.Time) bool {
	for at := from; at <= to; {
		s, until := l.At(at)
		if s.Down || s.Share == 0 || s.Loss+s.Corrupt > 0 {
			return true
		}
		if at = until; until == shaping.Never {
			break
		}
	}
	return false
}

// patient checks that a single outage was not given up on before its tries were used
// up: a flap within the budget only costs time.
func (t *truth) patient(f *emu.Failure) error {
	faults := t.Setup.Scenario.Faults
	if len(faults) != 1 || t.Setup.Bear.Failover || faults[0].Type != "down" && faults[0].Type != "flap" {
		return nil
	}
	for _, s := range t.Setup.Schedule.Struck() {
		if s.From <= f.At && s.To > f.At && f.At.Sub(s.From) >= t.bear.Try()*shaping.Duration(t.bear.IBRetry) {
			return nil
		}
	}
	if len(t.Setup.Schedule.Struck()) > 1 {
		return nil // outages that each met a try
	}
	return fmt.Errorf("given up before %d tries of %v were used up", t.bear.IBRetry, t.bear.Try())
}

// hung checks the word of a hang.
func (t *truth) hung(f *emu.Failure) error {
	r := &t.Runs[f.Run]
	if f.At.Sub(r.Offset) < t.bear.Watchdog {
		return fmt.Errorf("the watchdog has %v, and barked after %v", t.bear.Watchdog, f.At.Sub(r.Offset))
	}
	gpu := r.Comm[f.Rank]
	switch f.Hang {
	case emu.MissingEnter:
		if !t.stayedOut(f, f.Rank) {
			return fmt.Errorf("rank %d has entered operation %d", f.Rank, f.Seq)
		}
	case emu.MissingExit:
		if !t.stops(gpu, f.At, fault.Hung, fault.Paused, fault.Killed, fault.Lost) || t.stayedOut(f, f.Rank) {
			return fmt.Errorf("rank %d is not stopped in operation %d", f.Rank, f.Seq)
		}
	case emu.AllRanksStuck:
		if !t.cut() && !t.lateOrOut() {
			return fmt.Errorf("nothing can have stopped them")
		}
		return nil
	default:
		return fmt.Errorf("a timeout, and no word for it: %q", f.Hang)
	}
	if !t.cut() && !t.lateOrOut() && len(t.Setup.Schedule.Stops()) == 0 {
		return fmt.Errorf("nothing can have stopped anybody")
	}
	return nil
}

// cut reports whether some way loses what is sent, or carries nothing, at some time.
func (t *truth) cut() bool {
	s := t.Setup.Schedule
	for id := range fabric.PortID(t.Setup.Fabric.Ports()) {
		if worst(s.Port(id), 0, shaping.Never-1) {
			return true
		}
	}
	for n := range t.Setup.Fabric.Nodes() {
		if s.Apart(0, n) != nil || s.Apart(n, t.Setup.Fabric.Nodes()-1) != nil {
			return true
		}
	}
	return false
}

// lateOrOut reports whether some rank calls late, or not what it should.
func (t *truth) lateOrOut() bool { return len(t.Setup.Schedule.Calls()) > 0 }

// conserved checks that bytes neither vanish nor come from nowhere: of what leaves by
// NICs as much arrives, but for what is lost; and beyond what was sent again it is as
// much as where nothing is ever lost.
func (t *truth) conserved() error {
	out, in := t.wires(t.Records)
	switch {
	case in > out:
		return fmt.Errorf("%v left by NICs, and %v arrived", out, in)
	case t.Failure != nil:
		return nil // what was on its way is dropped
	case t.Redone == 0 && in != out:
		return fmt.Errorf("%v left by NICs, %v arrived, and nothing was sent again", out, in)
	case t.Redone > 0 && out-in < t.Redone:
		return fmt.Errorf("%v of %v did not arrive, and %v was sent again", out-in, out, t.Redone)
	case t.Redone == 0:
		return nil
	}
	var calm Run
	s := predict.New(t.Setup.Fabric, true)
	s.Visit = func(e *kernel.Effects) error {
		calm.Records = append(calm.Records, e.Records...)
		return nil
	}
	b := t.Batch
	b.Runs = slices.Clone(b.Runs)
	for i := range b.Runs {
		b.Runs[i].Absent = nil
	}
	if _, err := s.Execute(b); err != nil {
		return err
	}
	if once, _ := t.wires(calm.Records); out-t.Redone != once {
		return fmt.Errorf("%v left by NICs, %v of it sent again; without faults it is %v", out, t.Redone, once)
	}
	return nil
}

// wires returns how much left by NICs, and how much came in by them.
func (t *truth) wires(records []emu.Record) (out, in shaping.Bytes) {
	f := t.Setup.Fabric
	side := make([]int8, f.Ports())
	for n := range f.Nodes() {
		for nic := range f.NICs(n) {
			side[f.NICEgress(n, nic)], side[f.NICIngress(n, nic)] = 1, -1
		}
	}
	for i := range records {
		r := &records[i]
		if r.Kind != emu.Carry {
			continue
		}
		switch side[r.Port] {
		case 1:
			out += r.Bytes
		case -1:
			in += r.Bytes
		}
	}
	return out, in
}
