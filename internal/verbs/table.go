package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/report"
	"github.com/railyard/railyard/internal/wire"
	"github.com/railyard/railyard/shaping"
)

// patches are the releases of each version that the tuner's constants were read
// from; of the others nobody knows better than the first.
var patches = map[int]int{18: 3, 19: 3, 21: 5, 23: 4, 26: 6, 27: 7, 30: 7}

// ncclVersion is the release whose constants the tuner follows, as
// ncclGetVersion says it: 23007 is 2.30.7.
func ncclVersion(minor int) int {
	const major = 2
	return major*10000 + minor*100 + max(patches[minor], 1)
}

// table gives the rows of a bench to a report, and keeps what the footer says.
type table struct {
	config  *cli.BenchConfig
	sink    report.Sink
	records []*record // --timeline, --trace

	begun   bool
	started coordinator.Started
	rows    []rowJSON
	explain *explanation // nil without --explain
	cost    coordinator.Cost
	where   string
	largest int64
	// iterations is the largest number that any cell took.
	iterations int
	// paces are the rows' under the paced clock, predicted what predict says of
	// them for --compare.
	paces     []pacedRow
	predicted []sweep.Row
	changes   []changeJSON // of faults, while it ran
}

// railyard is the value of the JSON key of that name.
type railyard struct {
	Version string       `json:"version"`
	Verb    string       `json:"verb"`
	Spec    string       `json:"spec"` // effective cluster, as YAML
	Seed    uint64       `json:"seed"`
	Split   string       `json:"split,omitempty"` // as NCCL_TESTS_SPLIT takes it
	Clock   string       `json:"clock"`
	Procs   int          `json:"procs"`
	Rows    []rowJSON    `json:"rows"`
	Explain *explanation `json:"explain,omitempty"` // --explain
	Failure *failureJSON `json:"failure,omitempty"`
	// Perturbed is from when on it was not a matter of what was declared before it began.
	Perturbed *int64       `json:"perturbed_ps,omitempty"`
	Changes   []changeJSON `json:"changes,omitempty"` // of faults, while it ran
	costJSON
	Trust trustJSON `json:"trust"`
}

type rowJSON struct {
	Size      int64  `json:"size"`
	Type      string `json:"type"`
	RedOp     string `json:"redop"`
	Algorithm string `json:"algorithm"`
	Protocol  string `json:"protocol"`
	Channels  int    `json:"channels"`
	Payload   string `json:"payload"`
	costJSON
	Where   string       `json:"where"`
	Pace    *paceJSON    `json:"pace,omitempty"`    // under the paced clock
	Compare *compareJSON `json:"compare,omitempty"` // --compare
}

type costJSON struct {
	Rounds uint64  `json:"rounds"`
	Grants uint64  `json:"grants"`
	Frames uint64  `json:"frames"`
	Events uint64  `json:"events"`
	Wall   float64 `json:"wall_seconds"`
}

// failureJSON is why a run ended early.
type failureJSON struct {
	Cause  string `json:"cause"`            // verdict word
	Text   string `json:"text"`             // one line
	Member string `json:"member,omitempty"` // process at fault
	// Detect is how long it took, in wall time, to notice that a process was
	// lost; at most so long, where the instant of the loss is not known.
	Detect float64 `json:"detect_wall_seconds,omitempty"`
}

// changeJSON is something done to the faults while the bench ran.
type changeJSON struct {
	At   int64  `json:"at_ps"`
	Row  int    `json:"row"` // of those above, counted from 0
	Says string `json:"says"`
}

type trustJSON struct {
	Trustworthy bool   `json:"trustworthy"`
	Why         string `json:"why"`
	ErrorPs     int64  `json:"error_ps"` // by how much a reported time may be off
	// Enough is a dilation at which nothing would have been late.
	Enough int64 `json:"enough_dilation,omitempty"`
	// Departures and Deliveries are how late frames and credits of all rows were.
	Departures *latenessJSON `json:"departure_lateness,omitempty"`
	Deliveries *latenessJSON `json:"delivery_lateness,omitempty"`
}

func cost(c coordinator.Cost) costJSON {
	return costJSON{c.Rounds, c.Grants, c.Frames, c.Events, c.Wall.Seconds()}
}

// newTable opens the files of what happened, if any are wanted.
func newTable(ctx context.Context, c *cli.BenchConfig, sink report.Sink) (*table, error) {
	t := &table{config: c, sink: sink}
	if c.Explain {
		t.explain = &explanation{NCCL: c.NCCL}
	}
	if c.Trace != "" && c.Trace == c.Timeline {
		return nil, wire.Failf(wire.Config, "--trace %s: --timeline writes there already; name two files", c.Trace)
	}
	for _, file := range []struct{ flag, name string }{{"--timeline", c.Timeline}, {"--trace", c.Trace}} {
		if file.name == "" {
			continue
		}
		r, err := openRecord(ctx, file.flag, file.name, c.JSON, file.flag == "--trace")
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.records = append(t.records, r)
	}
	return t, nil
}

// writer returns where the timeline goes, or nil.
func (t *table) writer() io.Writer {
	var all []io.Writer
	for _, r := range t.records {
		all = append(all, r)
	}
	if all == nil {
		return nil
	}
	return io.MultiWriter(all...)
}

// flush writes what is held of the records of what happened.
func (t *table) flush() (err error) {
	for _, r := range t.records {
		err = cmp.Or(err, r.lines.flush())
	}
	return err
}

// close ends them.
func (t *table) close() (err error) {
	for _, r := range t.records {
		err = cmp.Or(err, r.close())
	}
	return err
}

func (t *table) coordinatorSink() coordinator.Sink {
	return coordinator.Sink{Started: t.begin, Row: t.row, Doing: t.doing, Changed: t.changed, Timeline: t.writer()}
}

func (t *table) doing(what string) {
	t.sink.Progress(len(t.rows), t.started.Rows, t.config.Op.String()+", "+what)
}

func (t *table) changed(c coordinator.Change) {
	t.changes = append(t.changes, changeJSON{int64(c.At), len(t.rows), c.Says})
	t.doing(t.changes[len(t.changes)-1].line())
}

func (c *changeJSON) line() string { return fmt.Sprintf("at %v %s", shaping.Time(c.At), c.Says) }

// perturbed says what was done to the faults while the bench ran.
func (t *table) perturbed() (lines []string) {
	if len(t.changes) == 0 {
		return nil
	}
	lines = append(lines, fmt.Sprintf("Perturbed from %v on: faults changed while it ran, so that it is not a matter of what was declared before", shaping.Time(t.changes[0].At)))
	for i := range t.changes {
		lines = append(lines, "  "+t.changes[i].line())
	}
	return lines
}

func (t *table) begin(s coordinator.Started) error {
	t.started, t.begun = s, true
	start := report.Start{NCCLVersion: ncclVersion(t.config.Tuning.Release())}
	for _, d := range s.Devices {
		if d.Group == s.Devices[0].Group {
			start.Ranks++
		}
		start.Devices = append(start.Devices, report.Device{Rank: d.Rank, Group: d.Group, PID: int(d.PID), Index: d.GPU,
			Host: fmt.Sprintf("node%d", d.Node), BusID: busID(d.GPU), Name: d.Model})
	}
	if err := errors.Join(t.debug(&s), t.explain.look(s.Cluster)); err != nil {
		return err
	}
	if err := t.sink.Begin(start); err != nil {
		return err
	}
	t.sink.Progress(0, s.Rows, t.config.Op.String())
	return nil
}

// busIDs are the PCI buses of the GPUs of a DGX H100, as nvidia-smi lists them.
var busIDs = [...]string{"0x1b", "0x43", "0x52", "0x61", "0x9d", "0xc3", "0xd1", "0xdf"}

func busID(gpu int) string { return busIDs[gpu%len(busIDs)] }

func (t *table) row(r coordinator.Row) error {
	row := report.NewRow(t.config.Op, r.DType, r.RedOp, r.Root, 0, 1)
	row.Size, row.Count = r.Size, r.Count
	row.OutOfPlace, row.InPlace = cell(r.OutOfPlace), cell(r.InPlace)
	row.Iterations = r.Run.Iterations
	t.cost.Add(r.Cost)
	t.iterations = max(t.iterations, r.Run.Iterations)
	if r.Size >= t.largest {
		t.largest, t.where = r.Size, r.Explain
	}
	t.rows = append(t.rows, rowJSON{Size: row.Size, Type: row.Type, RedOp: row.RedOp,
		Algorithm: r.Chosen.Algorithm, Protocol: r.Chosen.Protocol.String(), Channels: r.Channels,
		Payload: r.Case.Payload.String(), costJSON: cost(r.Cost), Where: r.Explain})
	t.addPace(&r)
	t.explain.add(&row, &r)
	t.debugChoice(&row, &r)
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.sink.Row(row); err != nil {
		return err
	}
	t.sink.Progress(len(t.rows), t.started.Rows, t.config.Op.String())
	return nil
}

func cell(c sweep.Cell) report.Cell {
	return report.Cell{TimePs: int64(c.Time), Wrong: c.Wrong, Checked: c.Checked, NA: c.NA}
}

// end writes the footer, and the timeline to its end. It returns err, or what
// went wrong with either.
func (t *table) end(verb, version string, err error) error {
	err = cmp.Or(err, t.close())
	if !t.begun {
		return err
	}
	t.explain.cross()
	own := t.railyard(verb, version)
	if fail := (*wire.Failure)(nil); errors.As(err, &fail) {
		own.Failure = &failureJSON{Cause: fail.Cause.String(), Text: fail.Text, Member: fail.Member, Detect: fail.Took.Seconds()}
	}
	f := report.Footer{Railyard: own, Explain: slices.Concat(t.perturbed(), t.comparison(), t.explain.lines()), End: time.Now()}
	if err != nil {
		f.Err = err.Error()
		if v := (*wire.Failure)(nil); errors.As(err, &v) && v.At != wire.NoInstant {
			f.Err = (&failed{v}).Error() // the verdict on the emulated cluster
		}
	} else {
		f.Where, f.Timing, f.Untrusted = t.whereLine(), t.timing(), !t.trust().Trustworthy
	}
	if e := t.sink.End(f); err == nil {
		err = e
	}
	return err
}

func (t *table) whereLine() string {
	if t.where == "" {
		return ""
	}
	return fmt.Sprintf("at %d bytes %s", t.largest, t.where)
}

// timing says whether the times can be trusted, and what they cost.
func (t *table) timing() string {
	if t.config.Clock == cli.Paced {
		return t.pacedTiming()
	}
	how := "one kernel"
	if t.started.Procs > 0 {
		how = fmt.Sprintf("%s, %d rounds, %d grants, %d frames", procs(t.started.Procs),
			t.cost.Rounds, t.cost.Grants, t.cost.Frames)
	}
	return fmt.Sprintf("trustworthy: computed, whatever the host's load; %s, %d events in %.2f s; %d iterations a cell at most, as a steady state needs no more of -n and -w",
		how, t.cost.Events, t.cost.Wall.Seconds(), t.iterations)
}

func (t *table) railyard(verb, version string) railyard {
	own := railyard{Version: version, Verb: verb, Spec: string(t.started.Cluster.YAML()), Seed: t.config.Seed,
		Split: t.config.Split.String(), Clock: t.config.Clock, Procs: t.started.Procs, Rows: t.rows, Explain: t.explain, costJSON: cost(t.cost),
		Trust: t.trust(), Changes: t.changes}
	if len(t.changes) > 0 {
		own.Perturbed = &t.changes[0].At
	}
	return own
}
