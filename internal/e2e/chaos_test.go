//go:build e2e

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	rounds = flag.Int("chaos.rounds", 0, "rounds of TestChaos and of TestChaosServe; 0 skips them")
	seed   = flag.Uint64("chaos.seed", 1, "what their faults are drawn from")
)

// sweep is what each round runs: it takes a second or two, so that what is drawn
// strikes while processes start, while they run, or when all is over.
var sweep = []string{"all_reduce", "-b", "1K", "-e", "4M", "-f", "8", "--quiet"}

// eight is the cluster of each round.
var eight = []string{"--nodes", "8", "--gpus-per-node", "2"}

// mishap is what befalls a process in a round.
type mishap struct {
	name        string
	signal      syscall.Signal // 0: nothing happens
	coordinator bool           // it, and not a nodesim, is struck
	goesOn      bool           // SIGCONT follows
}

var mishaps = []mishap{
	{name: "nothing"},
	{name: "nodesim killed", signal: syscall.SIGKILL},
	{name: "nodesim stopped", signal: syscall.SIGSTOP},
	{name: "nodesim stopped for a while", signal: syscall.SIGSTOP, goesOn: true},
	{name: "coordinator killed", signal: syscall.SIGKILL, coordinator: true},
	{name: "coordinator stopped for a while", signal: syscall.SIGSTOP, coordinator: true, goesOn: true},
}

// chaos draws what happens in a round; the same seed and round draw the same.
func chaos(t *testing.T, round int) *rand.Rand {
	t.Helper()
	if *rounds == 0 {
		t.Skip("make chaos runs it")
	}
	return rand.New(rand.NewPCG(*seed, uint64(round)))
}

// TestChaos strikes benches of eight processes at random. Each ends in bounded
// time: with the right answer, or with a failure that names whom it struck and
// the exit code that goes with it. No process, and no file, is left.
func TestChaos(t *testing.T) {
	chaos(t, 0)
	right := answer(t)
	for round := range *rounds {
		r := chaos(t, round)
		m := mishaps[r.IntN(len(mishaps))]
		after, pause, node := time.Duration(r.IntN(2000))*time.Millisecond, time.Duration(r.IntN(2500))*time.Millisecond, r.IntN(8)
		t.Run(fmt.Sprintf("%d %s", round, m.name), func(t *testing.T) {
			t.Logf("-chaos.seed=%d: node %d, after %v, for %v", *seed, node, after, pause)
			scratch, out := t.TempDir(), filepath.Join(t.TempDir(), "out.json")
			t.Setenv("TMPDIR", scratch)
			p := start(t, "coordinator", slices.Concat([]string{"bench"}, sweep, eight, []string{"-J", out})...)
			struck := p.strike(m, node, after, pause)
			code := p.wait()
			p.nothingLeft(crash)
			p.judge(m, struck, node, code, right)
			intact(t, out, code, len(right))
			if left, _ := filepath.Glob(filepath.Join(scratch, "*")); len(left) > 0 {
				t.Errorf("files %v are left", left)
			}
			if beside, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(beside) > 1 {
				t.Errorf("files %v, want one", beside)
			}
		})
	}
}

// strike does to a process of a bench what was drawn, and reports whether it was
// there to be struck.
func (p *program) strike(m mishap, node int, after, pause time.Duration) bool {
	p.t.Helper()
	if m.signal == 0 || !p.sleep(after) {
		return false
	}
	pid := p.cmd.Process.Pid
	if !m.coordinator {
		if pid = p.hosting(node); pid == 0 {
			return false
		}
	}
	if syscall.Kill(pid, m.signal) != nil {
		return false
	}
	if m.goesOn {
		p.sleep(pause)
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been given up and killed
	}
	return true
}

// sleep waits, and reports whether the program still runs then.
func (p *program) sleep(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-p.done:
		return false
	}
}

// hosting returns the process that was started for a node, or 0.
func (p *program) hosting(node int) int {
	for _, pid := range p.left() {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), fmt.Sprintf("\x00--nodes\x00%d\x00", node)) {
			return pid
		}
	}
	return 0
}

// figures is a row of the table.
var figures = regexp.MustCompile(`(?m)^ +\d+ +\d+ +\w+ .*$`)

// rows returns the rows of a program's table, each column a single space apart.
func rows(p *program) (all []string) {
	for _, row := range figures.FindAllString(p.stdout.String(), -1) {
		all = append(all, strings.Join(strings.Fields(row), " "))
	}
	return all
}

// judge fails the test unless a bench ended as it may: its rows are those of
// predict, all of them if nothing is wrong, and what is wrong is true.
func (p *program) judge(m mishap, struck bool, node, code int, right []string) {
	p.t.Helper()
	got := rows(p)
	for i, row := range got {
		if i >= len(right) || row != right[i] {
			p.t.Errorf("row %d is\n%s\npredict has\n%q", i, row, right)
		}
	}
	said := p.stderr.String()
	named := regexp.MustCompile(fmt.Sprintf("node %d lost: process (node|nodesim-)%d ", node, node)).MatchString(said)
	ok := code == 0 && len(got) == len(right)
	switch {
	case !struck:
	case m.coordinator && m.signal == syscall.SIGKILL:
		ok = ok || code == -int(syscall.SIGKILL)
	case m.signal == syscall.SIGKILL:
		ok = ok || code == 1 && named && strings.Contains(said, "failed: peer-lost: ")
	case m.signal == syscall.SIGSTOP && !m.coordinator:
		ok = ok || code == 2 && named && strings.Contains(said, "failed: timeout: ")
	}
	if !ok {
		p.t.Errorf("struck %v: exit code %d, %d of %d rows, stderr %q", struck, code, len(got), len(right), said)
	}
}

// answer is what each round must say: predict's rows, with elements that were
// looked at.
func answer(t *testing.T) []string {
	t.Helper()
	right := rows(run(t, 0, "coordinator", slices.Concat([]string{"predict"}, sweep, eight)...))
	for i := range right {
		right[i] = strings.ReplaceAll(right[i], "N/A", "0")
	}
	if len(right) == 0 {
		t.Fatal("predict has no rows")
	}
	return right
}

// intact fails the test if a result file is there and is not whole; after a good
// end it must be there, with all rows.
func intact(t *testing.T, file string, code, rows int) {
	t.Helper()
	var doc struct{ Results []any }
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) && code != 0 {
		return
	}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil || code == 0 && len(doc.Results) != rows {
		t.Errorf("exit code %d: %s has %d of %d results: %v\n%.200s", code, file, len(doc.Results), rows, err, text)
	}
}

// TestChaosServe strikes the nodesims of one cluster that stays, over and over,
// in the middle of a bench or between two, and starts again what was killed.
// Each bench is right or names whom it struck; and the next one is right.
func TestChaosServe(t *testing.T) {
	chaos(t, 0)
	right := answer(t)
	c := serve(t, eight...)
	nodesims := make([]*program, 8)
	for i := range nodesims {
		nodesims[i] = c.nodesim(t, fmt.Sprint(i))
	}
	for round := range *rounds {
		r := chaos(t, 1<<32+round)
		m := mishaps[r.IntN(4)]
		after, pause, node := time.Duration(r.IntN(1500))*time.Millisecond, time.Duration(r.IntN(2500))*time.Millisecond, r.IntN(8)
		t.Logf("round %d -chaos.seed=%d: %s, node %d, after %v, for %v", round, *seed, m.name, node, after, pause)
		bench := slices.Concat([]string{"bench", "--connect", c.service}, sweep)
		p, victim := start(t, "coordinator", bench...), nodesims[node]
		time.Sleep(after)
		if m.signal != 0 {
			victim.signal(m.signal)
		}
		if m.goesOn {
			time.Sleep(pause)
			victim.signal(syscall.SIGCONT)
		}
		code := p.wait()
		if p.stderr.String() != "" {
			t.Log(p.stderr)
		}
		p.judge(m, m.signal != 0, node, code, right)
		if m.signal != 0 && !m.goesOn {
			_ = victim.cmd.Process.Kill()
			<-victim.done
		}
		select {
		case <-victim.done:
			nodesims[node] = c.nodesim(t, fmt.Sprint(node))
		default:
		}
		c.idle(t)
		if p := run(t, 0, "coordinator", bench...); !slices.Equal(rows(p), right) {
			t.Errorf("round %d: the next bench says\n%s", round, p.stdout)
		}
	}
	c.end(t, nodesims)
}

// silence is how long a coordinator may say nothing before its nodesims end: the
// keepalive of their connections asks after 10 s and waits for 20 s.
const silence = 30 * time.Second

// TestCoordinatorStopped: nodesims whose coordinator is stopped for longer than
// all bounds end by themselves; when it goes on it says so, and ends too.
func TestCoordinatorStopped(t *testing.T) {
	chaos(t, 0)
	p := long(t)
	p.signal(syscall.SIGSTOP)
	for late := time.Now().Add(silence + bound/4); len(p.left()) > 1; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("processes %v are still there", p.left())
		}
	}
	p.signal(syscall.SIGCONT)
	if code := p.wait(); code != 1 && code != 2 || !strings.Contains(p.stderr.String(), "coordinator: failed: ") {
		t.Errorf("exit code %d, stderr %q", code, p.stderr)
	}
	p.nothingLeft(0)
}
