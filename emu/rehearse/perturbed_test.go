package rehearse_test

import (
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/experiment"
	"github.com/railyard/railyard/emu/rehearse"
)

// Of a batch that was ended by a death that nobody foresaw elements are not followed, even
// if somebody had begun to compare them: none is named, and nothing counts as compared.
// An expectation that then fails is not judged. The attempt after it is checked.
func TestPerturbed(t *testing.T) {
	for _, policy := range []string{"abort", "retry"} {
		s := load(t, `apiVersion: railyard/v1alpha1
kind: Scenario
metadata: {name: x}
spec:
  cluster: {system: dgx-h100, gpus: 2}
  run: [{op: all_reduce, size: 1M, onFailure: `+policy+`}]
  expect: [{run: 0, attempts: 3, wrong: 0}]
`)
		u, err := rehearse.Prepare(s, nil)
		if err != nil {
			t.Fatal(err)
		}
		local, batch := rehearse.NewLocal(u, nil), 0
		r, err := u.Run(func(b emu.Batch) (experiment.Executed, error) {
			res, err := local.Execute(b)
			if batch++; batch == 1 {
				at := res.Next()
				res.Failure = &emu.Failure{Cause: emu.PeerLost, Rank: 1, Fault: -1, At: at, Abort: at, Lost: []int{1}}
				res.Ends, res.Perturbed = nil, at
				res.Wrong, res.WrongRanks = []int64{1}, []emu.WrongRank{{Rank: 1, Elements: 1, First: []int64{0}}}
			}
			return res, err
		}, experiment.Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		u.Judge(r, nil)
		run := &r.Runs[0]
		if run.Wrong != 0 || len(run.Places) != 0 || run.Checked != (policy == "retry") {
			t.Errorf("%s: wrong %d at %v, checked %v", policy, run.Wrong, run.Places, run.Checked)
		}
		if !r.Unjudged() || r.Expect[0].State == experiment.Broken || r.Expect[1].State == experiment.Broken {
			t.Errorf("%s: unjudged %v, %+v", policy, r.Unjudged(), r.Expect)
		}
	}
}
