package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/tuner"
)

// algos and protos return the names that --algo and --proto take.
func algos() []string { return append([]string{Auto}, sweep.AlgorithmNames()...) }

func protos() []string { return append([]string{Auto}, sweep.ProtocolNames()...) }

// setAlgo reads --algo. What its runtime calls a plan from a file, MSCCL, stands
// for what --plan names.
func (c *BenchConfig) setAlgo(s string) (err error) {
	var others []string
	for word := range strings.SplitSeq(s, ",") {
		if w := strings.TrimSpace(word); strings.EqualFold(w, "msccl") || strings.EqualFold(w, "sccl") {
			c.MSCCL = true
			continue
		}
		others = append(others, word)
	}
	if c.MSCCL && others == nil {
		c.Algo = Auto
		return nil
	}
	c.Algo, err = spelled(strings.Join(others, ","), sweep.AlgorithmNames())
	return err
}

func (c *BenchConfig) setProto(s string) (err error) {
	c.Proto, err = spelled(s, sweep.ProtocolNames())
	return err
}

// spelled reads what NCCL_ALGO or NCCL_PROTO may say. One name comes back as the
// registry spells it, Auto as Auto, and whatever else as it was given.
func spelled(s string, known []string) (string, error) {
	f, err := tuner.ParseFilter(s, known, func(word string, among []string) error {
		if len(among) == len(known) && among[0] == known[0] { // not an operation
			among = append([]string{Auto}, among...)
		}
		return errors.New(suggest.Unknown(word, among))
	})
	if err != nil {
		return "", err
	}
	if strings.EqualFold(s, Auto) {
		return Auto, nil
	}
	// Without a colon one rule holds for every operation.
	if all := f.Named(collective.AllReduce); len(all) == 1 && !strings.ContainsAny(s, ":;") {
		return all[0], nil
	}
	return s, nil
}

// checkAlgo refuses a single name that does not do the operation. What else
// stands against it depends on the cluster, which says so later.
func (c *BenchConfig) checkAlgo() error {
	f, err := sweep.AlgorithmFilter(c.Algo)
	if err != nil || len(f.Named(c.Op)) != 1 {
		return nil // --algo has said so already
	}
	name := f.Named(c.Op)[0]
	a, err := collective.Lookup(name)
	if err != nil {
		return fmt.Errorf("--algo: %w", err)
	}
	var others []string
	for _, o := range collective.Algorithms() {
		for _, op := range o.Ops {
			if op == c.Op {
				others = append(others, o.Name)
			}
		}
	}
	for _, op := range a.Ops {
		if op == c.Op {
			return nil
		}
	}
	return fmt.Errorf("%s %s does not do %s; allowed are %s", cmp.Or(c.AlgoBy, "--algo"), name, c.Op, strings.Join(append(others, Auto), ", "))
}

// mscclSays answers MSCCL among the algorithms where no plan is named: its runtime
// takes another of the list then, and has none where the list ends.
func (l *benchLine) mscclSays() error {
	c := &l.config
	by := cmp.Or(c.AlgoBy, "--algo")
	switch {
	case !c.MSCCL || c.PlanFile != "":
		return nil
	case c.Algo == Auto:
		return fmt.Errorf("%s: MSCCL runs a plan from a file: name it with --plan FILE.xml", by)
	}
	l.notes = append(l.notes, by+": MSCCL has no effect: --plan names no file")
	return nil
}

// ncclPointToPoint is what NCCL makes of its sends and receives.
const ncclPointToPoint = "direct"

// sendsAndReceives drops what NCCL_ALGO and NCCL_PROTO say of an operation that
// NCCL makes of sends and receives, where it asks neither. What one of our own
// algorithms can follow stands.
func (l *benchLine) sendsAndReceives() {
	c := &l.config
	algos, algoErr := sweep.AlgorithmFilter(c.Algo)
	protos, protoErr := sweep.ProtocolFilter(c.Proto)
	if !pointToPoint(c.Op) || algoErr != nil || protoErr != nil {
		return // --algo has said so already
	}
	algo, proto := false, false
	for _, a := range collective.Algorithms() {
		named := slices.Contains(algos.Named(c.Op), a.Name) || a.Name == ncclPointToPoint
		if !named || !slices.Contains(a.Ops, c.Op) {
			continue
		}
		algo = algo || algos.Allows(c.Op, a.Name)
		for _, p := range sweep.ProtocolNames() {
			parsed, err := collective.ParseProtocol(p)
			uses := a.Protocols == nil || slices.Contains(a.Protocols, parsed)
			proto = proto || err == nil && uses && protos.Allows(c.Op, p)
		}
	}
	drop := func(name string, value *string, follows bool) {
		if by := l.variableOf(name); by != "" && !follows {
			l.notes = append(l.notes, fmt.Sprintf("%s=%s has no effect: NCCL makes %s of sends and receives, in which it has no say", by, l.sources[name].value, c.Op))
			*value, l.sources[name] = Auto, source{Auto, "default"}
		}
	}
	drop("algo", &c.Algo, algo)
	c.MSCCL = c.MSCCL && algo
	drop("proto", &c.Proto, proto)
}

// newestNCCL is the version that auto follows unless told.
const newestNCCL = "2.30"

func (c *BenchConfig) setNCCL(s string) error {
	minor, ok := strings.CutPrefix(s, "2.")
	v, err := strconv.Atoi(minor)
	if !ok || err != nil || v < tuner.Oldest || v > tuner.Newest || strconv.Itoa(v) != minor {
		return fmt.Errorf("%q must be a version from 2.%d to 2.%d", suggest.Clip(s), tuner.Oldest, tuner.Newest)
	}
	c.NCCL, c.Tuning.Version = s, v
	return nil
}
