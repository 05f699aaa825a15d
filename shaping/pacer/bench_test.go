package pacer

import (
	"testing"
	"time"
)

// BenchmarkWake sets one event at a time, a millisecond ahead, and reports how
// late it ran and how late the goroutine that waits for it did.
func BenchmarkWake(b *testing.B) {
	p, err := New()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	var seen Lateness
	ran := make(chan Instant, 1)
	for b.Loop() {
		due := p.Now().Add(time.Millisecond)
		p.At(due, func(time.Duration) { ran <- due })
		due = <-ran
		seen.Add(p.Now().Sub(due))
	}
	event := p.Lateness()
	report(b, "event", &event)
	report(b, "goroutine", &seen)
}

func report(b *testing.B, what string, l *Lateness) {
	b.ReportMetric(float64(l.Percentile(50))/1e3, what+"-p50-µs")
	b.ReportMetric(float64(l.Percentile(99))/1e3, what+"-p99-µs")
}

// BenchmarkSet is what an event costs that is due at once.
func BenchmarkSet(b *testing.B) {
	p, err := New()
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	ran := make(chan struct{}, 1)
	e := &Event{Func: func(time.Duration) { ran <- struct{}{} }}
	b.ReportAllocs()
	for b.Loop() {
		p.Set(e, p.Now())
		<-ran
	}
}
