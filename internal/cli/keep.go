package cli

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// replace writes a file in one piece: whoever reads it, after a crash as well,
// finds all of what it was or all of what it is to be. What is no regular file, a
// pipe or a device, is written to as it is; so is a file in a folder in which no
// other can be made.
func replace(path string, data []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, 0o666)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	err := renameio.WriteFile(path, data, 0o666, renameio.WithTempDir(filepath.Dir(path)))
	if errors.Is(err, fs.ErrPermission) {
		return os.WriteFile(path, data, 0o666)
	}
	var at *fs.PathError // that of the temporary file, which says nothing to users
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// resultFile is a file that gets its content whenever there is more of it, each
// time in one piece. It is opened first of all, so that a run whose result could
// not be kept does not begin, and what was in it stays until there is something
// better.
type resultFile struct {
	f       *os.File
	created bool
	stream  bool // not a regular file: it gets its content once, at the end
	written bool
	content bytes.Buffer

	drafted time.Time     // when the last draft was done
	took    time.Duration // how long it took
}

func openResult(path string) (*resultFile, error) {
	_, err := os.Stat(path)
	created := errors.Is(err, os.ErrNotExist)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return &resultFile{f: f, created: created, stream: err == nil && !info.Mode().IsRegular()}, nil
}

// rest is how many times as long as a draft took nothing is written after it:
// the longer the result, the rarer its drafts.
const rest = 20

// draft writes what there is so far. An error may mend itself, once there is
// room on the disk: the end tells.
func (r *resultFile) draft(text func() ([]byte, error)) {
	began := time.Now()
	if r.stream || r.written && began.Sub(r.drafted) < rest*r.took {
		return
	}
	if b, err := text(); err == nil && replace(r.f.Name(), b) == nil {
		r.written = true
	}
	r.drafted = time.Now()
	r.took = r.drafted.Sub(began)
}

// close writes the content. A file that was made for a result that never came
// is removed.
func (r *resultFile) close() error {
	switch {
	case r.content.Len() == 0:
		if r.created && !r.written {
			os.Remove(r.f.Name())
		}
		return r.f.Close()
	case r.stream:
		_, err := r.content.WriteTo(r.f)
		return errors.Join(err, r.f.Close())
	}
	return errors.Join(replace(r.f.Name(), r.content.Bytes()), r.f.Close())
}
