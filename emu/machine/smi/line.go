package smi

import (
	"regexp"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/machine"
)

// What pasting and logging put around and into lines.
var (
	// Escapes of a terminal: real, spelled out in some way, or with the escape
	// character lost.
	escapes = regexp.MustCompile(`(\x1b|\^\[|\\x1b|\\u001b|\\033|\\e|#033)\[[0-9;]*[A-Za-z]|\[[0-9]{0,2}(;[0-9]{1,2})*m`)
	// Tags of HTML. A log of Open MPI has the like of it: [1,0]<stdout>:
	tags = regexp.MustCompile(`</?[A-Za-z][^<>]*>`)
	// spaced are labels with a blank: GPU 0.
	spaced  = regexp.MustCompile(`\bGPU (\d+)\b`)
	strange = strings.NewReplacer("\u00a0", " ", "&nbsp;", " ", "^I", "\t", "**", "", "`", "",
		"|", "\t", "│", "\t", "┃", "\t", "║", "\t")
)

// clean takes away what pasting put around a line. Bars of a drawn table become
// tabs, so that an empty column stays one.
func clean(line string) string {
	line = strings.TrimRight(line, " \r\n")
	for _, c := range []struct {
		sign string // in every match: most lines have none
		what *regexp.Regexp
		by   string
	}{{"[", escapes, ""}, {"<", tags, ""}, {"GPU ", spaced, "GPU$1"}} {
		if len(line) <= maxLine && strings.Contains(line, c.sign) {
			line = c.what.ReplaceAllString(line, c.by)
		}
	}
	line = strings.TrimRight(strange.Replace(line), " $") // cat -A marks the end
	return strings.TrimLeft(line, "#>*+ ")
}

// uncomma makes tabs of the commas of CSV.
func uncomma(line string) string {
	quoted := false
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"':
			quoted = !quoted
			return -1
		case r == ',' && !quoted:
			return '\t'
		}
		return r
	}, line)
}

// Words of a header that are no devices. Blanks between them vary.
var (
	affinityWords = regexp.MustCompile(`(?i)CPU\s+Affinity|NUMA\s+Affinity|GPU\s+NUMA\s+ID`)
	firstGPU      = regexp.MustCompile(`(?i)(?:^|[^0-9A-Za-z_])(GPU\d+)(?:[\s,"]|$)`)
	commas        = regexp.MustCompile(`(?i)^[^,]*,.*GPU\d+"?,`)
)

// header reads the line with the names of the columns. Only the words behind
// them make sure that a line is one: without these it must hold devices and
// nothing else. What stands before is the prefix of a log.
func header(line string) (h raw, ok bool) {
	if len(line) > maxLine || !strings.Contains(line, "GPU") && !strings.Contains(line, "gpu") {
		return h, false
	}
	if h.csv = commas.MatchString(line); h.csv {
		line = uncomma(line)
	}
	h.affinities = len(affinityWords.FindAllString(line, -1))
	line = affinityWords.ReplaceAllString(line, "\t")
	at := firstGPU.FindStringSubmatchIndex(line)
	if at == nil {
		return h, false
	}
	h.prefix = strings.TrimSpace(line[:at[2]])
	glued := strings.ContainsAny(h.prefix[max(len(h.prefix)-1, 0):], ":>]")
	h.columns = strings.Fields(line[at[2]:])
	if len(strings.Fields(h.prefix)) > maxLead || h.affinities == 0 && (h.prefix != "" && !glued || len(h.columns) < 2) {
		return h, false
	}
	for _, w := range h.columns {
		if _, cell := parseCell(w); cell || h.affinities == 0 && !isDevice(w) {
			return h, false
		}
	}
	return h, true
}

// onlyHeader reports whether a line has nothing but words of a header.
func onlyHeader(line string) bool {
	words := strings.Fields(line)
	return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool {
		return !isDevice(w) && !slices.Contains([]string{"CPU", "NUMA", "GPU", "ID", "AFFINITY"}, strings.ToUpper(w))
	})
}

// maxLead is how many words of a log may stand before a row.
const maxLead = 8

// parseRow reads a line with cells. Behind other words a row must show itself
// by its X: prose names devices and distances, too.
func parseRow(line string, in *raw) (row, bool) {
	rest := line
	for lead := range maxLead {
		label, tail := word(rest)
		if label == "" {
			break
		}
		label, known := rowLabel(label, in)
		if known || isDevice(label) {
			r := row{label: label}
			r.cells, r.tail = cells(tail, len(in.columns))
			own := slices.Contains(r.cells, cell{machine.Distance{}, true})
			if said := slices.ContainsFunc(r.cells, func(c cell) bool { return c.known }); said && (lead == 0 || own) {
				return r, true
			}
		}
		rest = tail
	}
	return row{}, false
}

// rowLabel returns a label without what is glued to it, and whether it is that of
// a column.
func rowLabel(label string, in *raw) (string, bool) {
	label = strings.TrimRight(label, ":*")
	if slices.Contains(in.columns, label) {
		return label, true
	}
	if i := strings.LastIndexAny(label, ":>]"); i >= 0 && slices.Contains(in.columns, label[i+1:]) {
		return label[i+1:], true
	}
	return label, false
}

// cells reads cells as long as there are some. A word that tells no distance is
// one where as many cells follow as columns are left.
func cells(text string, columns int) (found []cell, tail string) {
	whole := false // the row is known to be filled
	for len(found) <= maxRows {
		next, rest := word(text)
		d, ok := parseCell(next)
		if !ok {
			if left := columns - len(found); left < 1 || !whole && !filled(text, left) {
				break
			}
			whole = true
		}
		found, text = append(found, cell{d, ok}), rest
	}
	return found, text
}

// filled reports whether a text begins with so many cells, be they read or not.
func filled(text string, n int) bool {
	for ; n > 0; n-- {
		var next string
		next, text = word(text)
		if _, ok := parseCell(next); !ok && !isUnread(next) {
			return false
		}
	}
	return n == 0
}

// word returns the first word of a text and what follows it.
func word(text string) (first, rest string) {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

func firstWord(text string) string {
	first, _ := word(text)
	return first
}

// legend reads a line such as "NIC0: mlx5_0".
func legend(line string) (nic, name string, ok bool) {
	nic, name, ok = strings.Cut(strings.TrimSpace(line), ":")
	if _, isNIC := numbered(nic, "NIC"); !ok || !isNIC {
		return "", "", false
	}
	name = strings.TrimSpace(name)
	return strings.ToUpper(nic), name, name != "" && len(name) <= maxLabel && !strings.ContainsAny(name, " \t")
}
