package survey

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// hostlist spells out a list of names as Slurm and topograph write them:
// "a[1-3,7],b09" is a1 a2 a3 a7 b09; "[08-10]" keeps its zeros. Several brackets
// multiply, the last runs fastest.
func hostlist(text string) ([]string, error) {
	var all []string
	for _, part := range splitOutside(text) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		names, err := expand(part, maxHosts-len(all))
		if err != nil {
			return nil, fmt.Errorf("list of names %q: %w", clip(text), err)
		}
		all = append(all, names...)
	}
	return all, nil
}

// splitOutside splits at commas that are not in brackets.
func splitOutside(text string) []string {
	var all []string
	depth, from := 0, 0
	for i, c := range []byte(text) {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth <= 0:
			all = append(all, text[from:i])
			from = i + 1
		}
	}
	return append(all, text[from:])
}

// expand spells out one name with brackets.
func expand(name string, most int) ([]string, error) {
	all := []string{""}
	for rest := name; rest != ""; {
		before, after, ok := strings.Cut(rest, "[")
		if strings.Contains(before, "]") {
			return nil, errors.New("a bracket closes that was not opened")
		}
		for i := range all {
			all[i] += before
		}
		if !ok {
			break
		}
		inside, tail, closed := strings.Cut(after, "]")
		if !closed {
			return nil, errors.New("a bracket is not closed")
		}
		numbers, err := ranges(inside, most/len(all))
		if err != nil {
			return nil, err
		}
		all, rest = multiply(all, numbers), tail
	}
	return all, nil
}

func multiply(heads, tails []string) []string {
	all := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	return all
}

// ranges spells out "1-3,07", at most so many numbers.
func ranges(text string, most int) ([]string, error) {
	var all []string
	for _, r := range strings.Split(text, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(r), "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.ParseUint(low, 10, 31)
		to, err2 := strconv.ParseUint(high, 10, 31)
		if err1 != nil || err2 != nil || to < from {
			return nil, fmt.Errorf("%q must be a number, or a range such as 1-8", clip(r))
		}
		if int(to-from) >= most-len(all) {
			return nil, fmt.Errorf("more than %d names, the most that are read", maxHosts)
		}
		if width := len(low); width > 20 {
			return nil, fmt.Errorf("%q has too many digits", clip(r))
		} else {
			for n := from; n <= to; n++ {
				all = append(all, fmt.Sprintf("%0*d", width, n))
			}
		}
	}
	return all, nil
}
