package verbs

import (
	"context"
	"runtime"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/pace"
	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/coordinator"
	"github.com/railyard/railyard/internal/wallclock"
	"github.com/railyard/railyard/shaping"
)

// doctor measures this host.
func (v verbs) doctor(ctx context.Context) (cli.Health, error) {
	clock, release, err := wallclock.Host()
	if err != nil {
		return cli.Health{}, coded(ctx, err)
	}
	defer release()
	c, err := coordinator.Measure(ctx, clock)
	if err != nil {
		return cli.Health{}, coded(ctx, err)
	}
	h := cli.Health{CPUs: runtime.GOMAXPROCS(0), Wake: float64(c.Wake) / 1e3, Stream: float64(c.Stream) / 1e3, Frames: c.Frames, Bytes: c.Bytes}
	for _, l := range catalog.Links() {
		way := 2*l.NIC + l.Switch
		limit := pace.Choose(pace.Demand{Span: shaping.Duration(shaping.Never), Slack: way}, c)
		h.Ways = append(h.Ways, cli.HealthWay{Fabric: l.Name, Shortest: float64(way) / float64(shaping.Microsecond), Dilation: limit.Dilation})
	}
	return h, nil
}
