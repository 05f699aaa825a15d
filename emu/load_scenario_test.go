package emu

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// scenarioKnown has two types of faults: flap, and kill without parameters.
func scenarioKnown() Known {
	k := testKnown
	k.Fabric = func(name string) (kind, link string, err error) {
		if name != "rail-ndr" {
			return "", "", errors.New(suggest.Unknown(name, []string{"rail-ndr"}))
		}
		return "rail-optimized", "ndr", nil
	}
	k.Faults = KnownFaults{
		Type: func(word string) (string, error) {
			if word == "flap" || word == "kill" {
				return word, nil
			}
			return "", errors.New(suggest.Unknown(word, []string{"flap", "kill"}))
		},
		Set: func(f *Fault, word, value string) (err error) {
			switch {
			case word == "at":
				f.When.At, err = shaping.ParseDuration(value)
			case word == "downFor" && f.Type == "flap":
				f.DownFor, err = shaping.ParseDuration(value)
			case word == "afterOps":
				_, err = fmt.Sscan(value, &f.When.AfterOps)
			default:
				err = fmt.Errorf("%s: %s has no such parameter", word, f.Type)
			}
			return err
		},
		Words: func(f *Fault) (all [][2]string) {
			for _, d := range []struct {
				word string
				v    shaping.Duration
			}{{"at", f.When.At}, {"downFor", f.DownFor}} {
				if d.v != 0 {
					all = append(all, [2]string{d.word, d.v.String()})
				}
			}
			if f.When.AfterOps > 0 {
				all = append(all, [2]string{"afterOps", fmt.Sprint(f.When.AfterOps)})
			}
			return all
		},
	}
	return k
}

const head = "apiVersion: railyard/v1alpha1\nkind: Scenario\nmetadata: {name: x}\nspec:\n"

// The files under testdata/scenario hold scenarios, good and bad, and what is said
// of them. -rewrite writes them anew.
func TestLoadScenario(t *testing.T) {
	open := func(path string) ([]byte, error) {
		if path != "two-pods.yaml" {
			return nil, fmt.Errorf("open %s: no such file", path)
		}
		return []byte("apiVersion: railyard/v1alpha1\nkind: Cluster\nspec: {nodes: [{count: 2, system: dgx-h100}], seed: 3}\n"), nil
	}
	datadriven.Walk(t, "testdata/scenario", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			text := d.Input + "\n"
			if d.Cmd == "spec" {
				text = head + "  " + text
			}
			s, err := LoadScenario("flap.yaml", []byte(text), scenarioKnown(), open)
			if err != nil {
				return err.Error() + "\n"
			}
			return string(s.YAML(scenarioKnown().Faults.Words))
		})
	})
}

func FuzzLoadScenario(f *testing.F) {
	for _, s := range []string{
		head + "  cluster: {system: dgx-h100, nodes: 4, fabric: rail-ndr}\n  seed: 7\n  run:\n    - {op: all_reduce, size: 256M, algo: tree, onFailure: shrink}\n  faults:\n    - {at: 200us, target: node1/nic3, type: flap, downFor: 500us}\n  expect:\n    - {run: 0, verdict: done, survivors: 24}\n    - {detect: node2, within: 1.5s}\n",
		head + "  cluster: {nodes: [{count: 1, system: dgx-h100}]}\n  resilience: {NCCL_IB_TIMEOUT: 1, sweep: 1s, failover: true}\n  run:\n    - {together: [{op: broadcast, size: 8, root: 1, ranks: \"0-3,5\"}, {op: barrier}], blocking: true, timeout: 1s}\n  faults: [{type: kill, after: 1 op}, {type: flap, target: x, step: {step: 1, rank: 2}}]\n  expect: [{run: 0, busbw: \"94%..95.5% of run 0\", time: \"<= 1ms\", cause: deadlock}]\n",
		head + "  cluster: two-pods.yaml\n  run: []\n", head, "{}", "[]", "kind: Scenario\nspec: {faults: [{}]}", head + "  expect: [{run: 0, wrong: 1..0}]",
	} {
		f.Add([]byte(s))
	}
	words := scenarioKnown().Faults.Words
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := LoadScenario("fuzz.yaml", data, scenarioKnown(), nil)
		if err != nil {
			return
		}
		again, err := LoadScenario("again.yaml", s.YAML(words), scenarioKnown(), nil)
		if s.Cluster.Name = ""; err != nil || !reflect.DeepEqual(again, s) {
			t.Errorf("%+v prints\n%s\nwhich reads as %+v, %v", s, s.YAML(words), again, err)
		}
	})
}

// Every key of expectations is read, printed and read back.
func TestWantKeys(t *testing.T) {
	for _, k := range WantKeys {
		for _, text := range map[WantKind][]string{
			WantWord: append(k.Words, "some words"), WantCount: {"1", ">= 2", "0..7"}, WantRate: {"1GB/s", "< 400Gb/s", "90% of run 0"},
			WantDuration: {"!= 1ms", "1us..2us", "> 105.5% of run 3"}, WantBytes: {"0B", "<= 1M"},
		}[k.Kind] {
			w, err := k.parse(text)
			if k.Words != nil && text == "some words" {
				if err == nil || !strings.Contains(err.Error(), k.Words[0]) {
					t.Errorf("%s: %q: %v; want what is allowed", k.Word, text, err)
				}
				continue
			}
			again, err2 := k.parse(w.Text())
			if err != nil || err2 != nil || again != w {
				t.Errorf("%s: %q reads as %+v (%v), prints as %q and then reads as %+v (%v)", k.Word, text, w, err, w.Text(), again, err2)
			}
		}
	}
}

func TestRanks(t *testing.T) {
	for text, want := range map[string]string{"0-3,5": "0-3,5", "1,2,3": "1-3", "7, 6": "7,6"} { // order: each alone
		got, err := ParseRanks(text)
		if err != nil || FormatRanks(got) != want {
			t.Errorf("%q reads as %v, %v; want %s", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "3-1", "a", "0,0", "-1", "0-999999999"} {
		if got, err := ParseRanks(bad); err == nil {
			t.Errorf("%q reads as %v", bad, got)
		}
	}
}
