package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxCPU bounds the numbers in lists. Linux is built for 8192 CPUs at most
// (NR_CPUS, x86).
const maxCPU = 8192

// ParseList reads a list of CPUs or NUMA nodes as Linux prints it,
// "0-47,96-143", and returns it in its shortest form. The empty list is fine.
func ParseList(text string) (string, error) {
	set, err := parseList(text)
	if err != nil {
		return "", err
	}
	return set.String(), nil
}

// numbers is a set of numbers below maxCPU.
type numbers [maxCPU]bool

func parseList(text string) (*numbers, error) {
	set := new(numbers)
	if text == "" {
		return set, nil
	}
	if len(text) > 8*maxCPU {
		return nil, fmt.Errorf("list of %d characters is too long", len(text))
	}
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(from, 10, 32)
		b := a
		if isRange && err == nil {
			b, err = strconv.ParseUint(to, 10, 32)
		}
		if err != nil || b < a || b >= maxCPU {
			return nil, fmt.Errorf("list %q: %q must be a number or a range below %d, as in 0-47,96-143", clip(text), clip(part), maxCPU)
		}
		for i := a; i <= b; i++ {
			set[i] = true
		}
	}
	return set, nil
}

// String returns the set as Linux prints it.
func (set *numbers) String() string {
	var parts []string
	for i := 0; i < maxCPU; i++ {
		if !set[i] {
			continue
		}
		from := i
		for i+1 < maxCPU && set[i+1] {
			i++
		}
		if from == i {
			parts = append(parts, strconv.Itoa(i))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", from, i))
		}
	}
	return strings.Join(parts, ",")
}

// FirstOf returns the first number of a list, and false when it has none.
func FirstOf(list string) (int, bool) {
	end := strings.IndexAny(list, ",-")
	if end < 0 {
		end = len(list)
	}
	n, err := strconv.Atoi(list[:end])
	return n, err == nil
}

// Mask returns a list as NCCL writes it: words of 32 bits, hexadecimal, the
// highest CPUs first. A list that ParseList refuses is empty.
func Mask(list string) string {
	set, err := parseList(list)
	if err != nil {
		return ""
	}
	words, top := [maxCPU / 32]uint32{}, 0
	for i, in := range set {
		if in {
			words[i/32] |= 1 << (i % 32)
			top = i / 32
		}
	}
	var b strings.Builder
	for w := top; w >= 0; w-- {
		fmt.Fprintf(&b, "%08x", words[w])
		if w > 0 {
			b.WriteByte(',')
		}
	}
	return b.String()
}

// ParseMask reads what Mask returns, of any length, as a list. Without commas it
// may be one long number.
func ParseMask(mask string) (string, error) {
	set := new(numbers)
	if mask = strings.TrimSpace(mask); mask == "" {
		return "", nil
	}
	mask = strings.ReplaceAll(strings.ToLower(mask), "0x", "")
	words := strings.Split(mask, ",")
	for len(words[0]) > 8 && len(words[0]) <= maxCPU && !strings.Contains(mask, ",") {
		cut := len(words[0]) - 8
		words = slices.Insert(words, 1, words[0][cut:])
		words[0] = words[0][:cut]
	}
	for i, word := range words {
		bits, err := strconv.ParseUint(word, 16, 32)
		base := 32 * (len(words) - 1 - i)
		if err != nil || (bits != 0 && base+32 > maxCPU) {
			return "", fmt.Errorf("CPU mask %q: must be words of up to 8 hexadecimal digits for at most %d CPUs", clip(mask), maxCPU)
		}
		for b := range 32 {
			if bits>>b&1 == 1 {
				set[base+b] = true
			}
		}
	}
	return set.String(), nil
}
