package catalog

import (
	"embed"
	"regexp"
	"slices"
	"strings"
)

// text is the catalog as a reader sees it. Figures and their sources stand on one
// line there, so it can say itself where they are from.
//
//go:embed doc.go link.go device.go shape.go
var text embed.FS

var cite = regexp.MustCompile(`\[([a-z]+)\]`)

// SourcesOf returns the sources that an entry's lines cite, in alphabetical order.
// The entry is a link, device, medium or shape, by its name.
func SourcesOf(name string) []string {
	var tags []string
	for _, file := range []string{"link.go", "device.go", "shape.go"} {
		inside := false
		for line := range strings.Lines(read(file)) {
			if _, entry, ok := strings.Cut(line, `{Name: "`); ok {
				inside = strings.HasPrefix(entry, name+`"`)
			} else if strings.HasPrefix(line, "}") {
				inside = false
			}
			if inside {
				for _, m := range cite.FindAllStringSubmatch(line, -1) {
					tags = append(tags, m[1])
				}
			}
		}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// Source says what a tag stands for.
type Source struct{ Tag, Is string }

// Sources returns all that doc.go declares, in its order.
func Sources() []Source {
	var all []Source
	for line := range strings.Lines(read("doc.go")) {
		line, comment := strings.CutPrefix(line, "//\t")
		if m := cite.FindStringSubmatchIndex(line); comment && m != nil && m[0] == 0 {
			all = append(all, Source{line[m[2]:m[3]], strings.TrimSpace(line[m[1]:])})
		} else if n := len(all); comment && n > 0 && strings.HasPrefix(line, " ") {
			all[n-1].Is += " " + strings.TrimSpace(line)
		}
	}
	return all
}

func read(file string) string {
	b, err := text.ReadFile(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(b)
}
