package collective

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Print writes a plan to be read: a head, then the blocks of the given ranks,
// of all if none are given, a step a line:
//
//	3  recv-reduce-copy-send  input 0 ⊕ rank 3 → output 0, rank 1
//
// The error is the writer's.
func Print(w io.Writer, p *Plan, ranks ...int) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s %s %s: %s, %s, %s", p.Algorithm, p.Op, p.Protocol,
		count(p.Ranks, "rank"), count(p.Channels, "channel"), count(p.Chunks, "chunk"))
	if p.Scratch > 0 {
		fmt.Fprintf(out, ", %d of scratch", p.Scratch)
	}
	fmt.Fprintf(out, ", %s, a chunk %d in slices of %d", count(p.Slots, "slot"), p.ChunkSteps, p.SliceSteps)
	if p.Depth > 0 {
		fmt.Fprintf(out, ", depth %d", p.Depth)
	}
	fmt.Fprintln(out)
	if len(ranks) == 0 {
		for r := range p.Ranks {
			ranks = append(ranks, r)
		}
	}
	for _, r := range ranks {
		printRank(out, p, r)
	}
	return out.Flush()
}

func printRank(w io.Writer, p *Plan, rank int) {
	fmt.Fprintf(w, "rank %d\n", rank)
	for i, b := range p.Rank(rank) {
		in := ""
		if b.Unit != SM {
			in = " in " + b.Unit.String()
		}
		fmt.Fprintf(w, "  block %d on channel %d%s\n", i, b.Channel, in)
		for k := range b.Steps {
			s := &b.Steps[k]
			line := fmt.Sprintf("    %d  %-21s  %s", k, s.Kind, b.flow(s))
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

// flow draws what a step takes, and where it puts it.
func (b *Block) flow(s *Step) string {
	var takes, puts []string
	if s.Kind == ReduceLocal {
		takes = append(takes, b.text(s.Dst, s.Chunks()))
	}
	if s.Kind.ReadsSrc() {
		takes = append(takes, b.text(s.Src, s.Chunks()))
	}
	takes = append(takes, peers(b.RecvFrom, b.FromUnits, s.Recv)...)
	if s.Kind.WritesDst() {
		puts = append(puts, b.text(s.Dst, s.Chunks()))
	}
	puts = append(puts, peers(b.SendTo, b.ToUnits, s.Send)...)
	text := ""
	if len(takes)+len(puts) > 0 {
		text = strings.Join(takes, " ⊕ ") + " → " + strings.Join(puts, ", ")
	}
	for _, d := range s.Deps {
		text += fmt.Sprintf("  after block %d step %d", d.Block, d.Step)
	}
	return strings.TrimLeft(text, " ")
}

// text names the n chunks from a reference on.
func (b *Block) text(r Ref, n int) string {
	first := b.chunk(r)
	if n == 1 {
		return fmt.Sprintf("%s %d", r.Buffer, first)
	}
	return fmt.Sprintf("%s %d-%d", r.Buffer, first, first+n-1)
}

// peers names the ranks that a mask picks from a list.
func peers(list []int, units []Unit, mask Mask) []string {
	var names []string
	for i, r := range list {
		if mask.Has(i) {
			names = append(names, At(r, unitAt(units, i)))
		}
	}
	return names
}

// count returns "1 rank", "2 ranks".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
