package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/collective/msccl"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/shaping"
)

// importJSON is what a file is.
type importJSON struct {
	Name     string   `json:"name"`
	Op       string   `json:"op"`
	Coll     string   `json:"coll"` // as written
	Protocol string   `json:"protocol"`
	Ranks    int      `json:"ranks"`
	Channels int      `json:"channels"`
	Chunks   int      `json:"chunks"` // of the larger buffer
	Scratch  int      `json:"scratch"`
	Blocks   int      `json:"blocks"` // of all ranks
	Steps    int      `json:"steps"`
	Root     *int     `json:"root"` // null for operations without one
	Layouts  []string `json:"layouts"`
	MinBytes int64    `json:"min_bytes"`
	MaxBytes int64    `json:"max_bytes"` // 0: no bound
	// Multiple is what element counts of a part must be a multiple of.
	Multiple int      `json:"count_multiple"`
	Notes    []string `json:"notes"`
}

func (a *App) planImport() *cobra.Command {
	l := &planLine{root: msccl.AnyRoot}
	own := []setting{{name: "out", arg: "FILE", usage: "also write the plan in its normal form", set: text(&l.out)}}
	return l.command(a, "import FILE.xml", "Say what an MSCCL file is, and write it in its normal form", own, func(args []string) error {
		arg, err := one("plan import", "plan import plan.xml", args)
		if err != nil {
			return err
		}
		f, err := a.readPlan(arg)
		if err != nil {
			return err
		}
		p, err := f.Plan(msccl.AnyRoot)
		if err != nil {
			return usagef("%s: %v", arg, err)
		}
		if l.out != "" {
			if err := a.export(l, p); err != nil {
				return err
			}
		}
		i := describe(f, p)
		if l.Format == "json" {
			return json.NewEncoder(a.Stdout).Encode(&i)
		}
		return i.write(a.Stdout)
	})
}

func describe(f *msccl.File, p *collective.Plan) importJSON {
	i := importJSON{Name: f.Name, Op: f.Op.String(), Coll: f.Coll, Protocol: f.Protocol.String(), Ranks: f.Ranks, Channels: f.Channels,
		Chunks: f.Chunks, Scratch: p.Scratch, MinBytes: f.MinBytes, MaxBytes: f.MaxBytes, Multiple: p.Chunks, Notes: append([]string{}, f.Notes...)}
	for r := range f.GPUs {
		for b := range f.GPUs[r].Blocks {
			i.Blocks++
			i.Steps += len(f.GPUs[r].Blocks[b].Steps)
		}
	}
	for _, inPlace := range f.Layouts() {
		i.Layouts = append(i.Layouts, msccl.Layout(inPlace))
	}
	if sweep.Rooted(f.Op) {
		i.Root = &p.Root
	}
	return i
}

func (i *importJSON) write(w io.Writer) error {
	size := "up to " + shaping.Bytes(i.MaxBytes).String()
	if i.MaxBytes == 0 {
		size = "up"
	}
	root := ""
	if i.Root != nil {
		root = fmt.Sprintf(", root %d", *i.Root)
	}
	_, err := fmt.Fprintf(w, "name      %s\nop        %s (coll %s)%s\nranks     %d\nprotocol  %s\nchannels  %d\nchunks    %d, of scratch %d; counts must be multiples of %d\nblocks    %d with %d steps\nlayouts   %s\nsizes     from %s %s\n",
		i.Name, i.Op, orDash(i.Coll), root, i.Ranks, i.Protocol, i.Channels, i.Chunks, i.Scratch, i.Multiple, i.Blocks, i.Steps,
		strings.Join(i.Layouts, ", "), shaping.Bytes(i.MinBytes), size)
	for _, n := range i.Notes {
		if err == nil {
			_, err = fmt.Fprintf(w, "note      %s\n", n)
		}
	}
	return err
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
