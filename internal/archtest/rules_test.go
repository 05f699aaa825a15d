package archtest

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// rules are all rules of the tree.
var rules = []struct {
	name  string
	judge rule
}{
	{"table", tableOrdered},
	{"used", tableUsed},
	{"imports", importsKeepTable},
	{"tests", testsKeepLevel},
	{"never", neverReached},
	{"concurrency", noConcurrency},
	{"compile", compiles},
	{"map", mapsOrdered},
	{"float", noFloats},
	{"file size", fileSizes},
	{"function size", funcSizes},
	{"package doc", packageDocs},
	{"package map", packageMaps},
	{"init", noInit},
	{"stdout", noStdout},
	{"mark", noMarks},
	{"machine path", noMachinePaths},
}

// checkout is the tree this test stands in, read once.
var checkout = sync.OnceValues(func() (*tree, error) { return load(os.DirFS("../.."), table) })

// TestRules holds the tree to its rules.
func TestRules(t *testing.T) {
	tr, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range r.judge(tr) {
				t.Error(f)
			}
		})
	}
}

// TestQuestions lists (with -v) what a reviewer should ask about: files beyond
// fileQuestion lines, and rows whose package is not there.
func TestQuestions(t *testing.T) {
	tr, err := checkout()
	if err != nil {
		t.Fatal(err)
	}
	tr.handwritten(func(_ *pkg, f *file) {
		if n := f.lines(); n > fileQuestion {
			t.Logf("%s: %d lines, is it one thing?", f.path, n)
		}
	})
	for _, r := range tr.table {
		if tr.find(r.path) == nil {
			t.Logf("%s: a row without a package", r.path)
		}
	}
}

// sample is a small module and what a rule must say about it: one substring
// for each finding, in order; none when all is well.
type sample struct {
	rule, name string
	files      map[string]string
	table      []row // nil: sampleTable
	want       []string
}

// samples break each rule, and keep it where it is easily mistaken.
var samples = slices.Concat(importSamples, tableSamples, usedSamples, puritySamples, typeSamples, styleSamples, textSamples)

// sampleTable has one package of each kind.
var sampleTable = []row{
	{path: "core", level: pure, reason: "r"},
	{path: "core/room", level: pure, imports: []string{"core"}, modules: []string{"example.com/yaml"},
		std: []string{"unsafe"}, floats: "elements", reason: "r"},
	{path: "kernel", level: pure, imports: []string{"core"}, reason: "r"},
	{path: "daemon", level: host, imports: []string{"core", "core/room"}, never: []string{"kernel"}, reason: "no theatre"},
	{path: "main", level: program, imports: []string{"daemon", "kernel"}, stdout: true, reason: "r"},
	{path: "draw", level: support, imports: []string{"kernel"}, reason: "r"},
}

// TestSamples judges the samples. A rule without a sample that breaks it may
// well be one that never says anything, and one without a sample that keeps it
// may be one that always does.
func TestSamples(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			broken, kept := 0, 0
			for _, s := range samples {
				if s.rule != r.name {
					continue
				}
				if len(s.want) > 0 {
					broken++
				} else {
					kept++
				}
				t.Run(s.name, func(t *testing.T) { compare(t, r.judge(s.load(t)), s.want) })
			}
			if broken == 0 || kept == 0 {
				t.Errorf("%d samples break the rule and %d keep it; both kinds are needed", broken, kept)
			}
		})
	}
}

func (s sample) load(t *testing.T) *tree {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, src := range s.files {
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	table := s.table
	if table == nil {
		table = sampleTable
	}
	tr, err := load(fsys, table)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func compare(t *testing.T, got []finding, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d findings, want %d:\n%v", len(got), len(want), got)
	}
	for i, f := range got {
		if !strings.Contains(f.String(), want[i]) {
			t.Errorf("finding %d is %q, want it to say %q", i, f, want[i])
		}
	}
}

// TestLoad: what does not parse is an error, and other people's directories and
// binaries are not read.
func TestLoad(t *testing.T) {
	_, err := load(fstest.MapFS{"core/a.go": {Data: []byte("package core\nfunc {")}}, nil)
	if err == nil || !strings.Contains(err.Error(), "core/a.go:2") {
		t.Errorf("broken source: %v", err)
	}
	tr, err := load(fstest.MapFS{".git": {Data: []byte("gitdir: elsewhere")}}, nil)
	if err != nil || len(tr.texts) > 0 {
		t.Errorf("git's file in a worktree is read: %v", err)
	}
	tr, err = load(fstest.MapFS{
		"core/a.go":            {Data: []byte("package core")},
		"core/b/b.go":          {Data: []byte("package b")},
		"core/c.go":            {Data: []byte("package core")},
		"core/testdata/x.go":   {Data: []byte("not Go")},
		".git/config":          {Data: []byte("x")},
		".ci/run":              {Data: []byte("x")},
		"bin/tool":             {Data: []byte("x")},
		"docs/picture.png":     {Data: []byte("\x89PNG\x00")},
		"emu/.hidden/x.go":     {Data: []byte("not Go")},
		"core/zz_generated.go": {Data: []byte("// Code generated by x. DO NOT EDIT.\n\npackage core")},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, x := range tr.texts {
		paths = append(paths, x.path)
	}
	if got, want := list(paths), ".ci/run, core/a.go, core/b/b.go, core/c.go, core/testdata/x.go, core/zz_generated.go"; got != want {
		t.Errorf("texts are %s, want %s", got, want)
	}
	if len(tr.packages) != 2 || len(tr.find("core").files) != 3 || !tr.find("core").files[2].generated {
		t.Errorf("packages: %+v", tr.packages)
	}
}
