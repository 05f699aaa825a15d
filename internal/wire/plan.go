package wire

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
)

// MaxFile is the most bytes of a plan's text that a run can carry: what is left
// of a message when everything else has had a mebibyte.
const MaxFile = MaxMessage - 1<<20

// CheckFile says why a plan's text cannot be sent to processes; nil: it can.
func CheckFile(text []byte) error {
	if len(text) <= MaxFile {
		return nil
	}
	return fmt.Errorf("the file has %d bytes; processes take at most %d, since each run carries it in one message; predict takes more", len(text), MaxFile)
}

// planCache keeps the plans read last. Every batch of a sweep carries the same
// file, and reading it takes longer than running it.
type planCache struct {
	mu   sync.Mutex
	last [4]cachedPlan
	next int
}

type cachedPlan struct {
	key  [sha256.Size]byte
	root int
	file *msccl.File
	plan *collective.Plan
}

var plans planCache

// read returns the plan of a file whose text came in a message. Several callers
// may hold one plan: nobody changes it.
func (c *planCache) read(text []byte, root int) (*msccl.File, *collective.Plan, error) {
	if err := CheckFile(text); err != nil {
		return nil, nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := cachedPlan{key: sha256.Sum256(text), root: root}
	for i := range c.last {
		if l := &c.last[i]; l.plan != nil && l.key == p.key && l.root == root {
			return l.file, l.plan, nil
		}
	}
	var err error
	if p.file, err = msccl.Parse(text); err != nil {
		return nil, nil, err
	}
	if p.plan, err = p.file.Plan(root); err != nil {
		return nil, nil, err
	}
	c.last[c.next] = p
	c.next = (c.next + 1) % len(c.last)
	return p.file, p.plan, nil
}
