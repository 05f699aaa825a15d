package verbs

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/wire"
)

// standing is a cluster that stays: its file, which its coordinator holds a lock on
// for as long as it lives. A file that nobody has locked is stale, however its
// coordinator ended, and whoever has its number by now.
type standing struct {
	file *os.File
	path string
}

// place is what the file says.
type place struct {
	PID     int    `json:"pid"`
	Address string `json:"address"` // empty: it is still starting
}

// standingPath returns where the file of a cluster is.
func standingPath(id, ext string) (string, error) {
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		var err error
		if dir, err = os.UserCacheDir(); err != nil {
			return "", wire.Failf(wire.Config, "no directory for what is up: %v; set XDG_RUNTIME_DIR", err)
		}
	}
	return filepath.Join(dir, "railyard", id+ext), nil
}

// claim takes the name of a cluster.
func claim(id string) (*standing, error) {
	path, err := standingPath(id, ".json")
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, wire.Failf(wire.Config, "%v; set XDG_RUNTIME_DIR to a directory that can be written", err)
	}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, wire.Failf(wire.Config, "%v; set XDG_RUNTIME_DIR to a directory that can be written", err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			p := readPlace(f)
			_ = f.Close()
			return nil, wire.Failf(wire.Config, "cluster %s is up already, at %s (pid %d); coordinator down ends it, or give another --cluster-id", id, p.Address, p.PID)
		}
		// Whoever held it may have removed it meanwhile.
		if there, err := os.Stat(path); err == nil {
			if mine, err := f.Stat(); err == nil && os.SameFile(there, mine) {
				s := &standing{file: f, path: path}
				return s, s.write(place{PID: os.Getpid()})
			}
		}
		_ = f.Close()
	}
}

func readPlace(f *os.File) (p place) {
	_ = json.NewDecoder(f).Decode(&p) // empty while it is being written
	return p
}

func (s *standing) write(p place) error {
	b, err := json.Marshal(p)
	if err == nil {
		err = s.file.Truncate(0)
	}
	if err == nil {
		_, err = s.file.WriteAt(append(b, '\n'), 0)
	}
	if err != nil {
		return wire.Failf(wire.Config, "%s: %v", s.path, err)
	}
	return nil
}

// release gives the name back. The lock stays until this process ends, or the file
// is closed, so that who holds the file sees the end of all of it.
func (s *standing) release() {
	_ = os.Remove(s.path) // nobody can have another file there: the lock is ours
}

// errStale says that a cluster has ended without taking its file with it.
var errStale = errors.New("stale")

// locate returns where a cluster is. A stale file is removed.
func locate(id string) (place, error) {
	path, err := standingPath(id, ".json")
	if err != nil {
		return place{}, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return place{}, wire.Failf(wire.Config, "no cluster %s is up; coordinator up --detach starts one, --connect ADDR names one elsewhere", id)
	}
	if err != nil {
		return place{}, wire.Failf(wire.Config, "%v", err)
	}
	p := readPlace(f)
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
		_ = os.Remove(path)
		return p, errors.Join(errStale, wire.Failf(wire.Config, "cluster %s (pid %d) has ended without coordinator down; start another with coordinator up --detach", id, p.PID))
	}
	if p.Address == "" {
		return p, wire.Failf(wire.Config, "cluster %s (pid %d) is still starting", id, p.PID)
	}
	return p, nil
}

// address returns where the coordinator is that a command line means.
func address(r *cli.Reach) (string, error) {
	if r.Connect != "" {
		return r.Connect, nil
	}
	p, err := locate(r.ClusterID)
	return p.Address, err
}
