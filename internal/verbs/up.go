package verbs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/gossip"
	"github.com/railyard/railyard/internal/wire"
)

// announce is the variable that tells a coordinator in the background on which file
// to say its address once it is up.
const (
	announce   = "RAILYARD_ANNOUNCE"
	announceFD = 3 // the first of exec.Cmd's extra files
)

// up runs a cluster that stays.
func (v verbs) up(ctx context.Context, c cli.UpConfig) error {
	if c.Detach {
		return coded(ctx, detach(ctx, &c))
	}
	tell := announcer()
	defer tell.Close()
	s, err := claim(c.ClusterID)
	if err != nil {
		return coded(ctx, err)
	}
	defer s.release()
	addr := ""
	config := coordinator.Config{Cluster: c.Cluster, ClusterID: c.ClusterID, Version: v.version, Gossip: gossip.Loopback(),
		Spawn: true, Procs: c.Procs, Nodesim: c.Nodesim, Logger: c.Log}
	config.Ready = func() {
		if err := s.write(place{PID: os.Getpid(), Address: addr}); err != nil {
			c.Log.Sugar().Warn(err)
		}
		fmt.Fprintf(tell, "%s\n", addr)
		_ = tell.Close()
	}
	err = coordinator.Serve(ctx, config, c.Listen, func(service, _ string) { addr = service })
	return coded(context.Background(), err)
}

// announcer returns where the address goes: to the program that waits for it, or to
// stdout.
func announcer() io.WriteCloser {
	if os.Getenv(announce) == "" {
		return &greeting{}
	}
	_ = os.Unsetenv(announce)
	syscall.CloseOnExec(announceFD) // or nodesims would hold it open
	return os.NewFile(announceFD, announce)
}

// greeting is what a person reads.
type greeting struct{}

func (*greeting) Write(b []byte) (int, error) {
	return len(b), greet(strings.TrimSpace(string(b)))
}

func (*greeting) Close() error { return nil }

func greet(addr string) error {
	_, err := fmt.Fprintf(os.Stdout, "up, serving on %s\ncoordinator bench all_reduce --connect %s runs on it, coordinator down ends it\n", addr, addr)
	return err
}

// detach runs this program again in the background, in a session of its own, and
// returns when its cluster is up.
func detach(ctx context.Context, c *cli.UpConfig) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	logPath, err := standingPath(c.ClusterID, ".log")
	if err != nil {
		return err
	}
	// Found out before the log of one that is up would be cut.
	s, err := claim(c.ClusterID)
	if err != nil {
		return err
	}
	log, err := os.Create(logPath)
	s.release()
	_ = s.file.Close()
	if err != nil {
		return wire.Failf(wire.Config, "%v", err)
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	args := slices.DeleteFunc(slices.Clone(c.Args), func(a string) bool { return a == "-d" || a == "--detach" || strings.HasPrefix(a, "--detach=") })
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", announce, announceFD))
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err
	}
	release := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
	said, err := io.ReadAll(r)
	addr := string(bytes.TrimSpace(said))
	if release() && err == nil && addr != "" {
		return greet(addr)
	}
	return cmp.Or(ctx.Err(), failedStart(cmd, logPath))
}

// failedStart passes on what a program in the background said before it ended.
func failedStart(cmd *exec.Cmd, logPath string) error {
	_ = cmd.Wait() // the state says it all
	said, err := os.ReadFile(logPath)
	if err != nil {
		return err
	}
	text := strings.ReplaceAll(strings.TrimSpace(string(said)), "coordinator: ", "")
	return &cli.ExitError{Code: max(cmd.ProcessState.ExitCode(), 1), Err: errors.New(text)}
}

// patience is how long a cluster may take to end.
const patience = 2 * time.Second // CLI.md: what ends does so within two seconds

// down ends a cluster that stays.
func (v verbs) down(ctx context.Context, c cli.DownConfig) error {
	return coded(ctx, end(ctx, &c.Reach))
}

func end(ctx context.Context, r *cli.Reach) error {
	if r.Connect != "" {
		client, err := coordinator.Connect(ctx, r.Connect)
		if err != nil {
			return err
		}
		defer client.Close()
		if err := client.Shutdown(ctx, "coordinator down"); err != nil {
			return err
		}
		_, err = fmt.Fprintf(os.Stdout, "%s is ending\n", r.Connect)
		return err
	}
	p, err := locate(r.ClusterID)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path, err := standingPath(r.ClusterID, ".json")
	if err != nil {
		return err
	}
	held, err := os.Open(path)
	if err != nil {
		return wire.Failf(wire.Config, "cluster %s is ending already: %v", r.ClusterID, err)
	}
	defer held.Close()
	if client, err := coordinator.Connect(limited, p.Address); err == nil {
		_ = client.Shutdown(limited, "coordinator down") // what follows sees whether it ended
		client.Close()
	}
	how := "down"
	if !gone(limited, held) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		// It holds the lock, so the number is still its own. Its nodesims notice.
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil {
			return wire.Failf(wire.Timeout, "cluster %s (pid %d) does not end: %v", r.ClusterID, p.PID, err)
		}
		_ = os.Remove(path)
		how = "killed, since it did not answer"
	}
	_, err = fmt.Fprintf(os.Stdout, "cluster %s (pid %d) is %s\n", r.ClusterID, p.PID, how)
	return err
}

// gone waits until nobody holds the lock of a cluster: its process has ended.
func gone(ctx context.Context, held *os.File) bool {
	const often = 10 * time.Millisecond // a look costs a system call
	tick := time.NewTicker(often)
	defer tick.Stop()
	for syscall.Flock(int(held.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
