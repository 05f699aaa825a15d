package emu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// phase reads an entry of run: a call, or with together: several.
func (r *scenarioReader) phase(path string, n ast.Node, p *Phase) {
	var c Call
	keys := append(r.call(&c), []key{
		{name: "together", read: list(r.reader, &p.Calls, r.together)},
		{name: "blocking", read: r.truth(func(yes bool) { p.Blocking = yes })},
		{name: "onFailure", read: parsedValue(r.reader, &p.OnFailure, parsePolicy)},
		{name: "maxAttempts", read: r.count(&p.MaxAttempts, maxAttempts)},
		{name: "timeout", read: r.span(&p.Timeout)},
	}...)
	c.Iterations = 1
	r.mapping(n, path, keys)
	several := r.given(path, "together")
	for _, k := range r.call(&c) {
		if several && r.given(path, k.name) {
			r.add(n, join(path, k.name), "belongs to each of the calls in together")
		}
	}
	if !several {
		if r.given(path, "blocking") {
			r.add(n, path+".blocking", "is for several calls; list them in together")
		}
		r.checkCall(path, n, &c)
		p.Calls = []Call{c}
	} else if len(p.Calls) == 0 && !r.unread(path+".together") {
		r.add(n, path+".together", "must list at least one call")
	}
	if p.OnFailure == "" {
		p.OnFailure = Abort
	}
	again := p.OnFailure == Retry || p.OnFailure == Shrink
	switch {
	case p.MaxAttempts > 1 && !again:
		r.add(n, path+".maxAttempts", fmt.Sprintf("%d: %s tries once; onFailure: retry or shrink try again", p.MaxAttempts, p.OnFailure))
	case p.MaxAttempts == 0 && again:
		p.MaxAttempts = DefaultAttempts
	case p.MaxAttempts == 0:
		p.MaxAttempts = 1
	}
}

// given reports whether a mapping has a key.
func (r *reader) given(path, name string) bool {
	_, ok := r.lines[join(path, name)]
	return ok
}

func (r *scenarioReader) together(path string, n ast.Node, c *Call) {
	c.Iterations = 1
	r.mapping(n, path, r.call(c))
	r.checkCall(path, n, c)
}

// call returns the keys of a call.
func (r *scenarioReader) call(c *Call) []key {
	return []key{
		{name: "op", read: parsedValue(r.reader, &c.Op, parseOp)},
		{name: "size", read: parsedValue(r.reader, &c.Bytes, shaping.ParseBytes)},
		{name: "algo", read: parsedValue(r.reader, &c.Algorithm, parseAlgorithm)},
		{name: "proto", read: parsedValue(r.reader, &c.Protocol, parseProtocol)},
		{name: "dtype", read: parsedValue(r.reader, &c.DType, collective.ParseDType)},
		{name: "redop", read: parsedValue(r.reader, &c.RedOp, collective.ParseRedOp)},
		{name: "root", read: r.from0(&c.Root)},
		{name: "channels", read: r.count(&c.Channels, 64)},
		{name: "inPlace", read: r.truth(func(yes bool) { c.InPlace = yes })},
		{name: "ranks", read: parsedValue(r.reader, &c.Ranks, ParseRanks)},
		{name: "iterations", read: r.count(&c.Iterations, maxIterations)},
	}
}

func (r *scenarioReader) checkCall(path string, n ast.Node, c *Call) {
	if !r.given(path, "op") {
		r.add(n, join(path, "op"), "is missing; allowed are "+strings.Join(opNames(), ", "))
	}
	if !r.given(path, "size") && c.Op != collective.Barrier && !r.unread(path+".size") && !r.unread(path+".op") {
		r.add(n, join(path, "size"), "is missing: bytes such as 64M, as nccl-tests counts them")
	}
	if c.InPlace && !c.Op.InPlace() {
		r.add(n, join(path, "inPlace"), fmt.Sprintf("%s has no such form", c.Op))
	}
}

func opNames() []string {
	var all []string
	for _, o := range collective.Ops() {
		all = append(all, o.String())
	}
	return all
}

func parseOp(s string) (collective.Op, error) {
	i := slices.Index(opNames(), strings.TrimSuffix(s, "_perf"))
	if i < 0 {
		return 0, errors.New(suggest.Unknown(s, opNames()))
	}
	return collective.Ops()[i], nil
}

const auto = "auto" // leaves a choice to NCCL's tuner

func parseAlgorithm(s string) (string, error) {
	if strings.EqualFold(s, auto) {
		return "", nil
	}
	a, err := collective.Lookup(strings.ToLower(s))
	return a.Name, err
}

func parseProtocol(s string) (string, error) {
	if strings.EqualFold(s, auto) {
		return "", nil
	}
	p, err := collective.ParseProtocol(strings.ToLower(s))
	return p.String(), err
}

func parsePolicy(s string) (Policy, error) {
	if !slices.Contains(Policies(), Policy(s)) {
		return "", errors.New(suggest.Unknown(s, wordsOf(Policies())))
	}
	return Policy(s), nil
}

// maxRanks is the most that test data stays exact for.
const maxRanks = 1 << 17

// ParseRanks reads a list of GPUs, counted over the cluster: "0-7,16,24-31".
func ParseRanks(s string) ([]int, error) {
	var all []int
	seen := map[int]bool{}
	for _, part := range strings.Split(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.Atoi(first)
		to := from
		if isRange && err == nil {
			to, err = strconv.Atoi(last)
		}
		if err != nil || from < 0 || to < from || to >= maxRanks {
			return nil, fmt.Errorf("%q must be numbers of GPUs, counted over the cluster, such as 0-7,16", suggest.Clip(s))
		}
		for g := from; g <= to; g++ {
			if seen[g] {
				return nil, fmt.Errorf("%q names GPU %d twice", suggest.Clip(s), g)
			}
			seen[g] = true
			all = append(all, g)
		}
	}
	return all, nil
}

// FormatRanks prints a list of GPUs as ParseRanks reads it.
func FormatRanks(ranks []int) string {
	var parts []string
	for i := 0; i < len(ranks); {
		k := i + 1
		for k < len(ranks) && ranks[k] == ranks[k-1]+1 {
			k++
		}
		part := strconv.Itoa(ranks[i])
		if k > i+1 {
			part += "-" + strconv.Itoa(ranks[k-1])
		}
		parts = append(parts, part)
		i = k
	}
	return strings.Join(parts, ",")
}
