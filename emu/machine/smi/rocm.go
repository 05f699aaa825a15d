package smi

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// What rocm-smi --showtopo and amd-smi topology print: a table each of weights,
// hops and types of links between GPUs, which have numbers or bus ids, and to
// which NUMA node each GPU is next.
var (
	rocmTitle = regexp.MustCompile(`(?i)^=*\s*([A-Z ]+?) (TABLE|BETWEEN TWO GPUS)\b`)
	rocmLabel = regexp.MustCompile(`(?i)^(GPU\d+|[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$`)
	rocmNUMA  = regexp.MustCompile(`(?i)^GPU\[(\d+)\]\s*:\s*\(Topology\) Numa (?:Node|Affinity):\s*(-?\d+)`)
)

// rocmSigns tell a report from other texts.
var rocmSigns = []string{"ROCm System Management", "Link Type between two GPUs", "LINK TYPE TABLE"}

// rocm is a report being read.
type rocm struct {
	labels []string
	cells  map[string][][]string // title to cells
	numa   map[int]string        // of each GPU
	at     string                // the title that was last
}

// readROCm makes a table of a report; nil if a text is none.
func readROCm(data []byte) (*raw, error) {
	if !slices.ContainsFunc(rocmSigns, func(s string) bool { return bytes.Contains(data, []byte(s)) }) {
		return nil, nil
	}
	r := rocm{cells: map[string][][]string{}, numa: map[int]string{}}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(clean(line))
		if m := rocmTitle.FindStringSubmatch(line); m != nil {
			r.at = strings.ToLower(m[1])
		} else if m := rocmNUMA.FindStringSubmatch(line); m != nil {
			if gpu, err := strconv.Atoi(m[1]); err == nil && m[2][0] != '-' {
				r.numa[gpu] = m[2]
			}
		} else if words := strings.Fields(line); len(words) > 0 && rocmLabel.MatchString(words[0]) {
			if err := r.line(words); err != nil {
				return nil, err
			}
		}
	}
	if r.cells["link type"] == nil {
		return nil, errors.New("this is a report of rocm-smi or amd-smi without the types of links; import what rocm-smi --showtopo or amd-smi topology prints, or the file that RCCL writes (NCCL_TOPO_DUMP_FILE)")
	}
	return r.table()
}

// line reads a header or a row of one of the tables.
func (r *rocm) line(words []string) error {
	if !slices.ContainsFunc(words, func(w string) bool { return !rocmLabel.MatchString(w) }) {
		if r.labels == nil && len(words) <= maxRows {
			r.labels = words
		}
		if !slices.Equal(r.labels, words) {
			return fmt.Errorf("the tables of the report do not have the same GPUs, at most %d: %s", maxRows, some(words))
		}
		return nil
	}
	i := slices.Index(r.labels, words[0])
	if i < 0 {
		return fmt.Errorf("row %s of the report has no column", words[0])
	}
	if r.cells[r.at] == nil {
		r.cells[r.at] = make([][]string, len(r.labels))
	}
	r.cells[r.at][i] = words[1:]
	return nil
}

// cell returns what a table says of two GPUs, empty when it does not.
func (r *rocm) cell(title string, i, j int) string {
	if all := r.cells[title]; all != nil && j < len(all[i]) {
		return all[i][j]
	}
	return ""
}

// table makes the report a table of distances.
func (r *rocm) table() (*raw, error) {
	t := &raw{names: map[string]string{}, affinities: 2, report: true}
	direct := r.direct()
	for i, label := range r.labels {
		t.columns = append(t.columns, fmt.Sprintf("GPU%d", i))
		if strings.Contains(label, ":") {
			t.names[t.columns[i]] = strings.ToLower(label)
		}
	}
	for i := range r.labels {
		if r.cells["link type"][i] == nil {
			continue // no row
		}
		row := row{label: t.columns[i], tail: "\tN/A\t" + r.numa[i]}
		for j := range r.labels {
			row.cells = append(row.cells, r.distance(i, j, direct))
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// direct returns the least weight of any pair that XGMI joins: each hop adds as
// much, so that pairs of more are joined by way of others.
func (r *rocm) direct() int {
	least := 0
	for i := range r.labels {
		for j := range r.labels {
			w, err := strconv.Atoi(r.cell("weight", i, j))
			if err == nil && i != j && strings.EqualFold(r.cell("link type", i, j), "XGMI") && w > 0 && (least == 0 || w < least) {
				least = w
			}
		}
	}
	return least
}

// distance returns how near two GPUs are. Hops are 1 over XGMI, 2 over PCIe within
// a NUMA node, 3 beyond.
func (r *rocm) distance(i, j, direct int) cell {
	known := func(n machine.Nearness) cell { return cell{machine.Distance{Nearness: n}, true} }
	kind := strings.ToUpper(r.cell("link type", i, j))
	weight, err := strconv.Atoi(r.cell("weight", i, j))
	switch hops := r.cell("hops", i, j); {
	case i == j:
		return known(machine.Self)
	case kind == "XGMI" && (err != nil || weight <= direct):
		return cell{machine.Distance{Nearness: machine.NV, Links: 1}, true}
	case kind == "PCIE" && hops == "2", r.numa[i] != "" && r.numa[i] == r.numa[j]:
		return known(machine.PHB)
	case kind == "PCIE" && hops != "", r.numa[i] != "" && r.numa[j] != "":
		return known(machine.SYS)
	}
	return cell{}
}
