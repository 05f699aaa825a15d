package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"
)

// jsonVersion is that of nccl-tests' JSON schema.
const jsonVersion = 3

// JSON writes one document in nccl-tests' schema, at End. Two things are ours:
// the key "railyard", and "devices" standing at the top as well, where people
// look for it; nccl-tests has it in "config" alone.
type JSON struct {
	w       io.Writer
	header  Header
	summary Summary
	rows    []Row
}

// NewJSON returns a JSON writer to w.
func NewJSON(w io.Writer) *JSON { return &JSON{w: w} }

// Begin keeps the header.
func (j *JSON) Begin(h Header) error {
	j.header = h
	return nil
}

// Row keeps the row.
func (j *JSON) Row(r Row) error {
	j.rows = append(j.rows, r)
	j.summary.Add(j.header, r)
	return nil
}

// End writes the document.
func (j *JSON) End(f Footer) error {
	b, err := j.Draft(f)
	if err == nil {
		_, err = j.w.Write(b)
	}
	return err
}

// Draft returns the document as far as it goes.
func (j *JSON) Draft(f Footer) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(j.document(f))
	return b.Bytes(), err
}

// The order and the types of the fields below are nccl-tests'. Some are odd:
// truth values and roots are strings.
type document struct {
	Version     int          `json:"version"`
	StartTime   string       `json:"start_time"`
	Args        []string     `json:"args"`
	Env         []string     `json:"env"`
	NCCLVersion int          `json:"nccl_version"`
	Config      configJSON   `json:"config"`
	Devices     []deviceJSON `json:"devices"`
	Results     []resultJSON `json:"results"`
	OutOfBounds boundsJSON   `json:"out_of_bounds"`
	Average     averageJSON  `json:"average_bus_bandwidth"`
	Errors      []string     `json:"errors"`
	EndTime     string       `json:"end_time"`
	Railyard    any          `json:"railyard,omitempty"`
}

type configJSON struct {
	Threads      int          `json:"nthreads"`
	GPUs         int          `json:"ngpus"`
	MinBytes     int64        `json:"minimum_bytes"`
	MaxBytes     int64        `json:"maximum_bytes"`
	StepFactor   int64        `json:"step_factor,omitempty"`
	StepBytes    int64        `json:"step_bytes,omitempty"`
	Warmup       int          `json:"warmup_iters"`
	Iterations   int          `json:"iterations"`
	Aggregated   int          `json:"aggregated_iterations"`
	Check        int          `json:"validation"`
	Graph        int          `json:"graph"`
	Blocking     string       `json:"blocking_collectives"`
	PerIter      string       `json:"per_iter_timing"`
	PerIterSkip  int          `json:"per_iter_skip"`
	ParallelInit string       `json:"parallel_init"`
	Devices      []deviceJSON `json:"devices"`
}

type deviceJSON struct {
	Rank   int    `json:"rank"`
	Group  int    `json:"group"`
	PID    int    `json:"pid"`
	Host   string `json:"hostname"`
	Device int    `json:"device"`
	BusID  string `json:"device_hex"`
	Name   string `json:"device_info"`
}

type resultJSON struct {
	Size       int64     `json:"size"`
	Count      int64     `json:"count"`
	Type       string    `json:"type"`
	RedOp      string    `json:"redop"`
	Root       string    `json:"root"`
	OutOfPlace *cellJSON `json:"out_of_place"`
	InPlace    *cellJSON `json:"in_place"`
	Iterations int       `json:"actual_iterations"`
	Experiment string    `json:"experiment_name"`
}

type cellJSON struct {
	Time   json.RawMessage `json:"time"` // microseconds; six decimals are exact
	AlgBW  fixed           `json:"alg_bw"`
	BusBW  fixed           `json:"bus_bw"`
	NWrong *fixed          `json:"nwrong"` // null when nobody looked
}

type boundsJSON struct {
	Count int    `json:"count"`
	Okay  string `json:"okay"`
}

type averageJSON struct {
	Bandwidth fixed  `json:"bandwidth"`
	Okay      string `json:"okay"`
}

// fixed is a number with six decimals, as C's %lf.
type fixed float64

// MarshalJSON implements json.Marshaler.
func (f fixed) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'f', 6, 64), nil
}

func (j *JSON) document(f Footer) document {
	h := j.header
	d := document{
		Version: jsonVersion, StartTime: stamp(h.Start), EndTime: stamp(f.End),
		Args: list(h.Args), Env: list(h.Env), NCCLVersion: h.NCCLVersion,
		Config: config(h.Config), Devices: devices(h.Devices), Results: []resultJSON{},
		OutOfBounds: boundsJSON{j.summary.Errors, strconv.FormatBool(j.summary.Errors == 0 && f.Err == "")},
		Average:     averageJSON{fixed(j.summary.BusBandwidth()), j.okay()},
		Errors:      []string{},
		Railyard:    f.Railyard,
	}
	if f.Err != "" {
		d.Errors = append(d.Errors, f.Err)
	}
	d.Config.Devices = d.Devices
	for _, r := range j.rows {
		d.Results = append(d.Results, resultJSON{
			Size: r.Size, Count: r.Count, Type: r.Type, RedOp: r.RedOp, Root: fmt.Sprintf("%6d", r.Root),
			OutOfPlace: j.cell(r.Size, r.OutOfPlace), InPlace: j.cell(r.Size, r.InPlace),
			Iterations: r.Iterations,
		})
	}
	return d
}

func (j *JSON) cell(size int64, c Cell) *cellJSON {
	if c.NA {
		return nil
	}
	alg, bus := Bandwidth(j.header.Op, j.header.Ranks, size, c.TimePs)
	out := &cellJSON{Time: json.RawMessage(microseconds(c.TimePs)), AlgBW: fixed(alg), BusBW: fixed(bus)}
	if c.Checked {
		wrong := fixed(c.Wrong)
		out.NWrong = &wrong
	}
	return out
}

func (j *JSON) okay() string {
	if j.header.MinBusBandwidth <= 0 {
		return "unchecked"
	}
	return strconv.FormatBool(!j.summary.Slow(j.header))
}

func config(c Config) configJSON {
	out := configJSON{
		Threads: c.Threads, GPUs: c.GPUs, MinBytes: c.MinBytes, MaxBytes: c.MaxBytes,
		Warmup: c.Warmup, Iterations: c.Iterations, Aggregated: c.Aggregated, Check: c.Check, Graph: c.Graph,
		Blocking: strconv.FormatBool(c.Blocking != 0), PerIter: "false", ParallelInit: "false",
	}
	if c.StepFactor > 1 {
		out.StepFactor = c.StepFactor
	} else {
		out.StepBytes = c.StepBytes
	}
	return out
}

func devices(ds []Device) []deviceJSON {
	out := make([]deviceJSON, len(ds))
	for i, d := range ds {
		out[i] = deviceJSON{d.Rank, d.Group, d.PID, d.Host, d.Index, d.BusID, d.Name}
	}
	return out
}

// list returns s, and [] rather than null for none.
func list(s []string) []string { return append([]string{}, s...) }

func stamp(t time.Time) string { return t.Format(time.DateTime) }
