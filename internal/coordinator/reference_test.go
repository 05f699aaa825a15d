package coordinator

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/kernel"
	"github.com/railyard/railyard/emu/predict"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/timeline"
)

// told is what a host of the kernel says of a sweep.
type told struct {
	rows     []sweep.Row
	where    []string // the time went, by row; of the daemons alone
	timeline []byte
	cost     Cost
}

// foresee runs a sweep in one kernel.
func foresee(t testing.TB, c emu.Cluster, spec sweep.Spec) told {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	sw, err := sweep.New(f, spec)
	if err != nil {
		t.Fatal(err)
	}
	var out told
	s, lines := recorded(f)
	err = sw.Run(func(_ *sweep.Case, b emu.Batch) (sweep.Result, error) {
		o, err := s.Execute(b)
		return sweep.Result{Outcome: o}, err
	}, func(r sweep.Row) error {
		out.rows = append(out.rows, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out.timeline = lines.Bytes()
	return out
}

// recorded returns a session of one kernel and where its timeline goes.
func recorded(f *fabric.Fabric) (*predict.Session, *bytes.Buffer) {
	s := predict.New(f, true)
	return s, record(s, f)
}

// record keeps the timeline of a session.
func record(s *predict.Session, f *fabric.Fabric) *bytes.Buffer {
	lines := new(bytes.Buffer)
	w := timeline.NewWriter(lines, f.PortName)
	s.Visit = func(e *kernel.Effects) error {
		for i := range e.Records {
			if err := w.Write(&e.Records[i]); err != nil {
				return err
			}
		}
		return w.Flush()
	}
	return lines
}

// identical reports the first line in which two timelines differ.
func identical(got, want []byte) error {
	if bytes.Equal(got, want) {
		return nil
	}
	a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Errorf("record %d differs:\n  virtual %s\n  predict %s", i, a[i], b[i])
		}
	}
	return fmt.Errorf("%d records from virtual, %d from predict", len(a)-1, len(b)-1)
}

// foreseenPair is what predict says of two communicators at once.
type foreseenPair struct {
	batch    emu.Batch
	outcome  emu.Outcome
	timeline []byte
}

func foreseePair(t testing.TB, c emu.Cluster) foreseenPair {
	t.Helper()
	f, err := fabric.New(c)
	if err != nil {
		t.Fatal(err)
	}
	p := foreseenPair{batch: pair(f)}
	s, lines := recorded(f)
	if p.outcome, err = s.Execute(p.batch); err != nil {
		t.Fatal(err)
	}
	p.timeline = lines.Bytes()
	return p
}
