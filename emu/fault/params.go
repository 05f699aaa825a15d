package fault

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// Param is a parameter of faults, under its word in scenario files and in
// `fault add TYPE TARGET WORD=VALUE`.
type Param struct {
	Word  string
	Means string
	// whole is what 100 % are, where the parameter is a part or a chance.
	whole int64
	// zero: 0 is a value of its own. Of others it is what a fault holds that does not
	// say, so that whoever writes it would get the default.
	zero bool
	// at returns the field of a fault that holds it.
	at func(*emu.Fault) any
}

// params are all parameters but a step of a plan, which is no word.
var params = []Param{
	{"at", "when it strikes, from the start of the scenario", 0, true, func(f *emu.Fault) any { return &f.When.At }},
	{"to", "when it is over", 0, false, func(f *emu.Fault) any { return &f.When.Until }},
	{"every", "it strikes again after so long", 0, false, func(f *emu.Fault) any { return &f.When.Every }},
	{"times", "how often it strikes", 0, false, func(f *emu.Fault) any { return &f.When.Times }},
	{"afterOps", "it strikes when so many operations have ended", 0, true, func(f *emu.Fault) any { return &f.When.AfterOps }},
	{"chance", "probability that it strikes, each time", Whole, false, func(f *emu.Fault) any { return &f.When.Chance }},
	{"downFor", "how long it lasts, each time", 0, false, func(f *emu.Fault) any { return &f.DownFor }},
	{"share", "what is left of the rate", Whole, false, func(f *emu.Fault) any { return &f.Share }},
	{"rate", "the rate that is left", 0, false, func(f *emu.Fault) any { return &f.Rate }},
	{"latency", "how much is added", 0, false, func(f *emu.Fault) any { return &f.Latency }},
	{"jitter", "the most that is added, drawn anew for each message", 0, false, func(f *emu.Fault) any { return &f.Jitter }},
	{"loss", "probability for each packet", Certain, false, func(f *emu.Fault) any { return &f.Loss }},
	{"links", "how many of parallel links", 0, false, func(f *emu.Fault) any { return &f.Links }},
	{"width", "lanes that are left", 0, false, func(f *emu.Fault) any { return &f.Width }},
	{"gen", "PCIe generation that is left", 0, false, func(f *emu.Fault) any { return &f.Gen }},
	{"element", "which element; drawn if left out", 0, true, func(f *emu.Fault) any { return &f.Element }},
	{"bit", "which bit of it; drawn if left out", 0, true, func(f *emu.Fault) any { return &f.Bit }},
	{"count", "elements that the rank calls with", 0, true, func(f *emu.Fault) any { return &f.Count }},
	{"as", "what the rank calls with instead: a type, an operator, a root", 0, false, func(f *emu.Fault) any { return &f.By }},
	{"by", "who is blamed for it", 0, false, func(f *emu.Fault) any { return &f.By }},
}

// words that mean a parameter as well.
var otherWords = [][2]string{{"from", "at"}, {"until", "to"}, {"period", "every"}, {"for", "downFor"}, {"duration", "downFor"}, {"bandwidth", "rate"}, {"probability", "chance"}}

func paramOf(word string) *Param {
	for i := range params {
		if params[i].Word == word {
			return &params[i]
		}
	}
	return nil
}

// param returns the parameter that a word means for a type, nil when it reads none
// of that name.
func (k *Kind) param(word string) *Param {
	for _, w := range append(k.words, otherWords...) {
		if w[0] == word {
			word = w[1]
			break
		}
	}
	if !k.reads(word) {
		return nil
	}
	return paramOf(word)
}

// Params lists the parameters that a type reads, and whether it needs each. The
// words are those of the type: a flap has a period where others have every.
func (k *Kind) Params() (all []Param, needed []bool) {
	for _, word := range strings.Fields(k.takes) {
		name, must := strings.CutSuffix(word, "!")
		if p := paramOf(name); p != nil {
			own := *p
			for _, w := range k.words {
				if w[1] == name {
					own.Word = w[0]
				}
			}
			all, needed = append(all, own), append(needed, must)
		}
	}
	return all, needed
}

func (k *Kind) reads(param string) bool {
	for _, word := range strings.Fields(k.takes) {
		if strings.TrimSuffix(word, "!") == param {
			return true
		}
	}
	return false
}

// Set gives a fault, whose Type is known, a parameter by its word. The error says
// which words the type has, or how the value must be written. A 0 that would mean
// the default is refused: left out it says so, and written it means nothing.
func Set(f *emu.Fault, word, value string) error {
	k, err := Lookup(f.Type)
	if err != nil {
		return err
	}
	p := k.param(word)
	if p == nil {
		return fmt.Errorf("%s: %s has no such parameter; it has %s%s", suggest.Clip(word), k.Word, k.paramWords(), suggest.Hint(word, strings.Split(k.paramWords(), ", ")))
	}
	if err := p.set(f, value); err != nil {
		return fmt.Errorf("%s: %w", word, err)
	}
	if !p.zero && p.text(f) == "" {
		return fmt.Errorf("%s: %q must be more than nothing; %s", word, suggest.Clip(value), k.without(p))
	}
	return nil
}

// without says what to do instead of giving a parameter nothing.
func (k *Kind) without(p *Param) string {
	for _, word := range strings.Fields(k.takes) {
		if word == p.Word+"!" {
			return "without it there is no fault"
		}
	}
	switch p.Word {
	case "chance":
		return "what never strikes is no fault, and without chance it always does"
	case "share", "rate":
		return "a part that carries nothing is down"
	}
	return "leave it out for the default" + strings.TrimSuffix(": "+k.Default, ": ")
}

func (k *Kind) paramWords() string {
	var all []string
	ps, _ := k.Params()
	for _, p := range ps {
		all = append(all, p.Word)
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func (p *Param) set(f *emu.Fault, value string) (err error) {
	switch at := p.at(f).(type) {
	case *shaping.Duration:
		*at, err = shaping.ParseDuration(value)
	case *shaping.Rate:
		*at, err = shaping.ParseRate(value)
	case *string:
		*at = value
	case *int:
		*at, err = strconv.Atoi(value)
		if err != nil || *at < 0 {
			return fmt.Errorf("%q must be a whole number, 0 or more", suggest.Clip(value))
		}
	case *int64:
		*at, err = p.number(value)
		if p.Word == "count" && err == nil && *at == 0 {
			*at = emu.NoElements
		}
	}
	return err
}

// number reads a count, or a part of the whole: 50%, 0.5.
func (p *Param) number(value string) (int64, error) {
	if p.whole == 0 {
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q must be a whole number, 0 or more", suggest.Clip(value))
		}
		return n, nil
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	scale := p.whole
	if percent {
		scale /= 100
	}
	n, ok := fraction(digits, scale)
	if !ok || n > p.whole {
		return 0, fmt.Errorf("%q must be from 0%% to 100%%, such as 5%%, 0.5 or 0.01%%, in steps of %s", suggest.Clip(value), percentOf(1, p.whole))
	}
	return n, nil
}

// fraction returns a decimal number times scale, which is a power of ten, if it is
// whole.
func fraction(s string, scale int64) (int64, bool) {
	whole, part, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 9 || strings.TrimLeft(whole+part, "0123456789") != "" {
		return 0, false
	}
	n, _ := strconv.ParseInt(whole, 10, 64)
	n *= scale
	for _, d := range part {
		if scale /= 10; scale == 0 && d != '0' {
			return 0, false
		}
		n += int64(d-'0') * scale
	}
	return n, true
}

// percentOf prints a part of a whole in percent, without what is zero at its end.
func percentOf(n, whole int64) string {
	one := whole / 100
	text := strconv.FormatInt(n/one, 10)
	if rest := n % one; rest != 0 {
		digits := strconv.FormatInt(one+rest, 10)[1:]
		text += "." + strings.TrimRight(digits, "0")
	}
	return text + "%"
}

// text prints a parameter of a fault; empty when it is not set.
func (p *Param) text(f *emu.Fault) string {
	switch at := p.at(f).(type) {
	case *shaping.Duration:
		if *at != 0 {
			return at.String()
		}
	case *shaping.Rate:
		if *at != 0 {
			return at.String()
		}
	case *string:
		return *at
	case *int:
		if *at != 0 && !(p.Word == "bit" && *at == -1) {
			return strconv.Itoa(*at)
		}
	case *int64:
		switch {
		case *at == 0 || p.Word == "element" && *at == -1:
			return ""
		case p.Word == "count" && *at == emu.NoElements:
			return "0"
		}
		if p.whole > 0 {
			return percentOf(*at, p.whole)
		}
		return strconv.FormatInt(*at, 10)
	}
	return ""
}

// Words returns the parameters of a fault that are set, as Set reads them.
func Words(f *emu.Fault) [][2]string {
	k, err := Lookup(f.Type)
	if err != nil {
		return nil
	}
	var all [][2]string
	ps, _ := k.Params()
	for i := range ps {
		text := ps[i].text(f)
		switch at := ps[i].at(f).(type) {
		case *int:
			if ps[i].Word == "bit" && *at == 0 {
				text = "0"
			}
		case *int64:
			if ps[i].Word == "element" && *at == 0 {
				text = "0"
			}
		}
		if text != "" {
			all = append(all, [2]string{ps[i].Word, text})
		}
	}
	return all
}

// bad reports a value out of the range that any type could take.
func (p *Param) bad(f *emu.Fault) string {
	switch at := p.at(f).(type) {
	case *shaping.Duration:
		if *at < 0 || *at > longest {
			return fmt.Sprintf("%v: must be from 0 to 720h", *at)
		}
	case *shaping.Rate:
		if *at < 0 {
			return fmt.Sprintf("%d B/s: must be more than 0", int64(*at))
		}
	case *int:
		if *at < 0 && !(p.Word == "bit" && *at == -1) {
			return fmt.Sprintf("%d: must be 0 or more", *at)
		}
	case *int64:
		if *at < 0 && !(p.Word == "element" && *at == -1 || p.Word == "count" && *at == emu.NoElements) || p.whole > 0 && *at > p.whole {
			most := ""
			if p.whole > 0 {
				most = ", at most 100%"
			}
			return fmt.Sprintf("%d: must be 0 or more%s", *at, most)
		}
	}
	return ""
}

// Given lists the parameters that a fault has, by word and value as Set takes them,
// in the order of the table.
func Given(f *emu.Fault) (all [][2]string) {
	k, err := Lookup(f.Type)
	if err != nil {
		return nil
	}
	ps, _ := k.Params()
	for i := range ps {
		if v := ps[i].text(f); v != "" {
			all = append(all, [2]string{ps[i].Word, v})
		}
	}
	return all
}

// example shows how a value is written.
func (p *Param) example() string {
	switch p.at(&emu.Fault{}).(type) {
	case *shaping.Duration:
		return "200us, 1.5s"
	case *shaping.Rate:
		return "100Gb/s, 12.5GB/s"
	case *string:
		return "a word"
	case *int64:
		if p.whole > 0 {
			return "5%, 0.05"
		}
	}
	return "3"
}
