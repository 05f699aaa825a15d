package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// parsed is what a parser gets out of a row.
type parsed struct{ size, time, alg, bus, ipTime, ipAlg, ipBus float64 }

// The three parsers below read nccl-tests' output in the ways found in
// benchmark suites, cluster health checks and notebooks: one expression for
// thirteen columns, fields split at blanks, and the tail of the fields.

var thirteen = regexp.MustCompile(`(?m)^\s*(\d+)\s+(\d+)\s+(\w+)\s+(\w+)\s+(-?\d+)` +
	`\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\d+|N/A)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+(\d+|N/A)\s*$`)

func byExpression(out string) (rows []parsed) {
	for _, m := range thirteen.FindAllStringSubmatch(out, -1) {
		rows = append(rows, parsed{num(m[1]), num(m[6]), num(m[7]), num(m[8]), num(m[10]), num(m[11]), num(m[12])})
	}
	return rows
}

func byFields(out string) (rows []parsed) {
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 13 || strings.HasPrefix(line, "#") {
			continue
		}
		rows = append(rows, parsed{num(f[0]), num(f[5]), num(f[6]), num(f[7]), num(f[9]), num(f[10]), num(f[11])})
	}
	return rows
}

// byTail names its columns by the header line, as spreadsheets do.
func byTail(out string) (rows []parsed) {
	var names []string
	for line := range strings.Lines(out) {
		f := strings.Fields(strings.TrimPrefix(line, "#"))
		switch {
		case len(f) > 0 && f[0] == "size":
			names = f
		case names != nil && len(f) == len(names) && !strings.HasPrefix(line, "#"):
			tail := f[len(f)-8:]
			rows = append(rows, parsed{num(f[0]), num(tail[0]), num(tail[1]), num(tail[2]), num(tail[4]), num(tail[5]), num(tail[6])})
		}
	}
	return rows
}

func num(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return v
}

func TestExistingParsers(t *testing.T) {
	r := allReduce()
	r.rows[3].InPlace.Checked = false
	var b bytes.Buffer
	r.write(t, NewTable(&b))
	var want []parsed
	for _, row := range r.rows {
		p := parsed{size: float64(row.Size), time: float64(row.OutOfPlace.TimePs) / 1e6, ipTime: float64(row.InPlace.TimePs) / 1e6}
		p.alg, p.bus = Bandwidth(r.header.Op, r.header.Ranks, row.Size, row.OutOfPlace.TimePs)
		p.ipAlg, p.ipBus = Bandwidth(r.header.Op, r.header.Ranks, row.Size, row.InPlace.TimePs)
		want = append(want, p)
	}
	for name, parse := range map[string]func(string) []parsed{"expression": byExpression, "fields": byFields, "tail": byTail} {
		got := parse(b.String())
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
			continue
		}
		for i := range got {
			if !near(got[i], want[i]) {
				t.Errorf("%s: row %d: got %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
}

// TestParsersReadEveryOperation: where nobody looked, only #wrong is N/A, as in
// nccl-tests, so that the columns stay numbers. nccl-tests has no barrier.
func TestParsersReadEveryOperation(t *testing.T) {
	r := ops()
	var b bytes.Buffer
	r.write(t, NewTable(&b))
	for name, parse := range map[string]func(string) []parsed{"expression": byExpression, "fields": byFields, "tail": byTail} {
		numbers := 0
		for _, row := range parse(b.String()) {
			if v := row.time + row.alg + row.bus + row.ipTime + row.ipAlg + row.ipBus; !math.IsNaN(v) {
				numbers++
			}
		}
		if want := len(r.rows) - 1; numbers != want {
			t.Errorf("%s: numbers in %d of %d rows, want all but the barrier's", name, numbers, len(r.rows))
		}
	}
}

// near allows for two printed decimals.
func near(a, b parsed) bool {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if !(math.Abs(va.Field(i).Float()-vb.Field(i).Float()) <= 0.0051) {
			return false
		}
	}
	return true
}

// Lines around the rows, as scripts pick them.
func TestExistingLineParsers(t *testing.T) {
	var b bytes.Buffer
	r := allReduce()
	r.write(t, NewTable(&b))
	var s Summary
	for _, row := range r.rows {
		s.Add(r.header, row)
	}
	for _, c := range []struct{ expression, want string }{
		{`#\s*Avg bus bandwidth\s*:\s*([\d.]+)`, general(s.BusBandwidth())},
		{`(?m)^\s*#\s*Avg bus bandwidth\s*:\s*(\S+)\s*$`, general(s.BusBandwidth())},
		{`# Out of bounds values\s*:\s*(\d+)\s*(?:OK|FAILED)?`, "0"},
		{`Out of bounds values\s*:\s*0\s*(OK)`, "OK"},
		{`(?m)^# Collective test starting: (\S+)`, "all_reduce_perf"},
		{`(?m)^# Collective test concluded: (\S+)$`, "all_reduce_perf"},
		{`\bnGpus (\d+)\b`, "1"},
		{`minBytes (\d+) maxBytes \d+ step: \d+\(factor\) warmup iters: \d+ iters: \d+ agg iters: \d+ validation: \d+ graph: \d+`, "16"},
		{`(?m)^#\s+Rank\s+15 Group\s+0 Pid\s+\d+ on\s+\S+ device\s+7 \[[^\]]+\] (.+)$`, "NVIDIA H100 80GB HBM3"},
	} {
		if m := regexp.MustCompile(c.expression).FindStringSubmatch(b.String()); m == nil || m[1] != c.want {
			t.Errorf("%s finds %v, want %q", c.expression, m, c.want)
		}
	}
	lines := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' })
	for _, line := range lines { // grep '# Avg bus bandwidth' | awk '{print $NF}'
		if f := strings.Fields(line); strings.Contains(line, "# Avg bus bandwidth") && f[len(f)-1] != general(s.BusBandwidth()) {
			t.Errorf("the last field of %q is not the average", line)
		}
	}
}

// schema says which keys nccl-tests' JSON has and what type each is of.
type schema map[string]any

var cellSchema = schema{"time": 0., "alg_bw": 0., "bus_bw": 0., "nwrong": 0.}

var deviceSchema = schema{"rank": 0., "group": 0., "pid": 0., "hostname": "", "device": 0., "device_hex": "", "device_info": ""}

var documentSchema = schema{
	"version": 0., "start_time": "", "end_time": "", "args": []any{""}, "env": []any{""}, "nccl_version": 0.,
	"config": schema{
		"nthreads": 0., "ngpus": 0., "minimum_bytes": 0., "maximum_bytes": 0., "step_factor": 0.,
		"warmup_iters": 0., "iterations": 0., "aggregated_iterations": 0., "validation": 0., "graph": 0.,
		"blocking_collectives": "", "per_iter_timing": "", "per_iter_skip": 0., "parallel_init": "",
		"devices": []any{deviceSchema},
	},
	"devices": []any{deviceSchema},
	"results": []any{schema{
		"size": 0., "count": 0., "type": "", "redop": "", "root": "",
		"out_of_place": cellSchema, "in_place": cellSchema, "actual_iterations": 0., "experiment_name": "",
	}},
	"out_of_bounds":         schema{"count": 0., "okay": ""},
	"average_bus_bandwidth": schema{"bandwidth": 0., "okay": ""},
	"errors":                []any{""},
	"railyard":              nil,
}

// check reports where v differs from a schema: keys and types, both ways.
func check(path string, want, v any) (errs []string) {
	switch want := want.(type) {
	case nil:
	case schema:
		m, ok := v.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, not an object", path, v)}
		}
		for k := range want {
			if _, ok := m[k]; !ok {
				errs = append(errs, path+"."+k+" is missing")
			}
		}
		for k := range m {
			if sub, ok := want[k]; !ok {
				errs = append(errs, path+"."+k+" is not in the schema")
			} else {
				errs = append(errs, check(path+"."+k, sub, m[k])...)
			}
		}
	case []any:
		list, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is %T, not a list", path, v)}
		}
		for i, e := range list {
			errs = append(errs, check(fmt.Sprintf("%s[%d]", path, i), want[0], e)...)
		}
	default:
		if reflect.TypeOf(v) != reflect.TypeOf(want) {
			errs = append(errs, fmt.Sprintf("%s is %T, want %T", path, v, want))
		}
	}
	return errs
}

func TestJSONSchema(t *testing.T) {
	r := allReduce()
	r.footer.Err = "node2 was lost"
	var b bytes.Buffer
	r.write(t, NewJSON(&b))
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range check("$", documentSchema, doc) {
		t.Error(e)
	}
	if doc["version"] != 3. {
		t.Errorf("version is %v, want 3", doc["version"])
	}
	results := doc["results"].([]any)
	if len(results) != len(r.rows) || len(doc["errors"].([]any)) != 1 {
		t.Fatalf("%d results and %v errors, want %d and 1", len(results), doc["errors"], len(r.rows))
	}
	cell := results[0].(map[string]any)["out_of_place"].(map[string]any)
	if got, want := cell["time"].(float64), float64(r.rows[0].OutOfPlace.TimePs)/1e6; got != want {
		t.Errorf("time is %v us, want %v, exactly", got, want)
	}
}

// A schema check that never complains would be worth nothing.
func TestSchemaCheckFails(t *testing.T) {
	for _, bad := range []any{
		map[string]any{"count": 1.}, map[string]any{"count": "1", "okay": "true"},
		map[string]any{"count": 1., "okay": "true", "more": 1.}, []any{}, nil,
	} {
		if check("$", schema{"count": 0., "okay": ""}, bad) == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

// Halves that were not run are null, and so is nwrong where nobody looked.
func TestJSONNulls(t *testing.T) {
	r := odd()
	var b bytes.Buffer
	r.write(t, NewJSON(&b))
	var doc struct {
		Results []struct {
			InPlace *struct{ NWrong *float64 } `json:"in_place"`
		}
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if got := doc.Results[3].InPlace; got != nil {
		t.Errorf("a half that was not run is %+v, want null", got)
	}
	if got := doc.Results[2].InPlace; got == nil || got.NWrong != nil {
		t.Errorf("an unchecked half is %+v, want nwrong null", got)
	}
}
