package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/railyard/railyard/emu/suggest"
)

// containsNCCL is set in NVIDIA's containers, to say what is in them.
const containsNCCL = "NCCL_VERSION"

// listening returns the App with a record of the variables that are asked for.
func (a *App) listening() (*App, map[string]bool) {
	asked := map[string]bool{}
	b := *a
	b.Getenv = func(name string) string {
		asked[name] = true
		return a.Getenv(name)
	}
	return &b, asked
}

// unread notes variables of NCCL that are set and that nobody asked for: what
// they would change is not emulated, or their name is a slip. Without a word
// people would take the times for those of their settings.
func (a *App) unread(asked map[string]bool) []string {
	known := slices.Sorted(maps.Keys(asked))
	var slips, others []string
	for _, entry := range a.Environ() {
		name, v, _ := strings.Cut(entry, "=")
		ours := strings.HasPrefix(name, "NCCL_") || strings.HasPrefix(name, "RCCL_")
		if !ours || v == "" || asked[name] || name == containsNCCL {
			continue
		}
		if hint := suggest.Slip(name, known); hint != "" {
			slips = append(slips, fmt.Sprintf("%s=%s has no effect: it is not known%s", suggest.Clip(name), suggest.Clip(v), hint))
			continue
		}
		others = append(others, suggest.Clip(name))
	}
	slices.Sort(slips)
	slices.Sort(others)
	if len(others) > 0 {
		slips = append(slips, strings.Join(others, ", ")+": no effect, as nothing that this changes is emulated, or no such variable is known")
	}
	return slips
}
