package collective

// StepKind says what a step does. See Step for what it reads and writes.
type StepKind uint8

// The kinds of step, a superset of MSCCL's.
const (
	Nop                StepKind = iota // nothing; carries dependencies
	Send                               // send src
	Recv                               // dst = received
	RecvCopySend                       // dst = received; send it on
	RecvReduceCopy                     // dst = src ⊕ received
	RecvReduceSend                     // send src ⊕ received; store nothing
	RecvReduceCopySend                 // dst = src ⊕ received; send it on
	Copy                               // dst = src
	ReduceLocal                        // dst = dst ⊕ src
	Forward                            // send received; store nothing. Src only says how long it is
	numStepKinds
)

var stepNames = [numStepKinds]string{
	Nop: "nop", Send: "send", Recv: "recv", RecvCopySend: "recv-copy-send",
	RecvReduceCopy: "recv-reduce-copy", RecvReduceSend: "recv-reduce-send",
	RecvReduceCopySend: "recv-reduce-copy-send", Copy: "copy", ReduceLocal: "reduce",
	Forward: "forward",
}

// String returns the kind's name as timelines print it.
func (k StepKind) String() string { return name(stepNames[:], int(k)) }

// Receives reports whether the step takes a message from its receive peers.
func (k StepKind) Receives() bool {
	return k >= Recv && k <= RecvReduceCopySend || k == Forward
}

// Sends reports whether the step puts a message on its send connections.
func (k StepKind) Sends() bool {
	return k == Send || k == RecvCopySend || k == RecvReduceSend || k == RecvReduceCopySend || k == Forward
}

// ReadsSrc reports whether the step reads its Src chunks.
func (k StepKind) ReadsSrc() bool {
	return k == Send || (k >= RecvReduceCopy && k <= RecvReduceCopySend) || k == Copy || k == ReduceLocal
}

// WritesDst reports whether the step writes its Dst chunks.
func (k StepKind) WritesDst() bool {
	return k == Recv || k == RecvCopySend || k == RecvReduceCopy || k == RecvReduceCopySend ||
		k == Copy || k == ReduceLocal
}

// Buffer is one of a rank's three buffers.
type Buffer uint8

// The buffers of a rank.
const (
	Input Buffer = iota
	Output
	Scratch
)

// String returns the buffer's name.
func (b Buffer) String() string { return name([]string{"input", "output", "scratch"}, int(b)) }

// Ref names the first of a run of chunks: an index of the block's Window for
// input and output, a plain chunk index for scratch.
type Ref struct {
	Buffer Buffer
	Index  int
}

// Step is one instruction over Count consecutive chunks.
type Step struct {
	Kind     StepKind
	Src, Dst Ref
	Count    int // chunks; 0 means 1
	// Recv and Send pick the peers of this step: bit i is the block's
	// RecvFrom[i] or SendTo[i], and All is each. Several received messages are reduced in one
	// pass, in the order of their bits.
	Recv, Send Mask
	// Deps must be done before the step begins, in the same loop.
	Deps []Dep
}

// Chunks returns the number of chunks the step works on.
func (s *Step) Chunks() int { return max(s.Count, 1) }

// Dep waits until another block of the same rank has finished a step.
type Dep struct{ Block, Step int }
