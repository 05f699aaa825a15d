package simtest

import (
	"fmt"
	"slices"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/shaping"
)

// Run is what one host of the kernel said of a case.
type Run struct {
	Outcomes []emu.Outcome
	Records  []emu.Record
	// Frames counts what crossed between participants.
	Frames uint64
	// Wrong is what is wrong with the elements, where there were any.
	Wrong error
}

// Predict runs a case in one kernel.
func (c *Case) Predict() (Run, error) {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return Run{}, err
	}
	var r Run
	s := predict.New(f, true)
	s.Visit = func(e *kernel.Effects) error {
		r.Records = append(r.Records, e.Records...)
		return nil
	}
	return r, c.each(s.Execute, &r)
}

// Virtual runs a case on n participants.
func (c *Case) Virtual(n int, seed uint64) (Run, error) {
	f, err := fabric.New(c.Cluster)
	if err != nil {
		return Run{}, err
	}
	var r Run
	v := NewVirtual(f, c.Host(n, seed), seed, true)
	err = c.each(func(b emu.Batch) (emu.Outcome, error) {
		out, err := v.Execute(b)
		if err == nil && r.Wrong == nil {
			r.Wrong = Right(b, v.Verdicts())
		}
		return out, err
	}, &r)
	r.Records, r.Frames = v.Records(), v.Conductor().Frames()
	return r, err
}

// each executes the batches one after the other, each at the offset that the
// one before leaves.
func (c *Case) each(execute func(emu.Batch) (emu.Outcome, error), r *Run) error {
	at := shaping.Time(0)
	for i, b := range c.Batches {
		b.Runs = slices.Clone(b.Runs)
		for j := range b.Runs {
			b.Runs[j].Offset = b.Runs[j].Offset.Add(at.Sub(0))
		}
		out, err := execute(b)
		if err != nil {
			return fmt.Errorf("batch %d: %w", i, err)
		}
		for j := range b.Runs {
			if !out.Done(j, &b.Runs[j]) {
				return fmt.Errorf("batch %d run %d did not end on every rank", i, j)
			}
		}
		r.Outcomes = append(r.Outcomes, out)
		at = out.Next()
	}
	return nil
}

// Compare reports the first difference between two runs of a case.
func Compare(a, b Run) error {
	for i := range min(len(a.Records), len(b.Records)) {
		if a.Records[i] != b.Records[i] {
			return fmt.Errorf("record %d differs:\n  %+v\n  %+v", i, a.Records[i], b.Records[i])
		}
	}
	if len(a.Records) != len(b.Records) {
		return fmt.Errorf("%d records against %d", len(a.Records), len(b.Records))
	}
	for i := range a.Outcomes {
		x, y := a.Outcomes[i], b.Outcomes[i]
		if !slices.Equal(x.Ends, y.Ends) || x.Now != y.Now || x.Events != y.Events {
			return fmt.Errorf("batch %d: ends %v against %v, last instant %d against %d, events %d against %d",
				i, x.Ends, y.Ends, x.Now, y.Now, x.Events, y.Events)
		}
	}
	return nil
}

// Capacity reports a port that was busy with two things at once, or carried
// more than rate × time.
func Capacity(f *fabric.Fabric, records []emu.Record) error {
	byPort := map[int32][]emu.Record{}
	for _, r := range records {
		if r.Kind == emu.Carry {
			byPort[r.Port] = append(byPort[r.Port], r)
		}
	}
	for id := range int32(f.Ports()) {
		if err := capacity(f.Port(id), byPort[id]); err != nil {
			return err
		}
	}
	return nil
}

func capacity(p fabric.Port, records []emu.Record) error {
	slices.SortFunc(records, func(a, b emu.Record) int { return int(a.Start - b.Start) })
	end := shaping.Time(0)
	var bytes shaping.Bytes
	var busy shaping.Duration
	for _, r := range records {
		if r.Start < end {
			return fmt.Errorf("port %s: busy until %d ps, and again from %d ps", p.Name, int64(end), int64(r.Start))
		}
		// A booking in pieces may be cut within a byte.
		if most := p.Rate.Carries(r.Duration) + 1; r.Bytes > most {
			return fmt.Errorf("port %s: %d bytes in %d ps; at most %d fit", p.Name, r.Bytes, int64(r.Duration), most)
		}
		end = r.Start.Add(r.Duration)
		bytes += r.Bytes
		busy += r.Duration
	}
	if most := p.Rate.Carries(busy); bytes > most {
		return fmt.Errorf("port %s: %d bytes in %d ps in all; at most %d fit", p.Name, bytes, int64(busy), most)
	}
	return nil
}
