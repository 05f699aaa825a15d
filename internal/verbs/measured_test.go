//go:build !race

package verbs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/internal/cli"
)

var measuredPage = flag.String("measured", "", "compare with all of each public table, and write the comparison to this file")

// public is a table that somebody has published, and how it is asked for here.
// What it was measured with says the table; where a table names no version, or one
// that is not known, the default's tuner chooses.
type public struct {
	file, op, flags string
	// within is how many per cent may lie between, from 256 MiB on.
	within float64
	fitted bool   // a constant of the catalog is calibrated on it
	source string // where it was published, as the table says
}

// publics are all healthy tables of hardware that the catalog has.
var publics = []public{
	{file: "a100-azure-1n-allreduce-aibench", op: "all_reduce", flags: "--system dgx-a100 --nodes 1 --launch per-node --nccl 2.18", within: 4, fitted: true},
	{file: "a100-ndv4-1n-all_reduce-superbench", op: "all_reduce", flags: "--system dgx-a100 --nodes 1 --launch per-node", within: 2, fitted: true},
	{file: "a100-ndv4-1n-reduce_scatter-superbench", op: "reduce_scatter", flags: "--system dgx-a100 --nodes 1 --launch per-node", within: 3},
	{file: "a100-ndv4-1n-alltoall-superbench", op: "alltoall", flags: "--system dgx-a100 --nodes 1 --launch per-node", within: 16},
	{file: "a100-dgx-hdr-2n-allreduce-deepops", op: "all_reduce", flags: "--system dgx-a100 --nodes 2", within: 7, fitted: true},
	{file: "a100-ndv4-hdr-2n-allreduce-aks", op: "all_reduce", flags: "--system dgx-a100 --nodes 2", within: 6},
	{file: "a100-oci-b4-2n-allreduce", op: "all_reduce", flags: "--system dgx-a100 --nodes 2 --fabric rail-roce-200 --nccl 2.29", within: 4},
	{file: "a100-4xhdr-3n-allreduce-tail", op: "all_reduce", flags: "--system dgx-a100 --nodes 3 --nics 4"},
	{file: "a100-p4d-efa-2n-allreduce-eks", op: "all_reduce", flags: "--system aws-p4d --nodes 2", within: 108, fitted: true},
	{file: "a100-p4d-efa-2n-allreduce-eks", op: "all_reduce", flags: "--system aws-p4d --nodes 2 --algo ring", within: 20, fitted: true},
	{file: "h100-1n-allreduce-nccltests290", op: "all_reduce", flags: "--system dgx-h100 --nodes 1", within: 5},
	{file: "h100-p5-1n-allreduce", op: "all_reduce", flags: "--system aws-p5 --nodes 1", within: 3},
	{file: "h200-azure-1n-allreduce-aibench", op: "all_reduce", flags: "--system dgx-h200 --nodes 1 --launch per-node --nccl 2.20", within: 1, fitted: true},
	{file: "h100-4gpu-4xhdr-2n-allreduce-ring", op: "all_reduce", flags: "--system dgx-h100 --gpus-per-node 4 --nics 4 --nodes 2 --fabric rail-hdr --algo ring", within: 5},
	{file: "h100-p5-efa-2n-allreduce", op: "all_reduce", flags: "--system aws-p5 --nodes 2", within: 26, fitted: true},
	{file: "h100-oci-2n-allreduce", op: "all_reduce", flags: "--system dgx-h100 --nodes 2 --fabric rail-roce-400 --nccl 2.23", within: 10},
	{file: "h100-a3mega-2n-allreduce", op: "all_reduce", flags: "--system gcp-a3-mega --nodes 2", within: 24},
	{file: "h100-a3mega-tcpxo-2n-allgather", op: "all_gather", flags: "--system gcp-a3-mega --nodes 2", within: 9, fitted: true},
	{file: "h100-a3high-tcpx-2n-allgather", op: "all_gather", flags: "--system gcp-a3-high --nodes 2", within: 17},
	{file: "h20-2n-16nic-allreduce-nvlstree-latency", op: "all_reduce", flags: "--system h20 --nodes 2 --algo nvlstree --nccl 2.21"},
	{file: "gh200-alps-slingshot-2n-allreduce", op: "all_reduce", flags: "--system gh200 --nodes 2 --fabric dragonfly-slingshot-11"},
	{file: "b200-1n-allreduce-mleng", op: "all_reduce", flags: "--system aws-p6-b200 --nodes 1 --nccl 2.27 --launch torch", within: 5, fitted: true},
	{file: "b300-1n-allreduce-ringpolicy", op: "all_reduce", flags: "--system dgx-b300 --nodes 1 --launch per-node", within: 3, fitted: true},
	{file: "b200-4n-efa-allreduce-mleng", op: "all_reduce", flags: "--system aws-p6-b200 --nodes 4 --nccl 2.27 --launch torch", within: 54},
	{file: "dstack-p6b200-efa-2n-latency", op: "all_reduce", flags: "--system aws-p6-b200 --nodes 2"},
	{file: "b200-gcp-a4-roce-2n-allreduce", op: "all_reduce", flags: "--system gcp-a4 --nodes 2", within: 9},
	{file: "b200-2n-1gpu1nic-allgather", op: "all_gather", flags: "--system dgx-b200 --gpus-per-node 1 --nics 1 --nodes 2 --fabric rail-roce-400 --nccl 2.26", within: 29},
	{file: "gb200-nvl72-1rack-allreduce", op: "all_reduce", flags: "--system gb200-nvl72 --nodes 18", within: 27, fitted: true},
	{file: "mi300x-1n-allgather-rccl", op: "all_gather", flags: "--system mi300x --nodes 1", within: 1, fitted: true},
	{file: "mi300x-oci-2n-allreduce", op: "all_reduce", flags: "--system mi300x --nodes 2 --fabric rail-roce-400", within: 15},
	{file: "rtx4090-p2p-1n4g-allreduce", op: "all_reduce", flags: "--system pcie-gen4-4090 --nodes 1 --gpus-per-node 4", within: 8},
	{file: "h200-1n-gpu-count-sweep-8GiB", op: "all_reduce", flags: "--system dgx-h200 --nodes 1 --nccl 2.27", within: 2},
	{file: "b200-1n-gpu-count-sweep-8GiB", op: "all_reduce", flags: "--system dgx-b200 --nodes 1 --nccl 2.27", within: 3},
}

// rack is the table that docs/hardware.md cites as well.
const rack = "gb200-nvl72-1rack-allreduce"

type row struct {
	Size  int64    `json:"size_bytes"`
	Time  *float64 `json:"time_us"`
	Bus   *float64 `json:"busbw_gbps"`
	Ranks int      `json:"ranks"`
}

// found is what one row says, here and there.
type found struct {
	table     public
	row       row
	took, bus float64 // µs, GB/s
	how       string  // algorithm and protocol
	percent   float64 // by how much the bus bandwidth lies above, or below 1 MiB the time
}

// TestMeasured holds what the command line says of the catalog's hardware against
// public tables: a message of up to 512 MiB of each, or with -measured several sizes.
// From 256 MiB on they must lie within the bounds above, which are no claim but what
// was found, so that no change goes unseen.
func TestMeasured(t *testing.T) {
	dir := filepath.Join("..", "..", "..", "shared", "reference", "measured")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("the public tables are not here")
	}
	hardware, err := os.ReadFile(filepath.Join("..", "..", "docs", "hardware.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []found
	for _, p := range publics {
		text, err := os.ReadFile(filepath.Join(dir, p.file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var table struct {
			Rows   []row
			Source string `json:"source_url"`
		}
		if err := json.Unmarshal(text, &table); err != nil {
			t.Fatal(err)
		}
		if p.source = table.Source; !strings.HasPrefix(p.source, "https://") {
			p.source = "a public README" // the table says where it lies in other words
		}
		for _, r := range picked(table.Rows) {
			f := compare(t, p, r)
			if f.took == 0 {
				continue // so few bytes are no element for each rank (nccl-tests today)
			}
			t.Logf("%s %d B by %s: %.2f GB/s, measured %.2f; %.1f µs; %+.1f %%", p.file, r.Size, f.how, f.bus, *r.Bus, f.took, f.percent)
			if r.Size >= 256<<20 && math.Abs(f.percent) > p.within {
				t.Errorf("%s, %s %s, %d B: %.2f GB/s, measured are %.2f: %+.1f %%", p.file, p.op, p.flags, r.Size, f.bus, *r.Bus, f.percent)
			}
			if cited := fmt.Sprintf("| %d | %.2f | %.2f | %+.1f %% |", r.Size>>20, f.bus, *r.Bus, f.percent); p.file == rack && !bytes.Contains(hardware, []byte(cited)) {
				t.Errorf("docs/hardware.md does not say %q", cited)
			}
			all = append(all, f)
		}
	}
	if *measuredPage != "" && !t.Failed() {
		if err := os.WriteFile(*measuredPage, page(all), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// picked returns the rows to compare: of some sizes, all of a short table, or one of at most 512 MiB, the
// longest.
func picked(rows []row) []row {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Bus == nil })
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.Size, b.Size) })
	var some, short []row
	for i, r := range rows {
		if r.Size <= 512<<20 {
			short = []row{r}
		}
		if len(rows) <= 6 || i == 0 || i == len(rows)-1 || slices.Contains([]int64{64 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 512 << 20, 2 << 30}, r.Size) {
			some = append(some, r)
		}
	}
	if *measuredPage == "" {
		return short
	}
	return some
}

// compare runs the command line of a table for one size.
func compare(t *testing.T, p public, r row) found {
	t.Helper()
	size := strconv.FormatInt(r.Size, 10)
	args := append([]string{"predict", p.op, "-b", size, "-e", size, "--explain"}, strings.Fields(p.flags)...)
	if r.Ranks > 0 {
		args = append(args, "--gpus-per-node", strconv.Itoa(r.Ranks))
	}
	app := cli.NewApp("test", Hosts("test"))
	var out, said bytes.Buffer
	app.Stdout, app.Stderr, app.Getenv = &out, &said, func(string) string { return "" }
	if code := app.Run(context.Background(), args); code != 0 {
		t.Fatalf("%s: exit code %d: %s", strings.Join(args, " "), code, said.String())
	}
	f := found{table: p, row: r}
	var ways []string
	for line := range strings.Lines(out.String()) {
		cells := strings.Fields(line)
		switch {
		case len(cells) > 8 && cells[0] != "#":
			f.took, _ = strconv.ParseFloat(cells[5], 64)
			f.bus, _ = strconv.ParseFloat(cells[7], 64)
		case slices.Contains(cells, "took"):
			ways = cells
		case len(cells) == len(ways):
			chosen := func(c string) bool { return strings.HasPrefix(c, "*") }
			if i := slices.IndexFunc(cells, chosen); i >= 0 {
				f.how = ways[i]
			}
		}
	}
	if f.how == "" {
		t.Fatalf("%s: no row: %s", strings.Join(args, " "), out.String())
	}
	f.percent = 100 * (f.bus / *r.Bus - 1)
	if f.short() {
		f.percent = 100 * (f.took / *r.Time - 1)
	}
	return f
}

// short reports whether times are compared, of which bandwidth says little.
func (f *found) short() bool { return f.row.Time != nil && f.row.Size < 1<<20 }

// page returns docs/measured.md.
func page(all []found) []byte {
	var b bytes.Buffer
	b.WriteString(measuredHead)
	summary(&b, all)
	last := public{}
	for i := range all {
		f := &all[i]
		if f.table != last {
			last = f.table
			fmt.Fprintf(&b, "\n**%s** (%s)  \n`%s %s`\n\n| bytes | by | emulated | measured | off |\n|--:|---|--:|--:|--:|\n", last.file, last.source, last.op, last.flags)
		}
		size := strconv.FormatInt(f.row.Size, 10)
		if f.row.Ranks > 0 {
			size += fmt.Sprintf(", %d GPUs", f.row.Ranks)
		}
		here, there := fmt.Sprintf("%.2f GB/s", f.bus), fmt.Sprintf("%.2f GB/s", *f.row.Bus)
		if f.short() {
			here, there = fmt.Sprintf("%.1f µs", f.took), fmt.Sprintf("%.1f µs", *f.row.Time)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %+.1f %% |\n", size, f.how, here, there, f.percent)
	}
	return b.Bytes()
}

// summary writes how far off messages of some lengths are together: the root mean
// square of ln(emulated / measured), in per cent, and the mean, and of how many.
func summary(b *bytes.Buffer, all []found) {
	classes := []struct {
		name string
		most int64
	}{{"up to 64 KiB", 64 << 10}, {"1 to 16 MiB", 16 << 20}, {"64 to 128 MiB", 136 << 20}, {"256 and 512 MiB", 512 << 20}, {"from 1 GiB", math.MaxInt64}}
	b.WriteString("\n| tables |")
	for _, c := range classes {
		fmt.Fprintf(b, " %s |", c.name)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|", len(classes)) + "\n")
	for _, group := range []struct {
		name string
		has  func(p *public) bool
	}{
		{"all", func(*public) bool { return true }},
		{"calibrated on", func(p *public) bool { return p.fitted }},
		{"others", func(p *public) bool { return !p.fitted }},
		{"others, one server", func(p *public) bool { return !p.fitted && strings.Contains(p.flags, "--nodes 1") }},
	} {
		fmt.Fprintf(b, "| %s |", group.name)
		least := int64(0)
		for _, c := range classes {
			var sum, squares, n float64
			for i := range all {
				f := &all[i]
				if !group.has(&f.table) || f.row.Size <= least || f.row.Size > c.most {
					continue
				}
				ln := math.Log(1 + f.percent/100)
				if f.short() {
					ln = -ln // a time, so that + is faster throughout
				}
				sum, squares, n = sum+ln, squares+ln*ln, n+1
			}
			least = c.most
			fmt.Fprintf(b, " %.0f %%, %+.0f %%, %.0f |", 100*math.Sqrt(squares/n), 100*sum/n, n)
		}
		b.WriteString("\n")
	}
}

const measuredHead = `# Emulated against measured

Written by ` + "`make measured`" + `, from public nccl-tests tables of healthy systems and what ` + "`coordinator predict`" + ` says of the same;
edit ` + "`internal/verbs/measured_test.go`" + ` instead, whose test fails when a long message leaves the bounds noted there. Bus
bandwidths are compared, below 1 MiB times where a table has them: of times + is slower than measured, of bandwidths faster.
The algorithm is the one that was chosen here; which one a table had is seldom known, nor which version of NCCL. What lies
behind the larger deviations is in docs/limitations.md.

Left out are tables of hardware that the catalog lacks (T4, GB10, P3dn), of unnamed GPUs, of algorithms from other
libraries (MSCCL), in-place columns, three parts of racks that only InfiniBand joins, and 20 racks of 72 GPUs, too long a run.

Together: the root mean square of ln(emulated / measured), its mean, where + is faster than measured, and how many
messages. Some constants are calibrated on some of these tables (tagged [cal] in emu/catalog), none on the others.
`
