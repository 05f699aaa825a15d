package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
	"github.com/railyard/railyard/shaping/link"
)

// ProxyConfig is everything nodesim proxy was told.
type ProxyConfig struct {
	Common

	Listen   string // host:port; port 0 is any
	To       string // host:port of the upstream
	Link     []shaping.Hop
	Dilation int64
	Seed     uint64
}

// ProxyReport is what a proxy has done when it ends.
type ProxyReport struct {
	Connections, Refused int64
	Stopped              time.Duration // the longest time for which the host did not run it while a connection was open
	Up, Down             link.Stats
}

func (c *ProxyConfig) settings() []setting {
	return []setting{
		{name: "listen", arg: "ADDR", def: "127.0.0.1:0", usage: "address for clients; the one chosen is printed", set: address(&c.Listen)},
		{name: "to", arg: "ADDR", usage: "the program behind the link (HOST:PORT)", set: c.setTo},
		{name: "link", arg: "LINK", usage: `a link by name, or a chain such as "` + link.Example + `"`, set: c.setLink},
		{name: "dilation", arg: "N", def: "1", usage: "how many times slower than the link", set: whole(&c.Dilation, 1, link.MaxDilation)},
		{name: "seed", arg: "N", def: "0", usage: "seeds jitter and loss", set: c.setSeed},
	}
}

func (c *ProxyConfig) setTo(s string) error {
	err := address(&c.To)(s)
	if err == nil && strings.HasSuffix(s, ":0") {
		return fmt.Errorf("%q must end in a port from 1 to %d: nothing listens on port 0", suggest.Clip(s), math.MaxUint16)
	}
	return err
}

func (c *ProxyConfig) setLink(s string) (err error) {
	c.Link, err = link.Parse(s)
	return err
}

func (c *ProxyConfig) setSeed(s string) error {
	var v int64
	err := whole(&v, 0, 1<<63-1)(s)
	c.Seed = uint64(v)
	return err
}

// check says what is missing, and what does not go together.
func (c *ProxyConfig) check() error {
	var errs []error
	if c.To == "" {
		errs = append(errs, errors.New("--to is missing; give the address of the program behind the link"))
	}
	if c.To != "" && itself(c.Listen, c.To) {
		errs = append(errs, fmt.Errorf("--to %s: --listen %s is that address, and the proxy would connect to itself without end; give the address of the program behind the link", c.To, c.Listen))
	}
	if c.Link == nil {
		errs = append(errs, errors.New("--link is missing; give a link such as ndr"))
	} else if _, err := link.Dilate(c.Link, c.Dilation); err != nil {
		errs = append(errs, fmt.Errorf("--dilation %d: %w", c.Dilation, err))
	}
	if c.Format == "csv" {
		errs = append(errs, errors.New("--format csv: proxy prints table or json"))
	}
	return errors.Join(errs...)
}

// itself reports whether who connects to one address reaches who listens at the
// other, as far as addresses tell without asking for names.
func itself(listen, to string) bool {
	host := func(address string) (net.IP, string, string) {
		name, port, _ := net.SplitHostPort(address) // settings have checked it
		switch name {
		case "":
			return net.IPv4zero, name, port
		case "localhost":
			return net.IPv4(127, 0, 0, 1), name, port
		}
		return net.ParseIP(name), name, port
	}
	at, atName, atPort := host(listen)
	of, ofName, ofPort := host(to)
	switch {
	case atPort != ofPort:
		return false
	case at == nil || of == nil:
		return atName == ofName
	case at.IsUnspecified() || of.IsUnspecified():
		return (at.IsUnspecified() || at.IsLoopback()) && (of.IsUnspecified() || of.IsLoopback())
	default:
		return at.Equal(of)
	}
}

func (a *App) proxy() *cobra.Command {
	var c ProxyConfig
	settings := append(c.settings(), c.Common.settings()...)
	cmd := &cobra.Command{
		Use: "proxy --to ADDR --link LINK", Short: "Put any TCP program on an emulated link",
		Long: "proxy accepts connections, opens one to the program behind it for each, and has\n" +
			"the bytes of all of them arrive as on one link, both ways. It ends when it is\ninterrupted, and says what it carried and how well it kept time.",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			c.finish(a)
			if err == nil {
				err = c.check()
			}
			if err == nil && a.Hosts.Proxy == nil {
				err = notYet("proxy")
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			r, err := a.Hosts.Proxy(cmd.Context(), c, func(listen string) { c.begin(a.Stdout, listen) })
			if err != nil {
				return err
			}
			return r.write(a.Stdout, c.Format, r.doubts(c.latency()))
		},
	}
	register(cmd, settings)
	return cmd
}

// begin says where clients may connect.
func (c *ProxyConfig) begin(w io.Writer, listen string) {
	hops, err := link.Dilate(c.Link, c.Dilation)
	if err != nil {
		panic("cli: " + err.Error()) // check has let it pass
	}
	if c.Format == "json" {
		_ = json.NewEncoder(w).Encode(map[string]string{"listen": listen, "to": c.To, "link": link.String(hops)})
		return
	}
	fmt.Fprintf(w, "proxy on %s to %s over %s\n", listen, c.To, link.String(hops))
}

// proxyWay is one direction of a report.
type proxyWay struct {
	Bytes    int64         `json:"bytes"`
	Segments int64         `json:"segments"`
	Lost     int64         `json:"lost_packets"`
	Half     time.Duration `json:"late_p50_ns"`
	Most     time.Duration `json:"late_p99_ns"`
	Latest   time.Duration `json:"late_max_ns"`
	Overrun  int64         `json:"overruns"`
}

func newProxyWay(s *link.Stats) proxyWay {
	l := &s.Lateness
	return proxyWay{s.Bytes, s.Segments, s.Lost, l.Percentile(50), l.Percentile(99), l.Max, s.Overrun}
}

// What the host may be late before what was measured over a link means nothing.
const (
	lateLittle = time.Millisecond       // what shaped connections promise of 99 in 100 segments
	lateShare  = 50                     // or this part of the link's latency, if more: 2 %, the tolerance of runs
	lateNever  = 100 * time.Millisecond // no segment at all: as for rates, where that much is caught up
)

// latency returns the link's, one way.
func (c *ProxyConfig) latency() time.Duration {
	var sum time.Duration
	for _, h := range c.Link {
		sum += time.Duration(h.Dilate(c.Dilation).Latency / shaping.Nanosecond)
	}
	return sum
}

// doubts says why what was measured over a link of that latency can't be trusted;
// empty if it can.
func (r *ProxyReport) doubts(latency time.Duration) string {
	var all []string
	if n := r.Up.Overrun + r.Down.Overrun; n > 0 {
		all = append(all, fmt.Sprintf("the host was too late for %d segments and the link's rate was not kept", n))
	}
	usual := max(lateLittle, latency/lateShare)
	if rare := max(lateNever, usual); r.Stopped > rare {
		all = append(all, fmt.Sprintf("the host did not run the proxy for %v, where %v is allowed", r.Stopped, rare))
	}
	for i, s := range []*link.Stats{&r.Up, &r.Down} {
		way, late := [...]string{"up", "down"}[i], &s.Lateness
		switch most := late.Percentile(99); {
		case most > usual:
			all = append(all, fmt.Sprintf("one segment in a hundred was %v late or more on the way %s, where %v is allowed", most, way, usual))
		case late.Max > max(lateNever, usual):
			all = append(all, fmt.Sprintf("a segment was %v late on the way %s, where %v is allowed", late.Max, way, max(lateNever, usual)))
		}
	}
	return strings.Join(all, "; ")
}

// write prints what was carried, and whether the host kept time.
func (r *ProxyReport) write(w io.Writer, format, doubts string) error {
	up, down := newProxyWay(&r.Up), newProxyWay(&r.Down)
	if format == "json" {
		return json.NewEncoder(w).Encode(struct {
			Connections int64         `json:"connections"`
			Refused     int64         `json:"refused"`
			Up          proxyWay      `json:"up"`
			Down        proxyWay      `json:"down"`
			Stopped     time.Duration `json:"stopped_ns"`
			Trustworthy bool          `json:"trustworthy"`
			Doubts      string        `json:"doubts,omitempty"`
		}{r.Connections, r.Refused, up, down, r.Stopped, doubts == "", doubts})
	}
	fmt.Fprintf(w, "%d connections carried, %d refused by upstream\n", r.Connections, r.Refused)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tbytes\tsegments\tlost packets\tlate, half\t99 %\tmost\toverruns\t")
	for _, row := range []struct {
		name string
		way  proxyWay
	}{{"up", up}, {"down", down}} {
		v := row.way
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%v\t%v\t%v\t%d\t\n", row.name, v.Bytes, v.Segments, v.Lost, v.Half, v.Most, v.Latest, v.Overrun)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	said := "trustworthy: the host kept the link's time"
	if doubts != "" {
		said = "not trustworthy: " + doubts + "; take a higher --dilation"
	}
	_, err := fmt.Fprintln(w, said)
	return err
}
