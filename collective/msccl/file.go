package msccl

import (
	"fmt"

	"github.com/railyard/railyard/collective"
)

// File is a plan as its file says it. Parse returns files that hold together:
// every reference lies in its buffer, every message is received as it was sent.
type File struct {
	Name     string
	Coll     string // as written; empty if it is missing
	Op       collective.Op
	Protocol collective.Protocol
	Ranks    int // ngpus
	Channels int // at least 1
	// Chunks is nchunksperloop: into how many chunks the larger of input and
	// output is cut.
	Chunks int
	// InPlace and OutOfPlace say for which layouts of the buffers the file is
	// meant. A file that names none may be meant for either: Unstated.
	InPlace, OutOfPlace, Unstated bool
	// MinBytes and MaxBytes bound the messages that the file is meant for, in
	// bytes of the larger buffer. MaxBytes 0: no bound.
	MinBytes, MaxBytes int64
	GPUs               []GPU // by rank
	// Notes are what a reader should know: what was passed over, or read in a
	// way the author may not have meant.
	Notes []string

	more int // notes beyond maxNotes
}

// GPU is what one rank does.
type GPU struct {
	ID, Line int
	// Input, Output and Scratch are buffer sizes in chunks, as written: a
	// buffer that is an alias often has 0.
	Input, Output, Scratch int
	// Copies are done before anything else.
	Copies []Copy
	Blocks []Block // by id
}

// Copy copies one chunk of the input to the output.
type Copy struct{ From, To, Line int }

// Block is a thread block. Send and Recv are ranks, or -1.
type Block struct {
	ID, Send, Recv, Channel, Line int
	Steps                         []Step
}

// Step is one instruction.
type Step struct {
	Kind     collective.StepKind
	Src, Dst collective.Ref
	Count    int
	// DepBlock and DepStep are what it waits for first; DepBlock -1: nothing.
	DepBlock, DepStep int
	// HasDep: others are told when it is done.
	HasDep bool
	Line   int
}

// Error is what makes a file unusable, and where.
type Error struct {
	Line int // from 1; 0: the file as a whole
	Text string
}

// Error returns the line and the text.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Text
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Text)
}

func bad(line int, format string, args ...any) error {
	return &Error{line, fmt.Sprintf(format, args...)}
}

func (f *File) note(format string, args ...any) {
	if len(f.Notes) < maxNotes {
		f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
	} else {
		f.more++
	}
}

// Line returns the line of a place in the file's plan, 0 if it has none.
func (f *File) Line(at collective.Place) int {
	if at.Rank < 0 || at.Rank >= len(f.GPUs) {
		return 0
	}
	g := &f.GPUs[at.Rank]
	switch {
	case at.Block < 0:
		return g.Line
	case at.Block >= len(g.Blocks):
		if len(g.Copies) > 0 {
			return g.Copies[0].Line
		}
		return g.Line
	case at.Step < 0 || at.Step >= len(g.Blocks[at.Block].Steps):
		return g.Blocks[at.Block].Line
	}
	return g.Blocks[at.Block].Steps[at.Step].Line
}

// Layouts returns the layouts the file is meant for: in place is true.
func (f *File) Layouts() []bool {
	var all []bool
	if f.OutOfPlace || f.Unstated {
		all = append(all, false)
	}
	if f.InPlace || f.Unstated {
		all = append(all, true)
	}
	return all
}
