// Package suggest finds the name a user most likely meant.
//
// Everything that reads names from people uses it, so that the same slip gets
// the same hint in a flag and in a file: emu for cluster files, internal/cli
// for verbs, flags and values. It holds no names itself.
//
// The package is pure. It imports nothing of ours, and everybody may import it
// but collective and shaping, which import nothing of ours either.
package suggest

import (
	"fmt"
	"strings"
)

// maxLen is the longest input in bytes that is looked at: anything longer is
// not a slip of the finger, and distance costs the product of both lengths.
const maxLen = 64

// Closest returns the known name nearest to the given one, and false when none
// is near: more than a third of its letters differ. Case does not count, and
// of two equally near names the earlier one wins.
func Closest(name string, known []string) (string, bool) {
	best, least := "", maxLen
	if name == "" || len(name) > maxLen {
		return "", false
	}
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d < least && 3*d <= max(len(name), len(k)) {
			best, least = k, d
		}
	}
	return best, best != ""
}

// Hint returns `; did you mean "x"?` for the known name nearest to the given
// one, and nothing when none is near. It ends an error message.
func Hint(name string, known []string) string {
	if k, ok := Closest(name, known); ok {
		return fmt.Sprintf("; did you mean %q?", k)
	}
	return ""
}

// Slip is Hint for names of which many are alike: it takes one that is a single
// slip of the finger away, and no other.
func Slip(name string, known []string) string {
	if len(name) > maxLen {
		return ""
	}
	for _, k := range known {
		if distance(strings.ToLower(name), strings.ToLower(k)) <= 1 {
			return fmt.Sprintf("; did you mean %q?", k)
		}
	}
	return ""
}

// Unknown says that a name is not one of the known ones, which they are, and
// which was probably meant. It is the second half of a message that began with
// what the name is of.
func Unknown(name string, known []string) string {
	return fmt.Sprintf("%q is unknown; allowed are %s%s", Clip(name), strings.Join(known, ", "), Hint(name, known))
}

// Clip shortens a name that is too long to be printed in one line.
func Clip(name string) string {
	if len(name) <= maxLen {
		return name
	}
	return strings.ToValidUTF8(name[:maxLen], "") + "…"
}

// distance returns how many bytes must be changed, added, dropped or swapped
// with their neighbour to turn a into b (optimal string alignment).
func distance(a, b string) int {
	// Three rows of the table are enough: a swap looks back two.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
