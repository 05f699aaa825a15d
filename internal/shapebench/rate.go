package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/railyard/railyard/shaping/link"
)

// wire is a connection over loopback, shaped at the end that sends; to is not.
type wire struct {
	from io.WriteCloser
	to   net.Conn
}

// connect opens n connections on a link; nil leaves them as they are.
func connect(l *link.Link, n int) ([]wire, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	var all []wire
	for range n {
		from, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			return all, err
		}
		to, err := ln.Accept()
		if err != nil {
			return all, err
		}
		if l != nil {
			from = l.Wrap(from)
		}
		all = append(all, wire{from, to})
	}
	return all, nil
}

// flood sends on connections of a link as much as it takes, in portions of the
// given sizes, and returns how many bytes a second arrived on each.
func flood(l *link.Link, portions []int, warm, span time.Duration) ([]float64, error) {
	wires, err := connect(l, len(portions))
	if err != nil {
		return nil, err
	}
	var writers, readers sync.WaitGroup
	rates := make([]float64, len(wires))
	for i, w := range wires {
		writers.Go(func() {
			for buf := make([]byte, portions[i]); ; {
				if _, err := w.from.Write(buf); err != nil {
					return
				}
			}
		})
		readers.Go(func() { rates[i] = count(w.to, warm, span) })
	}
	readers.Wait()
	for _, w := range wires {
		_ = w.from.Close()
		_ = w.to.Close()
	}
	writers.Wait()
	return rates, nil
}

// arrival is when a read returned, and how many bytes there were by then.
type arrival struct {
	at  time.Duration // since the first one
	sum int
}

// count reads and returns bytes a second: after a warm-up that begins with the
// first arrival, from one arrival to another.
func count(r io.Reader, warm, span time.Duration) float64 {
	buf := make([]byte, 256<<10)
	var began time.Time
	var all []arrival
	for sum := 0; ; {
		n, err := r.Read(buf)
		now := time.Now()
		if err != nil {
			return 0
		}
		if began.IsZero() {
			began = now
		}
		sum += n
		if at := now.Sub(began); at >= warm {
			all = append(all, arrival{at, sum})
			if at >= warm+span && len(all) > 1 {
				return perSecond(all, span/8)
			}
		}
	}
}

// perSecond returns the rate from one arrival to another: of those within an edge of
// the first and of the last, the ones that were least behind the mean rate. When the
// host let the reader run says nothing of when bytes came; at an edge it would
// count as if it did, and 20 ms in 2 s are a hundredth.
func perSecond(all []arrival, edge time.Duration) float64 {
	first, last := all[0], all[len(all)-1]
	mean := float64(last.sum-first.sum) / (last.at - first.at).Seconds()
	least := func(some []arrival) arrival {
		return slices.MinFunc(some, func(a, b arrival) int {
			return cmp.Compare(a.at.Seconds()-float64(a.sum)/mean, b.at.Seconds()-float64(b.sum)/mean)
		})
	}
	mid := len(all) / 2
	head := sort.Search(mid, func(i int) bool { return all[i].at > first.at+edge })
	tail := mid + sort.Search(len(all)-mid-1, func(i int) bool { return all[mid+i].at >= last.at-edge })
	from, to := least(all[:max(head, 1)]), least(all[tail:])
	return float64(to.sum-from.sum) / (to.at - from.at).Seconds()
}

// open is link.Open for specs of this program's own.
func open(spec string) *link.Link {
	l, err := link.Open(spec, link.Options{Seed: 1})
	if err != nil {
		panic("shapebench: " + err.Error())
	}
	return l
}

const mb = 1e6 // bytes

// carried returns what this host carries over loopback, on a link that changes nothing.
func (b *bench) carried() (plain, shaped float64, err error) {
	one := []int{128 << 10}
	before, err := flood(nil, one, b.warm, b.span)
	if err != nil {
		return 0, 0, err
	}
	l := open("latency=0s")
	defer l.Close()
	through, err := flood(l, one, b.warm, b.span)
	if err != nil {
		return 0, 0, err
	}
	b.add(line{what: "loopback, plain", got: fmt.Sprintf("%.0f MB/s", before[0]/mb), kind: report})
	b.add(line{what: "loopback, on a link without a rate", got: fmt.Sprintf("%.0f MB/s, %.2f of it", through[0]/mb, through[0]/before[0]), kind: report})
	return before[0], through[0], nil
}

// oneFlow measures single flows up to what the host carries.
func (b *bench) oneFlow(carries float64) error {
	for _, r := range b.rates {
		if r*mb > 0.8*carries && r > 100 {
			b.add(line{what: fmt.Sprintf("one flow, %.0f MB/s", r), got: "beyond four fifths of what the host carries", kind: report})
			continue
		}
		l := open(fmt.Sprintf("rate=%.0fMB/s", r))
		got, err := flood(l, []int{128 << 10}, b.warm, b.span)
		_ = l.Close()
		if err != nil {
			return err
		}
		bound := 0.01
		if r > 100 {
			bound = 0.03
		}
		off := got[0]/(r*mb) - 1
		b.add(line{fmt.Sprintf("one flow, %.0f MB/s", r), fmt.Sprintf("%.2f MB/s, %+.2f %%", got[0]/mb, 100*off),
			fmt.Sprintf("within %.0f %%", 100*bound), rate, math.Abs(off) <= bound})
	}
	return nil
}

// eightFlows measures one cap over many, alike and unlike.
func (b *bench) eightFlows() error {
	for _, test := range []struct {
		what     string
		portions []int
	}{
		{"eight flows on 100 MB/s", slices.Repeat([]int{64 << 10}, 8)},
		{"eight flows that write 1 to 128 KiB", []int{1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10}},
	} {
		l := open("rate=100MB/s")
		got, err := flood(l, test.portions, b.warm, b.span)
		_ = l.Close()
		if err != nil {
			return err
		}
		sum, squares := 0.0, 0.0
		for _, g := range got {
			sum += g
			squares += g * g
		}
		off, jain := sum/(100*mb)-1, sum*sum/(float64(len(got))*squares)
		b.add(line{test.what, fmt.Sprintf("%.2f MB/s, %+.2f %%", sum/mb, 100*off), "within 2 %", rate, math.Abs(off) <= 0.02})
		b.add(line{"  their fairness", fmt.Sprintf("Jain %.4f", jain), "at least 0.99", rate, jain >= 0.99})
	}
	return nil
}

// longLink compares the rate of a link with latency to that of one without.
func (b *bench) longLink() error {
	var got [2]float64
	for i, spec := range []string{"rate=100MB/s", "rate=100MB/s,latency=50ms"} {
		l := open(spec)
		rates, err := flood(l, []int{128 << 10}, b.warm, b.span)
		_ = l.Close()
		if err != nil {
			return err
		}
		got[i] = rates[0]
	}
	ratio := got[1] / got[0]
	b.add(line{"100 MB/s with 50 ms, against without", fmt.Sprintf("%.4f of its rate", ratio), "within 1 %", rate, math.Abs(ratio-1) <= 0.01})
	return nil
}
