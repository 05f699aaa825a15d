package emu

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// KindScenario is what a scenario file says it is.
const KindScenario = "Scenario"

const (
	maxPhases     = 1000
	maxFaults     = 1000
	maxIterations = 10_000
	maxAttempts   = 100
)

// KindOf returns what a file says it is, empty when it does not. The file may be
// wrong in any way.
func KindOf(data []byte) string {
	r := newReader("")
	if root := r.document(data); root != nil {
		return peek(root, "kind")
	}
	return ""
}

// LoadScenario reads a scenario file:
//
//	apiVersion: railyard/v1alpha1
//	kind: Scenario
//	metadata: {name: nic-flap}
//	spec:
//	  cluster: {system: dgx-h100, nodes: 4, fabric: rail-ndr}
//	  seed: 7
//	  resilience: {NCCL_IB_TIMEOUT: 14, watchdog: 10s}
//	  run:
//	    - {op: all_reduce, size: 256M, algo: tree, onFailure: shrink}
//	  faults:
//	    - {at: 200us, target: node1/nic3, type: flap, period: 2ms, downFor: 500us, count: 3}
//	  expect:
//	    - {run: 0, verdict: done, busbw: ">= 100GB/s"}
//
// docs/scenarios.md lists the keys. The cluster may also be the spec of a cluster
// file, or the path of one, which open reads. All problems are reported at once,
// as LoadCluster does.
func LoadScenario(name string, data []byte, known Known, open func(path string) ([]byte, error)) (Scenario, error) {
	r := &scenarioReader{reader: newReader(name), known: known, open: open}
	s := &r.s
	s.Resilience = DefaultResilience()
	if root := r.document(data); root != nil {
		r.scenario(root)
	}
	if len(r.problems) == 0 && known.Faults.Check != nil {
		r.checked(known.Faults.Check(s))
	}
	if err := r.problems.join(); err != nil {
		return Scenario{}, err
	}
	return *s, nil
}

type scenarioReader struct {
	*reader
	s     Scenario
	known Known
	open  func(string) ([]byte, error)
}

// checked adds problems that others found.
func (r *scenarioReader) checked(err error) {
	if err == nil {
		return
	}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, e := range all {
		var p *Problem
		if errors.As(e, &p) {
			r.addAll(problems{p})
		} else {
			r.report(0, "", e.Error())
		}
	}
}

func (r *scenarioReader) scenario(root ast.Node) {
	s := &r.s
	if kind := peek(root, "kind"); kind != "" && kind != KindScenario {
		r.add(root, "kind", fmt.Sprintf("%q is not a scenario; a scenario file says %s", suggest.Clip(kind), KindScenario))
		return
	}
	r.mapping(root, "", []key{
		{name: "apiVersion", required: true, read: r.constant(APIVersion)},
		{name: "kind", required: true, read: r.constant(KindScenario)},
		{name: "metadata", required: true, read: func(path string, n ast.Node) {
			r.mapping(n, path, []key{{name: "name", required: true, read: func(path string, n ast.Node) {
				if r.text(&s.Name)(path, n); !r.bad[path] && !isName(s.Name) {
					r.add(n, path, fmt.Sprintf("%q must be up to 63 letters, digits and . _ -, a letter or digit first: results are kept in a folder of that name", suggest.Clip(s.Name)))
				}
			}}})
		}},
		{name: "spec", required: true, read: r.scenarioSpec},
	})
}

func (r *scenarioReader) scenarioSpec(path string, n ast.Node) {
	s := &r.s
	seed, given := uint64(0), false
	r.mapping(n, path, []key{
		{name: "cluster", required: true, read: r.clusterOf},
		{name: "seed", read: func(path string, n ast.Node) { r.seed(&seed)(path, n); given = true }},
		{name: "resilience", read: r.resilience},
		{name: "run", required: true, read: list(r.reader, &s.Phases, r.phase)},
		{name: "faults", read: list(r.reader, &s.Faults, r.fault)},
		{name: "expect", read: list(r.reader, &s.Expect, r.expectation)},
	})
	if given {
		s.Cluster.Seed = seed
	}
	if len(s.Phases) == 0 && !r.unread(path+".run") {
		r.add(n, path+".run", "must list at least one operation: - {op: all_reduce, size: 64M}")
	}
	if len(s.Phases) > maxPhases || len(s.Faults) > maxFaults {
		r.add(n, path, fmt.Sprintf("%d entries of run and %d faults; at most %d and %d are read", len(s.Phases), len(s.Faults), maxPhases, maxFaults))
	}
	for i, e := range s.Expect {
		field := fmt.Sprintf("%s.expect[%d].run", path, i)
		for _, run := range append([]int{e.Run}, others(e)...) {
			if run >= len(s.Phases) && e.Detect == "" && !r.unread(field) {
				r.report(r.lineOf(field), field, fmt.Sprintf("%d: there are runs 0 to %d", run, len(s.Phases)-1))
			}
		}
	}
}

// others are the runs with which an expectation compares.
func others(e Expectation) []int {
	var all []int
	for _, w := range e.Wants {
		all = append(all, w.OfRun)
	}
	return all
}

// clusterOf reads the cluster: a path, a preset in a line, or the spec of a
// cluster file.
func (r *scenarioReader) clusterOf(path string, n ast.Node) {
	if s, ok := n.(*ast.StringNode); ok {
		r.clusterFile(path, n, s.Value)
		return
	}
	c := &r.s.Cluster
	place := func(field string) string { return strings.Replace(field, "spec", path, 1) }
	if preset(n) {
		r.preset(path, n)
		place = func(field string) string {
			for _, f := range [][2]string{{".count", ".nodes"}, {".system", ".system"}, {".gpus", ".gpus"}, {".nics", ".nics"}, {"spec.nodes", ".nodes"}} {
				if strings.HasSuffix(field, f[0]) {
					return path + f[1]
				}
			}
			return path + ".fabric"
		}
	} else {
		r.spec(path, n, c)
	}
	for _, p := range c.check(r.known) {
		p.Field = place(p.Field)
		r.addAll(problems{p})
	}
}

// preset reports whether a mapping is a cluster in one line: its nodes are a
// number.
func preset(n ast.Node) bool {
	all, ok := entries(n)
	for _, e := range all {
		if e.Key.GetToken().Value == "nodes" {
			_, list := e.Value.(*ast.SequenceNode)
			return !list
		}
	}
	return ok
}

func (r *scenarioReader) preset(path string, n ast.Node) {
	c, g := &r.s.Cluster, Group{Count: 1}
	r.mapping(n, path, []key{
		{name: "system", required: true, read: r.text(&g.System)},
		{name: "nodes", read: r.count(&g.Count, MaxNodes)},
		{name: "gpus", read: r.count(&g.GPUs, maxDevices)},
		{name: "nics", read: r.count(&g.NICs, maxDevices)},
		{name: "gdr", read: r.truth(func(yes bool) { g.NoGDR = !yes })},
		{name: "fabric", read: func(path string, n ast.Node) {
			var name string
			if r.text(&name)(path, n); r.bad[path] || r.known.Fabric == nil {
				return
			}
			var err error
			if c.Fabric.Kind, c.Fabric.Link, err = r.known.Fabric(name); err != nil {
				r.add(n, path, err.Error())
			}
		}},
		{name: "oversubscription", read: r.count(&c.Fabric.Oversubscription, maxOversubscription)},
		{name: "routing", read: r.text(&c.Fabric.Routing)},
		{name: "planes", read: r.count(&c.Fabric.Planes, maxPlanes)},
		{name: "unit", read: r.count(&c.Fabric.Unit, MaxNodes)},
	})
	c.Groups = []Group{g}
}

func (r *scenarioReader) clusterFile(path string, n ast.Node, file string) {
	if r.open == nil {
		r.add(n, path, fmt.Sprintf("%q: no other file can be read here; write the cluster out", suggest.Clip(file)))
		return
	}
	data, err := r.open(file)
	if err != nil {
		r.add(n, path, err.Error())
		return
	}
	c, err := LoadCluster(file, data, r.known)
	if err != nil {
		r.checked(err)
		return
	}
	r.s.Cluster = c
}

func (r *scenarioReader) resilience(path string, n ast.Node) {
	b := &r.s.Resilience
	r.mapping(n, path, []key{
		{name: "NCCL_IB_TIMEOUT", read: r.upTo(&b.IBTimeout, 1<<30)},
		{name: "NCCL_IB_RETRY_CNT", read: r.upTo(&b.IBRetry, 7)},
		{name: "failover", read: r.truth(func(yes bool) { b.Failover = yes })},
		{name: "failback", read: r.truth(func(yes bool) { b.Failback = yes })},
		{name: "probe", read: r.span(&b.Probe)},
		{name: "recover", read: r.span(&b.Recover)},
		{name: "sweep", read: r.span(&b.Sweep)},
		{name: "control", read: r.span(&b.Control)},
		{name: "replan", read: r.span(&b.Replan)},
		{name: "watchdog", read: r.span(&b.Watchdog)},
	})
}

// upTo reads a whole number from 0.
func (r *scenarioReader) upTo(to *int, most int) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		if r.from0(to)(path, n); *to > most && !r.bad[path] {
			r.add(n, path, fmt.Sprintf("%d must be a whole number from 0 to %d", *to, most))
		}
	}
}

// maxSpan is the longest that a scenario waits for anything: instants of many such
// spans stay far from the end of int64.
const maxSpan = 720 * 3600 * shaping.Second

// span reads a duration of emulated time.
func (r *scenarioReader) span(to *shaping.Duration) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		if r.duration(to)(path, n); *to > maxSpan && !r.bad[path] {
			r.add(n, path, fmt.Sprintf("%v must be from 0 to %v", *to, maxSpan))
		}
	}
}

// value returns a scalar as it was written.
func value(n ast.Node) (string, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// parsedValue returns what reads a scalar by a function, in quotes or not.
func parsedValue[T any](r *reader, to *T, parse func(string) (T, error)) func(string, ast.Node) {
	return func(path string, n ast.Node) {
		text, ok := value(n)
		if !ok {
			r.add(n, path, fmt.Sprintf("%s must be a single value", shown(n)))
			return
		}
		v, err := parse(text)
		if err != nil {
			r.add(n, path, err.Error())
			return
		}
		*to = v
	}
}
