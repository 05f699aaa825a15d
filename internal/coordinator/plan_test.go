package coordinator

import (
	"bytes"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/wire"
)

// ringFile is our ring over the nine ranks of a trio, as a file.
func ringFile(t testing.TB) string {
	t.Helper()
	p, err := collective.Build("ring", collective.AllReduce, collective.Uniform(3, 3), collective.Options{Channels: 2})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := msccl.Export(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// planned is a sweep that runs a file.
func planned(t testing.TB, text string) sweep.Spec {
	t.Helper()
	f, err := msccl.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Plan(msccl.AnyRoot)
	if err != nil {
		t.Fatal(err)
	}
	s := single(sweep.Auto)
	s.UsePlan(p, []byte(text), f.Layouts())
	s.MinBytes, s.MaxBytes = 4*18*911, 4*18*911 // nine ranks × two channels; nothing else divides
	return s
}

// TestPlanFile: a plan from a file runs on the daemons with right answers, and
// its timeline is that of one kernel, byte for byte.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	spec := planned(t, ringFile(t))
	want := foresee(t, trio(), spec)
	gather(t, trio(), 2).lawful(spec, want)
}

// TestPlanFileInOneLayout: a layout that the file is not meant for is not run,
// in full or as a scale model.
func TestPlanFileInOneLayout(t *testing.T) {
	t.Parallel()
	r := gather(t, trio(), 3)
	for _, payload := range []sweep.Payload{sweep.PayloadFull, sweep.PayloadScaled} {
		spec := planned(t, strings.Replace(ringFile(t), `outofplace="1"`, `outofplace="0"`, 1))
		spec.Payload, spec.MinBytes, spec.MaxBytes = payload, 4*18*300_001, 4*18*300_001
		got, err := r.rows(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row := got.rows[0]; !row.OutOfPlace.NA || row.InPlace.NA || !right(row.InPlace) || row.Case.Payload != payload {
			t.Errorf("%v: %+v, in place %+v", payload, row.OutOfPlace, row.InPlace)
		}
	}
}

// TestWrongPlanFile: a plan that is wrong runs, and its elements are wrong; one
// that reads what nothing has written harms nobody.
func TestWrongPlanFile(t *testing.T) {
	t.Parallel()
	r := gather(t, trio(), 2)
	file := ringFile(t)
	for name, text := range map[string]string{
		"a step that stores nothing":    strings.Replace(file, `type="rrcs"`, `type="rrs"`, 1),
		"another chunk":                 strings.Replace(file, `type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1"`, `type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="2"`, 1),
		"scratch that nothing has set":  strings.Replace(strings.ReplaceAll(file, `s_chunks="0"`, `s_chunks="1"`), `type="rrs" srcbuf="i" srcoff="8"`, `type="rrs" srcbuf="s" srcoff="0"`, 1),
		"a contribution counted double": strings.Replace(file, `</tb>`, `<step type="re" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"/></tb>`, 1),
	} { // order: each case alone
		if text == file {
			t.Fatalf("%s: nothing was edited", name)
		}
		got, err := r.rows(planned(t, text), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if row := got.rows[0]; row.OutOfPlace.Wrong == 0 || row.InPlace.Wrong == 0 {
			t.Errorf("%s: %+v, in place %+v, want wrong elements in both", name, row.OutOfPlace, row.InPlace)
		}
	}
}

// TestDeadPlanFile: a plan that stops ends as a deadlock that names the first
// place in the order of ranks, whoever told first.
func TestDeadPlanFile(t *testing.T) {
	t.Parallel()
	r := gather(t, trio(), 3)
	text := strings.Replace(ringFile(t), `depid="-1" deps="-1"`, `depid="1" deps="99"`, 1)
	_, err := r.rows(planned(t, text), nil)
	f := cause(t, err)
	if f.Cause != wire.Deadlock || f.Place.Rank != 0 || f.Place.Step != 0 || !strings.Contains(f.Text, "rank 0 block 0 step 0 waits for a step of rank 0, and ") {
		t.Errorf("%v", f)
	}
}
