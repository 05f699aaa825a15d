package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/report"
)

// session runs command lines of a program in a test.
type session struct {
	*App
	out, err bytes.Buffer
	env      map[string]string
	dir      string
}

func newSession(t *testing.T) *session {
	s := &session{env: map[string]string{}, dir: t.TempDir()}
	s.App = NewApp("v1.2.3", Hosts{})
	s.Stdout, s.Stderr = &s.out, &s.err
	s.Getenv = func(name string) string { return s.env[name] }
	s.Environ = func() []string {
		var all []string
		for k, v := range s.env { // order: what is said of them is sorted
			all = append(all, k+"="+v)
		}
		return all
	}
	return s
}

// run splits a command line at blanks; $DIR is a directory of the test.
func (s *session) run(line string) int {
	s.out.Reset()
	s.err.Reset()
	return s.Run(context.Background(), strings.Fields(strings.ReplaceAll(line, "$DIR", s.dir)))
}

func (s *session) file(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lines returns what was said on stderr, without the program's name.
func (s *session) lines() []string {
	return strings.Split(strings.TrimSuffix(s.err.String(), "\n"), "\n")
}

// fake is a host that reports one row a size.
type fake struct {
	got     BenchConfig
	wrong   int64
	timePs  int64
	err     error
	noStart bool
}

func (f *fake) bench(_ context.Context, c BenchConfig, sink report.Sink) error {
	f.got = c
	if f.noStart {
		return f.err
	}
	sizes, err := c.Sizes()
	if err != nil {
		return err
	}
	start := report.Start{Ranks: 8, NCCLVersion: 23007, Devices: []report.Device{{Host: "node0", BusID: "0x1b", Name: "GPU"}}}
	if err := sink.Begin(start); err != nil {
		return err
	}
	for i, size := range sizes {
		sink.Progress(i, len(sizes), "all_reduce")
		sink.Progress(i, len(sizes), "all_reduce")
		row := report.NewRow(c.Op, c.DTypes[0], c.RedOps[0], c.Root, size, start.Ranks)
		cell := report.Cell{TimePs: max(f.timePs, 1_000_000), Wrong: f.wrong, Checked: c.Check > 0}
		row.OutOfPlace, row.InPlace = cell, cell
		if err := sink.Row(row); err != nil {
			return err
		}
	}
	if f.err != nil {
		return f.err
	}
	return sink.End(report.Footer{Where: "nowhere", Timing: "exact"})
}

func TestBenchPrintsTable(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	if code := s.run("bench all_reduce_perf -b 8 -e 32 -f 2"); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, s.err.String())
	}
	for _, want := range []string{"# Collective test starting: all_reduce_perf\n", "\n          32             8     float     sum", "# Timing : exact\n"} {
		if !strings.Contains(s.out.String(), want) {
			t.Errorf("stdout lacks %q:\n%s", want, s.out.String())
		}
	}
	if want := "coordinator: 0 of 3: all_reduce\ncoordinator: 1 of 3: all_reduce\ncoordinator: 2 of 3: all_reduce\n"; s.err.String() != want {
		t.Errorf("progress is\n%swant\n%s", s.err.String(), want)
	}
	if s.run("bench all_reduce -b 8 -e 32 -f 2 --quiet -y 1"); s.err.Len() > 0 {
		t.Errorf("quiet says %q", s.err.String())
	}
}

func TestFormats(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	for format, begin := range map[string]string{"json": `{"version":3`, "csv": "op,ranks,", "table": "# Coll"} {
		if code := s.run("bench all_reduce --format " + format); code != ExitOK || !strings.HasPrefix(s.out.String(), begin) {
			t.Errorf("--format %s: exit code %d, stdout begins with %.20q", format, code, s.out.String())
		}
	}
}

func TestResultFile(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	read := func() string {
		b, _ := os.ReadFile(filepath.Join(s.dir, "out.json"))
		return string(b)
	}
	s.file(t, "out.json", strings.Repeat("old ", 10_000))
	if code := s.run("bench all_reduce -J $DIR/out.json"); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, s.err.String())
	}
	first := read()
	if !strings.HasPrefix(first, `{"version":3`) || strings.Contains(first, "old") {
		t.Errorf("the file holds %.80q", first)
	}
	f.noStart, f.err = true, errors.New("no nodes")
	if s.run("bench all_reduce -J $DIR/out.json"); read() != first {
		t.Error("a run that never began has changed the file")
	}
	s.run("bench all_reduce -J $DIR/new.json")
	if _, err := os.Stat(filepath.Join(s.dir, "new.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a run that never began has left a file behind")
	}
	f.noStart, f.err = false, nil
	if code := s.run("bench all_reduce -J /dev/null"); code != ExitOK {
		t.Errorf("-J /dev/null: exit code %d, %s", code, s.err.String())
	}
	if code := s.run("bench all_reduce -J $DIR/no/such/dir.json"); code != ExitUsage || !strings.Contains(s.err.String(), "-J: ") {
		t.Errorf("a file that can't be written: exit code %d, %s", code, s.err.String())
	}
}

// coded is an error with a code that knows nothing of this package.
type coded int

func (c coded) Error() string { return "node2 was lost" }
func (c coded) ExitCode() int { return int(c) }

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		name string
		fake fake
		env  string
		code int
		says string
	}{
		{"good", fake{}, "", ExitOK, ""},
		{"wrong data", fake{wrong: 3}, "", ExitInvalid, "2 results hold wrong elements"},
		{"fast enough", fake{timePs: 1_000_000}, "60", ExitOK, ""},
		{"too slow", fake{timePs: 1_000_000}, "100000", ExitInvalid, "NCCL_TESTS_MIN_BW=100000"},
		{"a failed run", fake{err: coded(1)}, "", ExitInvalid, "node2 was lost"},
		{"a failed start", fake{noStart: true, err: coded(2)}, "", ExitUnjudged, "node2 was lost"},
		{"the host's own usage error", fake{noStart: true, err: &ExitError{ExitUsage, errors.New("port in use")}}, "", ExitUsage, "port in use"},
		{"an error without a code", fake{err: errors.New("broken")}, "", ExitUnjudged, "broken"},
		{"interrupted", fake{err: context.Canceled}, "", ExitUnjudged, "interrupted"},
		{"timed out", fake{err: context.DeadlineExceeded}, "", ExitUnjudged, "timed out; see --timeout"},
		{"wrong and failed", fake{wrong: 1, err: coded(1)}, "", ExitInvalid, "node2 was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSession(t)
			s.Hosts.Bench = c.fake.bench
			s.env["NCCL_TESTS_MIN_BW"] = c.env
			if code := s.run("bench all_reduce --quiet"); code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if !strings.Contains(s.err.String(), c.says) || (c.says == "") != (s.err.Len() == 0) {
				t.Errorf("stderr is %q, want %q in it", s.err.String(), c.says)
			}
			if c.fake.err != nil && !c.fake.noStart && !strings.Contains(s.out.String(), "# error: "+c.says) {
				t.Errorf("the table does not end with the error:\n%s", s.out.String())
			}
		})
	}
}

// A reader that goes away ends the run with an error.
func TestBrokenPipe(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench, s.Stdout = f.bench, broken{}
	if code := s.run("bench all_reduce"); code != ExitUnjudged {
		t.Errorf("exit code %d, want %d", code, ExitUnjudged)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestFlagsReachTheHost(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	line := "bench reduce_scatter -b 1K -e 4K -i 1K -n 7 -w 3 -c 0 -o max -d int64 -r 3 -z 1 -T 90 -g 8 " +
		"--system dgx-h100 --nodes 4 --gpus-per-node 4 --nics 2 --fabric rail-xdr --seed 7 " +
		"--algo RING --proto LL --channels 8 --slices 1 --nccl 2.30 --payload scaled --payload-budget 1.5G --procs 2 " +
		"--clock paced --dilation 500 --compare --strict --timeline t.jsonl --nodesim ./nodesim --no-color --log-level debug -t 2 -m 3 -G 4"
	if code := s.run(line); code != ExitOK {
		t.Fatalf("exit code %d: %s", code, s.err.String())
	}
	c := f.got
	if sizes, _ := c.Sizes(); len(sizes) != 4 {
		t.Errorf("sizes are %v", sizes)
	}
	for name, ok := range map[string]bool{
		"op":      c.Op == collective.ReduceScatter,
		"nccl":    c.Iterations == 7 && c.Warmup == 3 && c.Check == 0 && c.Blocking && c.Root == 3 && c.Timeout.Seconds() == 90,
		"kinds":   len(c.RedOps) == 1 && c.RedOps[0] == collective.Max && len(c.DTypes) == 1 && c.DTypes[0] == collective.Int64,
		"launch":  c.GPUs == 8 && c.Launch == "per-node" && c.LaunchEvery == perNode.every,
		"cluster": c.Cluster.Nodes() == 4 && c.Cluster.Groups[0].GPUs == 4 && c.Cluster.Groups[0].NICs == 2 && c.Cluster.Fabric.Link == "xdr",
		"seed":    c.Cluster.Seed == 7 && c.Seed == 7,
		"how":     c.Algo == "ring" && c.Proto == "ll" && c.Channels == 8 && c.Slices == 1 && c.NCCL == "2.30",
		"payload": c.Payload == "scaled" && c.PayloadBudget == 3<<29,
		"files":   c.Timeline == "t.jsonl" && c.Nodesim == "./nodesim" && c.Procs == 2,
		"common":  c.NoColor && c.LogLevel == "debug" && c.Log != nil,
		"clock":   c.Clock == Paced && c.Dilation == 500 && c.Compare && c.Strict,
		"header":  c.Threads == 2 && c.Aggregated == 3 && c.Graph == 4,
		"args":    strings.Join(c.Args, " ") == "coordinator "+line,
	} {
		if !ok {
			t.Errorf("%s: not as given: %+v", name, c)
		}
	}
}

func TestDefaults(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench, s.Hosts.Predict = f.bench, f.bench
	s.run("bench all_reduce")
	c := f.got
	if c.MinBytes != 32<<20 || c.MaxBytes != 32<<20 || c.Iterations != 20 || c.Check != 1 || c.Algo != Auto || c.Payload != Auto ||
		c.Launch != "per-gpu" || c.Cluster.Groups[0].System != "dgx-h100" || c.Cluster.Nodes() != 1 || c.NoColor {
		t.Errorf("defaults are %+v", c)
	}
	if s.run("predict all_reduce"); f.got.Payload != "none" {
		t.Errorf("predict moves payload %q, want none", f.got.Payload)
	}
}

// TestAll: every type and reduction there is, in the order of nccl.h, in which
// nccl-tests runs them.
func TestAll(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.run("bench all_reduce -o all -d all -r all")
	var types, ops []string
	for _, name := range strings.Fields("int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2") {
		types = append(types, name)
	}
	for _, name := range strings.Fields("sum prod max min avg mulsum") {
		ops = append(ops, name)
	}
	if got := names(f.got.DTypes); !slices.Equal(got, types) || len(ncclDTypes) != len(collective.DTypes()) {
		t.Errorf("all types are %v, want %v", got, types)
	}
	if got := names(f.got.RedOps); !slices.Equal(got, ops) || len(ncclRedOps) != len(collective.RedOps()) {
		t.Errorf("all reductions are %v, want %v", got, ops)
	}
	if s.run("bench all_reduce -r -1"); !f.got.AllRoots || f.got.Root != 0 {
		t.Errorf("-r -1: root %d, all %v", f.got.Root, f.got.AllRoots)
	}
}

// TestRanks: the flags of mpirun and the variables of nccl-tests. The mask is
// stronger than NCCL_TESTS_SPLIT, and the flag than both.
func TestRanks(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.run("bench all_reduce --ranks 3,1,2,0 --split %2")
	if p := f.got.Placement; !slices.Equal(p.GPUs, []int{3, 1, 2, 0}) || f.got.Split != (sweep.Split{Op: sweep.SplitMod, Value: 2, Ranks: 1}) {
		t.Errorf("%+v, split %q", p, f.got.Split)
	}
	s.run("bench all_reduce --nodes 2 --hostfile testdata/files/hosts --map-by node")
	if p := f.got.Placement; len(p.Hosts) != 2 || p.Hosts[0].Slots != 2 || p.Hosts[1].At != "testdata/files/hosts:3" || !p.ByNode {
		t.Errorf("%+v", p)
	}
	s.env["NCCL_TESTS_SPLIT"] = "DIV 8"
	if s.run("bench all_reduce"); f.got.Split.String() != "DIV 8" || !slices.Contains(f.got.Env, "NCCL_TESTS_SPLIT=DIV 8") {
		t.Errorf("split %q, environment %v", f.got.Split, f.got.Env)
	}
	s.env["NCCL_TESTS_SPLIT_MASK"] = "10"
	if s.run("bench all_reduce"); f.got.Split.String() != "AND 16" || !slices.Contains(f.got.Env, "NCCL_TESTS_SPLIT_MASK=10") {
		t.Errorf("split %q, environment %v", f.got.Split, f.got.Env)
	}
	if s.run("bench all_reduce -g 4 -t 2"); f.got.Split.Ranks != 8 {
		t.Errorf("processes of %d ranks are split, want 8", f.got.Split.Ranks)
	}
	if s.run("bench all_reduce --split |3"); f.got.Split.String() != "OR 3" || len(f.got.Env) != 0 {
		t.Errorf("split %q, environment %v", f.got.Split, f.got.Env)
	}
}

// -g and -t say how many GPUs take part, as they do where nccl-tests is started
// once a server, unless something else says which ranks there are.
func TestProcessHasGPUs(t *testing.T) {
	for line, want := range map[string]int{ // order: each is checked by itself
		"": 0, "-g 1 -t 1": 0, "-g 3": 3, "-t 2": 2, "-g 2 -t 4": 8, "--cluster testdata/files/two-pods.yaml -g 6": 6, "--connect a:1 -g 2": 2,
		"-g 2 --gpus-per-node 8": 0, "-g 2 --ranks 0-7": 0, "-g 2 --hostfile testdata/files/hosts": 0, "-g 2 --split MOD2": 0,
	} {
		s, f := newSession(t), &fake{}
		s.Hosts.Bench = f.bench
		code := s.run("bench all_reduce --nodes 2 " + line)
		if strings.Contains(line, "--c") {
			code = s.run("bench all_reduce " + line)
		}
		fewer := want > 0 && want < 8 && !strings.Contains(line, "--connect")
		if note := strings.Contains(s.err.String(), "GPUs take part"); code != ExitOK || f.got.Placement.Each != want || note != fewer {
			t.Errorf("%q: exit code %d, %d of each server, want %d; %s", line, code, f.got.Placement.Each, want, s.err.String())
		}
	}
}

// The environment is stronger than defaults, and flags are stronger still.
func TestEnvironment(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.env["NCCL_ALGO"], s.env["NCCL_PROTO"], s.env["NO_COLOR"] = "Tree", "LL", "1"
	if s.run("bench all_reduce"); f.got.Algo != "tree" || f.got.Proto != "ll" || !f.got.NoColor || len(f.got.Env) != 2 {
		t.Errorf("environment gives %s, %s, %v, %v", f.got.Algo, f.got.Proto, f.got.NoColor, f.got.Env)
	}
	if s.run("bench all_reduce --algo ring"); f.got.Algo != "ring" || f.got.Proto != "ll" || len(f.got.Env) != 1 {
		t.Errorf("flag over environment gives %s, %s, %v", f.got.Algo, f.got.Proto, f.got.Env)
	}
}

// Flags replace parts of a file, the rest stays.
func TestFileAndFlags(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.file(t, "c.yaml", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 8, system: dgx-h100, gpus: 4}]\n  fabric: {link: hdr, oversubscription: 2}\n  seed: 5\n")
	s.run("bench all_reduce --cluster $DIR/c.yaml")
	if c := f.got.Cluster; c.Nodes() != 8 || c.Groups[0].GPUs != 4 || c.Fabric.Link != "hdr" || f.got.Seed != 5 {
		t.Errorf("the file gives %+v, seed %d", c, f.got.Seed)
	}
	s.run("bench all_reduce --cluster $DIR/c.yaml --nodes 2 --gpus-per-node 8 --fabric rail-ndr --seed 9")
	if c := f.got.Cluster; c.Nodes() != 2 || c.Groups[0].GPUs != 8 || c.Fabric.Link != "ndr" || c.Fabric.Oversubscription != 2 || f.got.Seed != 9 {
		t.Errorf("flags over the file give %+v, seed %d", c, f.got.Seed)
	}
}

func TestIgnoredFlagsAreNotedOnce(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	if code := s.run("bench all_reduce -t 1 -m 1 -N 1 -p 0 -y 0 -G 0 -C 0 -R 0 -a 1 -I 0 -K 0 -M 0 -u 0"); code != ExitOK || strings.Contains(s.err.String(), "note") {
		t.Errorf("defaults of nccl-tests: exit code %d, %s", code, s.err.String())
	}
	if code := s.run("bench all_reduce -t 8 -m 2 -N 2 -p 1 -y 1 -G 1 -C 1 -R 1 -a 3 -I 1 -K 1 -M 1 -u 1"); code != ExitOK || strings.Count(s.err.String(), "note: ") != 12 {
		t.Errorf("12 flags without effect: exit code %d, %s", code, s.err.String())
	}
}

func TestVersionAndCompletion(t *testing.T) {
	s := newSession(t)
	if code := s.run("version"); code != ExitOK || !strings.HasPrefix(s.out.String(), "coordinator v1.2.3 (go") {
		t.Errorf("exit code %d, %q", code, s.out.String())
	}
	for _, sh := range shells {
		if code := s.run("completion " + sh.name); code != ExitOK || !strings.Contains(s.out.String(), "coordinator") {
			t.Errorf("completion %s: exit code %d, %d bytes", sh.name, code, s.out.Len())
		}
	}
}

// Help names every command, those of later versions as such.
func TestHelp(t *testing.T) {
	s := newSession(t)
	s.run("--help")
	help := s.out.String()
	for _, verb := range []string{"bench", "predict", "serve", "status", "validate", "version", "completion"} {
		if !strings.Contains(help, "\n  "+verb+" ") {
			t.Errorf("help lacks %s", verb)
		}
	}
	for _, v := range laterVerbs {
		if !strings.Contains(help, v.about+" (not yet)\n") {
			t.Errorf("help lacks %s", v.name)
		}
	}
	if s.run("bench --help"); !strings.Contains(s.out.String(), "-b, --minbytes SIZE") {
		t.Errorf("help of bench is\n%s", s.out.String())
	}
}

// Without a host a command says so, after its command line was found good.
func TestNoHosts(t *testing.T) {
	s := newSession(t)
	for _, verb := range []string{"bench all_reduce", "predict all_reduce", "serve", "status --connect 127.0.0.1:1"} {
		if code := s.run(verb); code != ExitUsage || !strings.HasSuffix(s.err.String(), ": not yet\n") {
			t.Errorf("%s: exit code %d, %s", verb, code, s.err.String())
		}
	}
}

func TestInterrupt(t *testing.T) {
	ctx, stop := interruptible()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if code := exitCode(plainly(ctx.Err())); code != ExitUnjudged {
		t.Errorf("exit code %d, want %d", code, ExitUnjudged)
	}
}

// The bar leaves no trace behind: what it drew, it takes away again.
func TestProgressBar(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, bar: newBar(&b)}
	p.show(0, 0, "starting")
	p.show(2, 5, "all_reduce 1 MiB")
	if !strings.Contains(b.String(), "all_reduce 1 MiB") || !strings.Contains(b.String(), "2/5") {
		t.Errorf("the bar drew %q", b.String())
	}
	b.Reset()
	p.clear()
	if s := b.String(); strings.Trim(s, "\r ") != "" || !strings.HasSuffix(s, "\r") {
		t.Errorf("clearing the bar wrote %q", s)
	}
	p.show(9, 5, "more than all")
}
