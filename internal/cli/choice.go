package cli

import (
	"errors"
	"fmt"
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

func (c *BenchConfig) setAlgo(s string) (err error) {
	c.Algo, err = spelled(s, sweep.AlgorithmNames())
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
	return fmt.Errorf("--algo %s does not do %s; allowed are %s", name, c.Op, strings.Join(append(others, Auto), ", "))
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
