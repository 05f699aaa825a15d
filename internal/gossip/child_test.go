package gossip

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
)

// child is this test binary run as another process. It ends when its stdin
// closes, which it does when this process ends.
type child struct {
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

const (
	childEnv = "RAILYARD_GOSSIP_TEST_CHILD" // what to be
	busyLoop = "busy"
	member   = "%d of %d joining %s" // node, nodes, address
)

// startChild starts a nodesim, which says "complete" when it sees all n.
func startChild(tb testing.TB, node, n int, join string) *child {
	return run(tb, fmt.Sprintf(member, node, n, join))
}

func startBusyLoop(tb testing.TB) *child { return run(tb, busyLoop) }

func run(tb testing.TB, what string) *child {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	return &child{cmd: cmd, stdin: in, out: bufio.NewScanner(out)}
}

func (c *child) complete(tb testing.TB) {
	tb.Helper()
	if !c.out.Scan() || c.out.Text() != "complete" {
		tb.Fatalf("a process did not see all: %q", c.out.Text())
	}
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// beChild is what the other process does.
func beChild(what string) {
	if what == busyLoop {
		go func() {
			for {
			}
		}()
	} else if err := joinAsChild(what); err != nil {
		fmt.Println(err)
		return
	} else {
		fmt.Println("complete")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func joinAsChild(what string) error {
	var node, n int
	var join string
	if _, err := fmt.Sscanf(what, member, &node, &n, &join); err != nil {
		return err
	}
	c := nodesim(Loopback(), node)
	c.Join = []string{join}
	r, err := Start(context.Background(), c)
	if err != nil {
		return err
	}
	_, err = r.WaitFor(context.Background(), upTo(n))
	return err
}
