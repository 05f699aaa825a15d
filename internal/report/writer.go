package report

import (
	"errors"
	"time"

	"github.com/railyard/railyard/collective"
)

// Writer is a format. Begin comes first, then a Row as each is done, then End,
// once, also after a run that failed. Each returns the error of the underlying
// writer.
type Writer interface {
	Begin(Header) error
	Row(Row) error
	End(Footer) error
}

// Header is what is known before the first row.
type Header struct {
	Op      collective.Op
	Ranks   int // of the communicator of rank 0
	Config  Config
	Devices []Device

	// MinBusBandwidth in GB/s is NCCL_TESTS_MIN_BW; 0 is none.
	MinBusBandwidth float64

	// The rest goes into JSON alone.
	Args        []string // the command line
	Env         []string // NAME=value of the variables that had a say
	NCCLVersion int      // of the library that is modelled, as ncclGetVersion says it: 23007 is 2.30.7
	Start       time.Time
}

// Program is the name of nccl-tests' program for the operation.
func (h Header) Program() string { return h.Op.String() + "_perf" }

// Config is what nccl-tests calls the parameters of a run.
type Config struct {
	Threads, GPUs int   // -t, -g
	MinBytes      int64 // -b
	MaxBytes      int64 // -e
	StepFactor    int64 // -f; below 2 StepBytes holds
	StepBytes     int64 // -i
	Warmup        int   // -w
	Iterations    int   // -n
	Aggregated    int   // -m
	Check         int   // -c
	Graph         int   // -G
	Blocking      int   // -z
}

// Device is one rank of the run.
type Device struct {
	Rank, Group, PID int
	Host             string // the emulated node
	Index            int    // of the GPU in its node
	BusID            string // as printed between brackets: "0x1b"
	Name             string // as nvidia-smi says it
}

// Footer is what is known after the last row.
type Footer struct {
	// Where says where the time went, Timing whether it can be trusted: one
	// line each, empty for none.
	Where, Timing string
	// Untrusted: it can't.
	Untrusted bool
	// Explain says what was considered for each row: lines for the table alone.
	Explain  []string
	Err      string // why the run failed; empty when it did not
	Railyard any    // value of the JSON key "railyard"
	End      time.Time
}

// Multi returns a writer that gives everything to each of ws, and goes on when
// one of them fails.
func Multi(ws ...Writer) Writer { return multi(ws) }

type multi []Writer

func (m multi) Begin(h Header) error { return m.each(func(w Writer) error { return w.Begin(h) }) }
func (m multi) Row(r Row) error      { return m.each(func(w Writer) error { return w.Row(r) }) }
func (m multi) End(f Footer) error   { return m.each(func(w Writer) error { return w.End(f) }) }

func (m multi) each(f func(Writer) error) error {
	var errs []error
	for _, w := range m {
		errs = append(errs, f(w))
	}
	return errors.Join(errs...)
}
