package emu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/shaping"
)

// Scenario is an experiment: operations on a cluster, what breaks meanwhile, and
// what is expected of it.
type Scenario struct {
	Name string
	// Cluster's seed is the scenario's: it draws faults and test data as well.
	Cluster    Cluster
	Resilience Resilience
	// Phases are carried out one after the other.
	Phases []Phase
	Faults []Fault
	Expect []Expectation
}

// Phase is an entry of a scenario's run: one operation, or several at once.
type Phase struct {
	Calls []Call
	// Blocking: a process waits for one of the calls before it makes the next. Else
	// each is on a stream of its own.
	Blocking  bool
	OnFailure Policy
	// MaxAttempts is how often the phase is tried in all.
	MaxAttempts int
	// Timeout is the watchdog's, for this phase. 0: the scenario's.
	Timeout shaping.Duration
}

// Operations returns how many operations the phase is: every iteration of every
// call is one.
func (p *Phase) Operations() int {
	n := 0
	for i := range p.Calls {
		n += p.Calls[i].Iterations
	}
	return n
}

// Call is an operation on a communicator, some times over.
type Call struct {
	Op    collective.Op
	Bytes shaping.Bytes // the size as nccl-tests has it
	// Algorithm and Protocol are names, or empty for what NCCL would choose.
	Algorithm, Protocol string
	DType               collective.DType
	RedOp               collective.RedOp
	Root                int // in the communicator
	Channels            int // 0: as many as the size is worth
	InPlace             bool
	// Ranks are the GPUs of the communicator, in the order of its ranks. Empty: all.
	Ranks      []int
	Iterations int // at least 1
}

// Policy is what is done about a run that failed.
type Policy string

// The policies.
const (
	// Abort ends the scenario: what comes after is not run.
	Abort Policy = "abort"
	// Retry makes the communicator anew, of the same ranks, and tries again.
	Retry Policy = "retry"
	// Failover lets transports go on by another NIC of their node, and aborts where
	// that does not help.
	Failover Policy = "failover"
	// Shrink makes a communicator of the survivors, and does the operation again.
	Shrink Policy = "shrink"
)

// Policies returns all of them, the default first.
func Policies() []Policy { return []Policy{Abort, Retry, Failover, Shrink} }

// DefaultAttempts is how often a phase is tried where retry or shrink do not say.
const DefaultAttempts = 3

// Expectation is what must hold of a run, or of how soon the loss of a process was
// noticed.
type Expectation struct {
	Run    int    // index of the phase
	Detect string // a node; when it is set Run means nothing
	Within shaping.Duration
	Wants  []Want
}

// Want is one thing that must hold.
type Want struct {
	Key      string // of WantKeys
	Word     string // what a word must be
	Relation string // "=", "!=", "<", "<=", ">", ">=" or ".." of figures
	// Value, and with ".." Most, are in the key's unit, or in millionths of what run
	// OfRun gave where that is 0 or more.
	Value, Most int64
	OfRun       int
}

// WantKind is what values of a key are.
type WantKind uint8

// The kinds.
const (
	WantWord WantKind = iota
	WantCount
	WantRate     // B/s
	WantDuration // ps
	WantBytes
)

// WantKey is something that may be expected of a run.
type WantKey struct {
	Word  string
	Kind  WantKind
	Means string
	Words []string // the words that are allowed; nil: any
}

// WantKeys are all keys of expectations, in the order of tables.
var WantKeys = []WantKey{
	{"verdict", WantWord, "how the run ended", []string{"done", "wrong", "failed"}},
	{"cause", WantWord, "why it failed, or why the attempt failed that was recovered from", wordsOf(Causes())},
	{"hang", WantWord, "how it hung", wordsOf(Hangs())},
	{"fault", WantWord, "name of the fault that the failure goes back to, or its type", nil},
	{"link", WantWord, "what is dead: a port, such as node0/nic0/out, or the part that the fault struck, such as leaf0", nil},
	{"text", WantWord, "words that the failure's line must hold", nil},
	{"rank", WantCount, "the rank that stopped it, counted in its communicator", nil},
	{"peer", WantCount, "whom it waited for, or who waits for it", nil},
	{"channel", WantCount, "where", nil},
	{"step", WantCount, "where", nil},
	{"seq", WantCount, "sequence number of the operation on its communicator", nil},
	{"survivors", WantCount, "ranks of the final attempt; where it failed, without those that it lost", nil},
	{"wrong", WantCount, "elements that are not what they must be, on all ranks", nil},
	{"attempts", WantCount, "how often it was tried", nil},
	{"algbw", WantRate, "of the final attempt", nil},
	{"busbw", WantRate, "of the final attempt", nil},
	{"time", WantDuration, "of an iteration of the final attempt, a mean", nil},
	{"total", WantDuration, "from the first issue to the end of it all", nil},
	{"detect", WantDuration, "from the fault until somebody noticed first", nil},
	{"abort", WantDuration, "from then until all ranks knew", nil},
	{"replan", WantDuration, "from then until the next attempt began", nil},
	{"finish", WantDuration, "how long the final attempt took", nil},
	{"redone", WantBytes, "bytes that were sent again, by transports and by attempts", nil},
}

func wordsOf[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, w := range all {
		texts[i] = string(w)
	}
	return texts
}

// LookupWant returns what is known of a key, nil when there is none of that name.
func LookupWant(word string) *WantKey {
	for i := range WantKeys {
		if WantKeys[i].Word == word {
			return &WantKeys[i]
		}
	}
	return nil
}

// String prints a value of the kind as it is read.
func (k WantKind) String(v int64) string {
	switch k {
	case WantRate:
		return shaping.Rate(v).String()
	case WantDuration:
		return shaping.Duration(v).String()
	case WantBytes:
		return shaping.Bytes(v).String()
	default:
		return fmt.Sprint(v)
	}
}

// Text prints what is wanted as it is read.
func (w *Want) Text() string {
	k := LookupWant(w.Key)
	if k == nil || k.Kind == WantWord {
		return w.Word
	}
	figure := func(v int64) string {
		if w.OfRun >= 0 {
			return percent(v)
		}
		return k.Kind.String(v)
	}
	text := figure(w.Value)
	switch w.Relation {
	case "=":
	case "..":
		text += ".." + figure(w.Most)
	default:
		text = w.Relation + " " + text
	}
	if w.OfRun >= 0 {
		text += fmt.Sprintf(" of run %d", w.OfRun)
	}
	return text
}

// percent prints millionths.
func percent(v int64) string {
	const one = 10_000
	text := fmt.Sprint(v / one)
	if rest := v % one; rest != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%04d", rest), "0")
	}
	return text + "%"
}

// Failovers reports whether some phase asks for transports that change NICs.
func (s *Scenario) Failovers() bool {
	return slices.ContainsFunc(s.Phases, func(p Phase) bool { return p.OnFailure == Failover })
}
