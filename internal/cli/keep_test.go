package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// content returns what is in a file.
func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReplace: a file is replaced by another, so that who has it open goes on
// reading the old one; its mode stays, and a symbolic link stays one.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("file", link); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := replace(link, []byte("new and longer")); err != nil {
		t.Fatal(err)
	}
	var old [16]byte
	if n, _ := reader.Read(old[:]); string(old[:n]) != "old" {
		t.Errorf("who had it open reads %q", old[:n])
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || content(t, path) != "new and longer" {
		t.Errorf("the link is %v, %v, the file %q", info, err, content(t, path))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) != 2 {
		t.Errorf("%v are left", all)
	}
}

// TestResultDrafts: the first draft is written at once, one that failed does no
// harm, the end replaces them, and a file made for nothing is removed.
func TestResultDrafts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	r, err := openResult(path)
	if err != nil {
		t.Fatal(err)
	}
	r.draft(func() ([]byte, error) { return nil, errors.New("not yet") })
	r.draft(func() ([]byte, error) { return []byte("one row"), nil })
	if got := content(t, path); got != "one row" {
		t.Errorf("after a draft: %q", got)
	}
	r.content.WriteString("all")
	if err := r.close(); err != nil || content(t, path) != "all" {
		t.Errorf("at the end: %v, %q", err, content(t, path))
	}
	none := filepath.Join(t.TempDir(), "none")
	if r, err = openResult(none); err == nil {
		err = r.close()
	}
	if _, gone := os.Stat(none); err != nil || !errors.Is(gone, os.ErrNotExist) {
		t.Errorf("a file for nothing: %v, %v", err, gone)
	}
}

// halted takes nothing until it is closed.
type halted chan struct{}

func (h halted) Write(b []byte) (int, error) {
	<-h
	return len(b), nil
}

// TestOutlet: a stream that fails is remembered, whoever looks; one that is
// halted lets go when the process is to end.
func TestOutlet(t *testing.T) {
	o := &outlet{w: broken{}}
	_, _ = o.Write([]byte("a"))
	if o.failure() == nil {
		t.Error("a failure is forgotten")
	}
	h := make(halted)
	defer close(h)
	o = &outlet{w: h}
	ctx, cancel := context.WithCancel(t.Context())
	defer release(ctx, o)()
	cancel()
	if _, err := o.Write([]byte("a")); !errors.Is(err, context.Canceled) {
		t.Errorf("a write to a halted stream: %v", err)
	}
}
