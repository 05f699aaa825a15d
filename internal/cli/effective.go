package cli

import (
	"fmt"
	"slices"
	"strings"
)

// effective returns a cluster file with every default filled in, and below it,
// as comments, the other flags with where each came from. It can be given to
// --cluster as it is.
func (l *benchLine) effective() []byte {
	var b strings.Builder
	if l.config.Connect == "" {
		c := l.config.Cluster.Effective(known())
		b.Write(c.YAML())
	}
	fmt.Fprintf(&b, "# %s %s\n", l.verb, l.config.Op)
	skip := append([]string{"seed", "print-effective"}, hardwareFlags...)
	for _, s := range l.tables.all() {
		if src := l.sources[s.name]; src.value != "" && !s.idle && !slices.Contains(skip, s.name) {
			fmt.Fprintf(&b, "#   %-16s %-10s %s\n", "--"+s.name, src.value, src.from)
		}
	}
	b.WriteString(l.fromProfile())
	return []byte(b.String())
}
