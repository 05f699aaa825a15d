package link

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// Example is a chain that shows all that Parse reads.
const Example = "ndr / 1000 + rate=50MB/s,latency=2ms,jitter=500us,loss=0.1%,retry=10ms"

// MaxDilation is the largest factor by which time may be stretched.
const MaxDilation = 1_000_000_000

// maxHops bounds what one segment costs.
const maxHops = 16

// dilated parts a hop from the factor it ends with: a slash and digits, which no
// rate ends with.
var dilated = regexp.MustCompile(`^(.*?)\s*/\s*([0-9]+)$`)

// Parse reads a chain of hops, parted by "+". Each is the name of a link in the
// catalog, or fields such as rate=50MB/s, each once, or a name and fields, parted by
// commas: they take the place of what the link has. "/ N" behind all of that dilates
// it: latency N-fold, an N-th of the rate.
// What is wrong is said of all hops at once.
func Parse(s string) ([]shaping.Hop, error) {
	parts := strings.Split(s, "+")
	if len(parts) > maxHops {
		return nil, fmt.Errorf("%d hops: allowed are up to %d", len(parts), maxHops)
	}
	var hops []shaping.Hop
	var errs []error
	for _, part := range parts {
		h, err := parseHop(strings.TrimSpace(part))
		if err != nil {
			errs = append(errs, err)
		}
		hops = append(hops, h)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return hops, nil
}

// Dilate stretches time n-fold on every hop.
func Dilate(hops []shaping.Hop, n int64) ([]shaping.Hop, error) {
	if n < 1 || n > MaxDilation {
		return nil, fmt.Errorf("dilation %d: allowed are 1 to %d", n, MaxDilation)
	}
	var all []shaping.Hop
	var errs []error
	for _, h := range hops {
		h = h.Dilate(n)
		errs = append(errs, h.Check())
		all = append(all, h)
	}
	return all, errors.Join(errs...)
}

func parseHop(s string) (h shaping.Hop, err error) {
	factor := int64(1)
	if m := dilated.FindStringSubmatch(s); m != nil {
		s = m[1]
		if factor, err = strconv.ParseInt(m[2], 10, 64); err != nil || factor < 1 || factor > MaxDilation {
			return h, fmt.Errorf("dilation %q: allowed are 1 to %d", suggest.Clip(m[2]), MaxDilation)
		}
	}
	if s == "" {
		return h, fmt.Errorf("a hop is empty; allowed is a chain such as %q", Example)
	}
	var set []string
	for i, field := range strings.Split(s, ",") {
		name, value, has := strings.Cut(strings.TrimSpace(field), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case dilated.MatchString(name), dilated.MatchString(value):
			err = fmt.Errorf("%q: a dilation stands once, after all fields of its hop, as in \"ndr,latency=1us / 1000\"", suggest.Clip(strings.TrimSpace(field)))
		case has && slices.Contains(set, name):
			err = fmt.Errorf("field %q: is there twice; give it once, or part hops by \"+\"", suggest.Clip(name))
		case has:
			err, set = h.Set(name, value), append(set, name)
		case i == 0:
			h, err = named(name)
		default:
			err = fmt.Errorf("field %q: has no value; allowed are rate=, latency=, jitter=, loss=, retry=", suggest.Clip(name))
		}
		if err != nil {
			return h, err
		}
	}
	h = h.Dilate(factor)
	return h, h.Check()
}

func named(name string) (shaping.Hop, error) {
	w, err := catalog.LookupWay(name)
	if err != nil {
		var names []string
		for _, w := range catalog.Ways() {
			names = append(names, w.Name)
		}
		return shaping.Hop{}, fmt.Errorf("link %s", suggest.Unknown(name, names))
	}
	return shaping.Hop{Rate: w.Rate, Latency: w.Latency}, nil
}

// String prints hops as Parse reads them.
func String(hops []shaping.Hop) string {
	var all []string
	for _, h := range hops {
		all = append(all, h.String())
	}
	return strings.Join(all, " + ")
}

// bound is an int of Bytes, the most there is if it does not fit.
func bound(b shaping.Bytes) int { return int(min(b, math.MaxInt/4)) }
