package emu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// errors of figures end a sentence that begins with the value.
func parseRate(s string) (shaping.Rate, error)         { return shaping.ParseRate(s) }
func parseDuration(s string) (shaping.Duration, error) { return shaping.ParseDuration(s) }
func parseBytes(s string) (shaping.Bytes, error)       { return shaping.ParseBytes(s) }

func asInt[T ~int64](v T, err error) (int64, error) {
	if err != nil {
		return 0, fmt.Errorf("is not understood: %w", err)
	}
	return int64(v), nil
}

// percentage reads a percentage in millionths.
func percentage(s string) (int64, error) {
	digits, ok := strings.CutSuffix(s, "%")
	whole, part, _ := strings.Cut(strings.TrimSpace(digits), ".")
	if !ok || len(whole) > 9 || len(part) > 4 {
		return 0, errors.New(`must be a percentage of another run's, such as ">= 90% of run 0"`)
	}
	v, err := strconv.ParseUint(whole+(part + "0000")[:4], 10, 63)
	if err != nil {
		return 0, errors.New(`must be a percentage of another run's, such as ">= 90% of run 0"`)
	}
	return int64(v), nil
}

// YAML returns the scenario as a scenario file, which LoadScenario reads back as
// the same value. words returns the parameters of a fault, as KnownFaults does.
// All that has a default is written out.
func (s *Scenario) YAML(words func(*Fault) [][2]string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\nmetadata: {name: %s}\nspec:\n  cluster:\n", APIVersion, KindScenario, scalar(s.Name))
	_, spec, _ := strings.Cut(string(s.Cluster.YAML()), "spec:\n")
	for line := range strings.Lines(spec) {
		if !strings.HasPrefix(line, "  seed:") { // the scenario has one
			b.WriteString("  " + line)
		}
	}
	fmt.Fprintf(&b, "  seed: %d\n  resilience: {%s}\n  run:\n", s.Cluster.Seed, strings.Join(s.Resilience.entries(), ", "))
	for i := range s.Phases {
		s.Phases[i].print(&b)
	}
	if len(s.Faults) > 0 {
		b.WriteString("  faults:\n")
	}
	for i := range s.Faults {
		fmt.Fprintf(&b, "    - {%s}\n", strings.Join(s.Faults[i].entries(words), ", "))
	}
	if len(s.Expect) > 0 {
		b.WriteString("  expect:\n")
	}
	for i := range s.Expect {
		fmt.Fprintf(&b, "    - {%s}\n", strings.Join(s.Expect[i].entries(), ", "))
	}
	return []byte(b.String())
}

func (r *Resilience) entries() []string {
	var f flow
	f.add("NCCL_IB_TIMEOUT", fmt.Sprint(r.IBTimeout))
	f.add("NCCL_IB_RETRY_CNT", fmt.Sprint(r.IBRetry))
	f.add("failover", fmt.Sprint(r.Failover))
	f.add("failback", fmt.Sprint(r.Failback))
	for _, d := range []struct {
		key string
		v   shaping.Duration
	}{{"probe", r.Probe}, {"recover", r.Recover}, {"sweep", r.Sweep}, {"control", r.Control}, {"replan", r.Replan}, {"watchdog", r.Watchdog}} {
		f.add(d.key, d.v.String())
	}
	return f
}

func (p *Phase) print(b *strings.Builder) {
	var f flow
	if p.Blocking {
		f.add("blocking", "true")
	}
	f.add("onFailure", string(p.OnFailure))
	if p.MaxAttempts > 1 || p.OnFailure == Retry || p.OnFailure == Shrink {
		f.add("maxAttempts", fmt.Sprint(p.MaxAttempts))
	}
	if p.Timeout > 0 {
		f.add("timeout", p.Timeout.String())
	}
	if len(p.Calls) == 1 && !p.Blocking {
		fmt.Fprintf(b, "    - {%s}\n", strings.Join(append(p.Calls[0].entries(), f...), ", "))
		return
	}
	b.WriteString("    - together:\n")
	for i := range p.Calls {
		fmt.Fprintf(b, "        - {%s}\n", strings.Join(p.Calls[i].entries(), ", "))
	}
	for _, entry := range f {
		fmt.Fprintf(b, "      %s\n", entry)
	}
}

func (c *Call) entries() []string {
	var f flow
	f.add("op", c.Op.String())
	f.add("size", c.Bytes.String())
	f.text("algo", c.Algorithm)
	f.text("proto", c.Protocol)
	f.add("dtype", c.DType.String())
	f.add("redop", c.RedOp.String())
	f.number("root", c.Root)
	f.number("channels", c.Channels)
	if c.InPlace {
		f.add("inPlace", "true")
	}
	if len(c.Ranks) > 0 {
		f.add("ranks", strconv.Quote(FormatRanks(c.Ranks)))
	}
	f.add("iterations", fmt.Sprint(c.Iterations))
	return f
}

func (f *Fault) entries(words func(*Fault) [][2]string) []string {
	var e flow
	e.add("type", f.Type)
	e.text("name", f.Name)
	if f.Target != "" {
		e.add("target", strconv.Quote(f.Target))
	}
	if s := f.When.Step; s != nil {
		e.add("step", fmt.Sprintf("{op: %d, rank: %d, channel: %d, step: %d}", s.Op, s.Rank, s.Channel, s.Step))
	}
	for _, w := range words(f) {
		e.add(w[0], strconv.Quote(w[1]))
	}
	return e
}

func (e *Expectation) entries() []string {
	var f flow
	if e.Detect != "" {
		f.add("detect", strconv.Quote(e.Detect))
		f.add("within", e.Within.String())
		return f
	}
	f.add("run", fmt.Sprint(e.Run))
	for i := range e.Wants {
		f.add(e.Wants[i].Key, strconv.Quote(e.Wants[i].Text()))
	}
	return f
}
