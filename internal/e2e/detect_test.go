//go:build e2e

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

var (
	tries = flag.Int("detect.tries", 0, "kills, and stops, of TestDetect; 0 skips it")
	soak  = flag.Duration("detect.soak", 0, "how long TestNoFalseDeaths runs; 0 skips it")
)

// What is promised of the settings for one host, in wall time.
const (
	knowCrash  = 1500 * time.Millisecond // until every process knows that one was killed
	knowFreeze = 3 * time.Second         // until every process knows that one was stopped
)

// loops are busy loops a core beside which it is promised.
const loops = 8

// observed is a cluster of eight nodesims, idle or not, that log who they lose.
type observed struct {
	cluster
	t        *testing.T
	nodesims []*program
}

func observe(t *testing.T) *observed {
	t.Helper()
	o := &observed{cluster: serve(t, append(eight, "--log-level", "info")...), t: t, nodesims: make([]*program, 8)}
	for i := range o.nodesims {
		o.start(i)
	}
	o.acquainted()
	return o
}

func (o *observed) start(i int) {
	o.nodesims[i] = start(o.t, "nodesim", "--join", o.join, "--nodes", fmt.Sprint(i), "--log-level", "info")
}

// acquainted waits until the cluster is ready and all nodesims know each other.
func (o *observed) acquainted() {
	o.t.Helper()
	o.idle(o.t)
	for _, p := range o.nodesims {
		o.knows(p)
	}
}

// knows waits until a nodesim has seen all.
func (o *observed) knows(p *program) {
	o.t.Helper()
	for i := range o.nodesims {
		p.await(p.stderr, fmt.Sprintf(`joined.*"nodesim-%d"`, i))
	}
}

// line is what a process logs about another.
var line = regexp.MustCompile(`(?m)^(\S+)\tinfo\t\S+\tlost\t(\{.*\})$`)

// loss is one such line.
type loss struct {
	at         time.Time
	Member, By string
}

// losses returns what a process has logged of losses.
func losses(t *testing.T, p *program) (all []loss) {
	t.Helper()
	for _, m := range line.FindAllStringSubmatch(p.stderr.String(), -1) {
		var l loss
		at, err := time.Parse("2006-01-02T15:04:05.000Z0700", m[1])
		if err == nil {
			err = json.Unmarshal([]byte(m[2]), &l)
		}
		if err != nil {
			t.Fatalf("%q: %v", m[0], err)
		}
		l.at = at
		all = append(all, l)
	}
	return all
}

// busy starts busy loops, 8 a core, and ends them with the test.
func busy(t *testing.T) {
	t.Helper()
	for range loops * runtime.NumCPU() {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
	}
}

// TestDetect kills and stops nodesims of a cluster that is up, one after the
// other, and measures in wall time how long it takes until the coordinator, and
// the last of the other nodesims, know: by any means, and by membership alone,
// which is what is left where there is no session. It does so on a host as idle
// as it is and beside busy loops.
func TestDetect(t *testing.T) {
	if *tries == 0 {
		t.Skip("make detect runs it")
	}
	for _, load := range []string{"idle", "busy"} {
		for _, test := range []struct {
			name   string
			signal syscall.Signal
			within time.Duration
		}{{"killed", syscall.SIGKILL, knowCrash}, {"stopped", syscall.SIGSTOP, knowFreeze}} {
			t.Run(load+" "+test.name, func(t *testing.T) {
				if load == "busy" {
					busy(t)
				}
				o := observe(t)
				took := map[string][]time.Duration{}
				for try := range *tries {
					o.strike(try%len(o.nodesims), test.signal, took)
				}
				for _, by := range []string{"coordinator", "coordinator, which gives it up", "nodesims", "nodesims by gossip alone"} {
					d := slices.Sorted(slices.Values(took[by]))
					fmt.Printf("detect: %s %s, wall time until known to %s: p50 %v, max %v of %d\n",
						load, test.name, by, d[len(d)/2].Round(time.Millisecond), d[len(d)-1].Round(time.Millisecond), len(d))
					if d[len(d)-1] > test.within {
						t.Errorf("known to %s after %v, want at most %v", by, d[len(d)-1], test.within)
					}
				}
			})
		}
	}
}

// strike strikes one nodesim, notes how long it took the others to know, and
// starts it again.
func (o *observed) strike(i int, s syscall.Signal, took map[string][]time.Duration) {
	o.t.Helper()
	name, victim := fmt.Sprintf("nodesim-%d", i), o.nodesims[i]
	at := victim.signal(s)
	first := func(p *program, by string) time.Duration {
		for late := time.Now().Add(bound); ; time.Sleep(5 * time.Millisecond) {
			for _, l := range losses(o.t, p) {
				if l.Member == name && (by == "" || l.By == by) && !l.at.Before(at.Truncate(time.Millisecond)) {
					return max(l.at.Sub(at), 0)
				}
			}
			if time.Now().After(late) {
				o.t.Fatalf("%v does not know that %s was struck\n%s", p.cmd.Args, name, p.stderr)
			}
		}
	}
	note := func(who string, d time.Duration) { took[who] = append(took[who], d) }
	note("coordinator", first(o.serve, ""))
	note("coordinator, which gives it up", first(o.serve, "verdict"))
	var any, gossip time.Duration
	for j, p := range o.nodesims {
		if j != i {
			gossip = max(gossip, first(p, "gossip"))
			any = max(any, first(p, ""))
		}
	}
	note("nodesims", any)
	note("nodesims by gossip alone", gossip)
	_ = victim.cmd.Process.Kill()
	<-victim.done
	for j := range o.nodesims {
		if j != i {
			o.nodesims[j].stderr.forget()
		}
	}
	o.start(i)
	o.idle(o.t)
	o.knows(o.nodesims[i])
	for j, p := range o.nodesims {
		if j != i {
			p.await(p.stderr, fmt.Sprintf(`joined.*"nodesim-%d"`, i))
		}
	}
}

// TestManyMembers runs a collective on a hundred processes (report 47): none is
// taken for dead, which the coordinator would have found out by asking it.
func TestManyMembers(t *testing.T) {
	if *tries == 0 {
		t.Skip("make detect runs it")
	}
	procs := 50 * runtime.NumCPU()
	p := run(t, 0, "coordinator", "bench", "all_reduce", "-b", "1K", "-e", "64K", "-f", "8",
		"--nodes", fmt.Sprint(procs), "--gpus-per-node", "1", "--log-level", "debug")
	if said := p.stderr.String(); strings.Contains(said, `"answers": "OK"`) || strings.Contains(said, "were tried") {
		t.Errorf("%d processes: somebody was taken for dead\n%s", procs, said)
	}
	fmt.Printf("detect: %d processes on %d cores, a collective in %.1f s of wall time, no false death\n",
		procs, runtime.NumCPU(), p.ended.Sub(p.began).Seconds())
}

// TestNoFalseDeaths runs benches on a cluster beside busy loops, and nobody may
// be taken for dead.
func TestNoFalseDeaths(t *testing.T) {
	if *soak == 0 {
		t.Skip("make detect runs it for a minute, make soak for ten")
	}
	busy(t)
	o := observe(t)
	n := 0
	for late := time.Now().Add(*soak); time.Now().Before(late); n++ {
		run(t, 0, "coordinator", slices.Concat([]string{"bench", "--connect", o.service}, sweep)...)
	}
	for _, p := range append(o.nodesims, o.serve) {
		if l := losses(t, p); len(l) > 0 || strings.Contains(p.stderr.String(), "taken for dead") {
			t.Errorf("%v has lost %v", p.cmd.Args, l)
		}
	}
	fmt.Printf("soak: %v beside %d busy loops, %d benches, no false death\n", *soak, loops*runtime.NumCPU(), n)
	o.end(t, nil)
}
