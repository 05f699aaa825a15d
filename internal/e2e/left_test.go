//go:build e2e

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// How long what the users are promised may take.
const (
	// interrupt is from Ctrl-C until everything has ended.
	interrupt = 2 * time.Second
	// crash is from the death of a process until all that depended on it has
	// ended.
	crash = 3 * time.Second
	// freeze is from when a process is stopped until the run has ended: 3 s to
	// notice, one to kill it; and one more because this machine may be busy.
	freeze = 5 * time.Second
)

// nothingLeft fails the test if processes that a program started are still
// there after the time given. Which they are is read from their environment, so
// only Linux can tell.
func (p *program) nothingLeft(within time.Duration) {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	late := time.Now().Add(within)
	left := p.left()
	for len(left) > 0 && time.Now().Before(late) {
		time.Sleep(20 * time.Millisecond)
		left = p.left()
	}
	if len(left) > 0 {
		p.t.Errorf("%v has ended, and %v later processes %v are left", p.cmd.Args, within, left)
	}
}

// running waits until a program and what it has started are n processes or
// more.
func (p *program) running(n int) {
	p.t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	for late := time.Now().Add(bound); len(p.left()) < n; time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			p.t.Fatalf("%v: processes %v, want %d", p.cmd.Args, p.left(), n)
		}
	}
}

// left returns the processes that carry a program's mark. What has ended but
// was not waited for by whoever inherited it has no environment any more.
func (p *program) left() (pids []int) {
	p.t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range environs {
		env, err := os.ReadFile(name)
		if err != nil {
			continue // it ended, or is somebody else's
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if string(v) == p.mark {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name))) // the pattern has digits only
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
