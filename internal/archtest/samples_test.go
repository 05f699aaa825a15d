package archtest

import "strings"

// code makes a file of package core out of declarations.
func code(decls string) map[string]string {
	return map[string]string{"core/core.go": "package core\n" + decls}
}

var importSamples = []sample{
	{rule: "imports", name: "allowed", files: map[string]string{
		"core/room/a.go": "package room\nimport (\"strings\"; \"unsafe\"; \"example.com/yaml/ast\"; \"" + module + "/core\")",
		"daemon/a.go":    "package daemon\nimport (\"net\"; \"time\"; \"" + module + "/core/room\")",
	}},
	{rule: "imports", name: "unknown package",
		files: map[string]string{"novel/a.go": "package novel"},
		want:  []string{"novel: package has no row in the import table: add a row with a reason"}},
	{rule: "imports", name: "against the direction",
		files: map[string]string{"core/a.go": "package core\nimport \"" + module + "/daemon\""},
		want:  []string{"core/a.go:2: core may not import daemon"}},
	{rule: "imports", name: "std below the purity line",
		files: code("import (\"os\"; \"time\"; \"math/rand/v2\"; \"unsafe\")"),
		want:  []string{`"os"`, `"time"`, `"math/rand/v2"`, `"unsafe"`}},
	{rule: "imports", name: "module",
		files: code("import \"example.com/yaml\""),
		want:  []string{"core may not import example.com/yaml"}},
	{rule: "imports", name: "module of like name",
		files: map[string]string{"core/room/a.go": "package room\nimport \"example.com/yamlish\""},
		want:  []string{"example.com/yamlish"}},
	{rule: "imports", name: "cgo",
		files: map[string]string{"daemon/a.go": "package daemon\nimport \"C\""},
		want:  []string{"no cgo"}},
	{rule: "imports", name: "any build tag",
		files: map[string]string{"core/a_plan9.go": "//go:build ignore\n\npackage core\nimport \"os\""},
		want:  []string{"core/a_plan9.go:4"}},

	{rule: "tests", name: "own level and below", files: map[string]string{
		"core/a_test.go":   "package core\nimport (\"os\"; \"" + module + "/kernel\"; \"github.com/cockroachdb/datadriven\"; \"" + module + "/draw\")",
		"daemon/a_test.go": "package daemon\nimport \"" + module + "/kernel\"",
	}},
	{rule: "tests", name: "above",
		files: map[string]string{"core/a_test.go": "package core_test\nimport \"" + module + "/daemon\""},
		want:  []string{"core/a_test.go:2: a test of core may not import daemon"}},
	{rule: "tests", name: "module",
		files: map[string]string{"core/a_test.go": "package core\nimport \"example.com/assert\""},
		want:  []string{"example.com/assert"}},

	{rule: "never", name: "by way of another", files: map[string]string{
		"daemon/a.go":    "package daemon\nimport \"" + module + "/core/room\"",
		"core/room/a.go": "package room\nimport \"" + module + "/kernel\"",
		"kernel/a.go":    "package kernel",
	}, want: []string{"daemon: reaches kernel: daemon → core/room → kernel (no theatre)"}},
	{rule: "never", name: "tests do not count", files: map[string]string{
		"daemon/a_test.go": "package daemon\nimport \"" + module + "/kernel\"",
		"kernel/a.go":      "package kernel",
	}},
}

var tableSamples = []sample{
	{rule: "table", name: "good"},
	{rule: "table", name: "order", table: []row{
		{path: "a", imports: []string{"b"}, reason: "r"},
		{path: "b", reason: "r"},
	}, want: []string{"b does not stand above it"}},
	{rule: "table", name: "level", table: []row{
		{path: "a", level: host, reason: "r"},
		{path: "b", imports: []string{"a"}, reason: "r"},
	}, want: []string{"a lies above it"}},
	{rule: "table", name: "support", table: []row{
		{path: "a", level: support, reason: "r"},
		{path: "b", level: program, imports: []string{"a"}, reason: "r"},
	}, want: []string{"a lies above it"}},
	{rule: "table", name: "reason", table: []row{{path: "a"}}, want: []string{"has no reason"}},
	{rule: "table", name: "twice", table: []row{
		{path: "a", reason: "r"}, {path: "a", reason: "r"},
	}, want: []string{"has two rows"}},
	{rule: "table", name: "contradiction", table: []row{
		{path: "a", reason: "r"},
		{path: "b", imports: []string{"a"}, never: []string{"a", "gone"}, reason: "r"},
	}, want: []string{"both allowed and ruled out", "gone is ruled out but has no row"}},
}

var usedSamples = []sample{
	{rule: "used", name: "all, and a row without a package", files: map[string]string{
		"core/room/a.go":      "package room\nimport (\"unsafe\"; \"" + module + "/core\")",
		"core/room/a_test.go": "package room\nimport \"example.com/yaml/ast\"",
	}},
	{rule: "used", name: "none, and of ours only by a test", files: map[string]string{
		"core/room/a.go":      "package room",
		"core/room/a_test.go": "package room\nimport (\"unsafe\"; \"" + module + "/core\")",
	}, want: []string{"core/room: may import core and does not", "may use example.com/yaml and does not", `may import "unsafe" and does not`}},
}

var puritySamples = []sample{
	{rule: "concurrency", name: "none", files: map[string]string{
		"core/a.go":      "package core\nfunc f(p *int) int { return -*p }",
		"core/a_test.go": "package core\nfunc g() { go g() }",
		"daemon/a.go":    "package daemon\nfunc f(c chan int) { go f(c); select { case <-c: } }",
	}},
	{rule: "concurrency", name: "all kinds", files: code(`
var c = make(chan int)
func f() {
	go f()
	c <- 1
	_ = <-c
	select {}
}`), want: []string{"core.go:3: channel type", "core.go:5: goroutine", "core.go:6: send", "core.go:7: receive", "core.go:8: select"}},
}

var typeSamples = []sample{
	{rule: "map", name: "ordered", files: code(`
import ("maps"; "slices")
func f(m map[int]int, s []int) (n int) {
	for range s { n++ }
	for _, k := range slices.Sorted(maps.Keys(m)) { n += k }
	for _, v := range m { n += v } // order: a sum of integers has none
	// order: the same again,
	// at some length
	for _, v := range m { n += v }
	return n
}`)},
	{rule: "map", name: "unordered", files: code(`
import ("maps"; "slices")
type set map[int]bool
func f[M ~map[int]int](m M, s set) {
	for range m { }
	for k := range s { _ = k } // order:
	for k := range maps.Keys(m) { _ = k }
	_ = slices.Collect(maps.Values(s))
	// order: too far away

	for k := range s { _ = k }
}`), want: []string{"core.go:6: range over a map", "core.go:7: range over a map", "core.go:8: maps.Keys",
		"core.go:9: maps.Values", "core.go:12: range over a map"}},
	{rule: "map", name: "type of another package", files: map[string]string{
		"core/a.go":   "package core\ntype Set map[int]bool",
		"kernel/a.go": "package kernel\nimport \"" + module + "/core\"\nfunc f(s core.Set) {\nfor range s { } }",
	}, want: []string{"kernel/a.go:4: range over a map"}},

	{rule: "float", name: "exact constants and exempt packages", files: map[string]string{
		"core/a.go":      "package core\nimport \"math\"\nconst rate int64 = 1.8e12\nvar n int64 = 2.5 * 4\nvar m = math.MaxInt64",
		"core/room/a.go": "package room\nfunc f(x float32) float32 { return x * 1.5 }",
		"core/a_test.go": "package core\nvar x = 1.5",
		"core/gen.go":    "// Code generated by x. DO NOT EDIT.\n\npackage core\n\nvar y float64",
	}},
	{rule: "float", name: "any way in", files: code(`
import "math"
var a = 1.5
type t struct { b float32 }
func f(x int) int { return int(math.Sqrt(4)) }
func g() (c complex128)
func h[F ~float32 | ~float64](x F) {}
`), want: []string{"core.go:4", "core.go:5", "core.go:6", "core.go:7", "core.go:8"}},

	{rule: "compile", name: "error", files: code("var x undefined"), want: []string{"core: cannot judge what does not compile"}},
	{rule: "compile", name: "by way of another", files: map[string]string{
		"core/a.go":   "package core\nvar X = 1",
		"kernel/a.go": "package kernel\nimport \"" + module + "/core\"\nvar y = core.Y",
	}, want: []string{"kernel: cannot judge what does not compile"}},
	{rule: "compile", name: "files of another machine", files: map[string]string{
		"core/a.go":       "package core\nvar x = 1",
		"core/a_plan9.go": "package core\nvar x = 2",
	}},
	{rule: "map", name: "in a package that does not compile", files: code("var x undefined\nfunc f(m map[int]int) { for range m { } }"),
		want: []string{"core.go:3: range over a map"}},
}

var styleSamples = []sample{
	{rule: "file size", name: "at the wall", files: map[string]string{
		"core/a.go":   "package core\n" + strings.Repeat("\n", fileWall-1),
		"core/gen.go": "// Code generated by x. DO NOT EDIT.\n\npackage core\n" + strings.Repeat("\n", fileWall),
	}},
	{rule: "file size", name: "over it, tests too", files: map[string]string{
		"core/a.go":      "package core\n" + strings.Repeat("\n", fileWall),
		"core/a_test.go": "package core\n" + strings.Repeat("\n", fileWall),
	}, want: []string{"core/a.go: 501 lines", "core/a_test.go: 501 lines"}},

	{rule: "function size", name: "at the wall", files: code("func f() {" + strings.Repeat("\n", funcWall-1) + "}")},
	{rule: "function size", name: "over it, literals too", files: code(
		"func f() {" + strings.Repeat("\n", funcWall) + "}\nvar g = func() {" + strings.Repeat("\n", funcWall) + "}"),
		want: []string{"core.go:2: f has 71 lines", "function literal has 71 lines"}},

	{rule: "package doc", name: "one", files: map[string]string{
		"core/a.go":          "package core",
		"core/doc.go":        "// Package core is.\npackage core",
		"core/a_test.go":     "package core",
		"core/gen.go":        "// Code generated by x. DO NOT EDIT.\n\n// Package core too.\npackage core",
		"kernel/a_test.go":   "// Package kernel is tests.\npackage kernel",
		"kernel/ext_test.go": "package kernel_test",
	}},
	{rule: "package doc", name: "none or two", files: map[string]string{
		"core/a.go":   "//go:build linux\n\npackage core",
		"daemon/a.go": "// Package daemon is.\npackage daemon",
		"daemon/b.go": "// Package daemon is as well.\npackage daemon",
	}, want: []string{"core: has no package comment", "daemon: has package comments in daemon/a.go, daemon/b.go"}},

	{rule: "package map", name: "names every file", files: map[string]string{
		"core/doc.go": "// Package core is.\n//\n//\ta.go  one\n//\tb*.go  two\npackage core",
		"core/a.go":   "package core", "core/b_x.go": "package core", "core/b_y.go": "package core", "core/c_test.go": "package core",
		"core/gen.go":   "// Code generated by x. DO NOT EDIT.\n\npackage core",
		"daemon/doc.go": "// Package daemon is small.\npackage daemon", "daemon/a.go": "package daemon",
	}},
	{rule: "package map", name: "out of date", files: map[string]string{
		"core/doc.go": "// Package core is.\n//\n//\ta.go  one\n//\tgone.go  two\npackage core",
		"core/a.go":   "package core", "core/b.go": "package core", "core/c.go": "package core",
	}, want: []string{"core/doc.go: the map names gone.go, which is not there", "the map does not name b.go", "the map does not name c.go"}},

	{rule: "init", name: "method and variable", files: code("type t int\nfunc (t) init() {}\nfunc f() { init := 1; _ = init }")},
	{rule: "init", name: "function", files: code("func init() {}"), want: []string{"core.go:2: init function"}},

	{rule: "stdout", name: "to a writer", files: map[string]string{
		"daemon/a.go":      "package daemon\nimport (\"fmt\"; \"os\")\nfunc f() { fmt.Fprintln(os.Stderr) }",
		"daemon/a_test.go": "package daemon\nimport \"fmt\"\nfunc g() { fmt.Println() }",
		"main/a.go":        "package main\nimport \"fmt\"\nfunc f() { fmt.Println() }",
	}},
	{rule: "stdout", name: "behind one's back",
		files: map[string]string{"daemon/a.go": "package daemon\nimport (\"fmt\"; \"os\")\nfunc f() {\nfmt.Printf(\"\")\n_ = os.Stdout\nprintln()\n}"},
		want:  []string{"a.go:4: fmt.Printf", "a.go:5: os.Stdout", "a.go:6: println"}},
}

// The samples below are put together from pieces, lest the rules find them in
// this very file.
var textSamples = []sample{
	{rule: "mark", name: "words that contain one", files: map[string]string{
		"core/a.go":          "package core\n// XXXL, a TODOLIST\nvar s = \"FIX" + "ME\"",
		"deploy/x.sh":        "mktemp x.XXXXXX",
		"docs/rules.md":      "No TO" + "DO",
		"core/testdata/a.sh": "# TO" + "DO",
	}},
	{rule: "mark", name: "in comments", files: map[string]string{
		"core/a.go": "package core\n// TO" + "DO: later\nvar x = 1 /* FIX" + "ME */",
		"Makefile":  "all:\n# XX" + "X",
		"p/x.proto": "// TO" + "DO",
	}, want: []string{"core/a.go:2: TO", "core/a.go:3: FIX", "Makefile:2: XX", "p/x.proto:1: TO"}},

	{rule: "machine path", name: "alike", files: map[string]string{
		"README.md": "https://example.com/home/page ./work/x framework/work/ ${DIR}/root/ rooted/",
		"core/a.go": "package core // see emu/root/x",
	}},
	{rule: "machine path", name: "absolute", files: map[string]string{
		"README.md":         "cd /wo" + "rk/main",
		"core/a.go":         "package core\n\nvar x = \"/ro" + "ot/x\"",
		"core/testdata/log": "a\nfile:///ho" + "me/me/x\n",
	}, want: []string{"README.md:1: /wo" + "rk/", "core/a.go:3: \"/ro" + "ot/", "core/testdata/log:2: //ho" + "me/"}},
}
