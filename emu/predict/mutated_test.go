package predict_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/predict"
)

var numbers = regexp.MustCompile(`(srcoff|dstoff|deps|cnt)="[0-9]+"`)
var kinds = regexp.MustCompile(`type="(r|s|rcs|rrc|rrs|rrcs|cpy|re)"`)

// TestMutatedPlans: the proof of a file and its execution on real elements say
// the same, whatever is wrong with the file, and nothing panics.
func TestMutatedPlans(t *testing.T) {
	var files []string
	for _, op := range []collective.Op{collective.AllReduce, collective.AllGather, collective.ReduceScatter} {
		p, err := collective.Build("ring", op, collective.Uniform(1, 3), collective.Options{Channels: 1})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := msccl.Export(&b, p); err != nil {
			t.Fatal(err)
		}
		files = append(files, strings.ReplaceAll(b.String(), `s_chunks="0"`, `s_chunks="2"`))
	}
	seen := map[string]int{}
	for seed := range uint64(600) {
		draw := rand.New(rand.NewPCG(seed, 5))
		text := files[draw.IntN(len(files))]
		for range 1 + draw.IntN(2) {
			text = mutate(draw, text)
		}
		f, err := msccl.Parse([]byte(text))
		if err != nil {
			seen["refused"]++
			continue
		}
		verdicts, err := f.Judge(msccl.AnyRoot)
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Plan(msccl.AnyRoot)
		if err != nil {
			t.Fatal(err)
		}
		for i := range verdicts {
			seen[agree(t, seed, p, &verdicts[i])]++
		}
	}
	t.Log(seen)
	for _, kind := range []string{"refused", "right", "wrong", "deadlock"} {
		if seen[kind] < 20 {
			t.Errorf("%v: too few to show anything", seen)
		}
	}
}

// agree carries a plan out and compares what comes of it with the verdict.
func agree(t *testing.T, seed uint64, p *collective.Plan, v *msccl.Verdict) string {
	if v.Err != nil && v.Err.Problem == collective.Unpaired || v.Races > 0 {
		return "left to chance, or to the next loop"
	}
	wrong, err := carryOut(t, p, 32*int64(p.Chunks), v.InPlace)
	var stuck *predict.StuckError
	dead := v.Err != nil && v.Err.Problem == collective.Deadlock
	switch {
	case errors.As(err, &stuck) != dead || err != nil && stuck == nil:
		t.Errorf("seed %d: %v; the proof says %s", seed, err, v.Text)
	case dead && len(stuck.Blocks) != len(v.Err.Stuck):
		t.Errorf("seed %d: %d blocks are stuck; the proof says %s", seed, len(stuck.Blocks), v.Text)
	case dead:
		return "deadlock"
	case (wrong > 0) != (v.Err != nil):
		t.Errorf("seed %d: %d elements are wrong; the proof says %s", seed, wrong, v.Text)
	case wrong > 0:
		return "wrong"
	}
	return "right"
}

// mutate changes one number, buffer or kind of a step.
func mutate(draw *rand.Rand, text string) string {
	pattern := []*regexp.Regexp{numbers, kinds, regexp.MustCompile(`(src|dst)buf="[ios]"`)}[draw.IntN(3)]
	all := pattern.FindAllStringIndex(text, -1)
	at := all[draw.IntN(len(all))]
	name, _, _ := strings.Cut(text[at[0]:at[1]], "=")
	var value string
	switch {
	case name == "type":
		value = []string{"r", "s", "rcs", "rrc", "rrs", "rrcs", "cpy", "re", "nop"}[draw.IntN(9)]
	case strings.HasSuffix(name, "buf"):
		value = []string{"i", "o", "s"}[draw.IntN(3)]
	default:
		value = strconv.Itoa(draw.IntN(3))
	}
	return text[:at[0]] + name + `="` + value + `"` + text[at[1]:]
}
