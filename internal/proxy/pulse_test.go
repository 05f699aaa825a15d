package proxy

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse: the longest stop while a connection is open is what counts.
func TestPulse(t *testing.T) {
	var u pulse
	now := time.Unix(1, 0)
	for _, step := range []struct {
		after time.Duration
		open  bool
		want  time.Duration
	}{
		{time.Hour, true, 0}, // the first
		{beat, true, 0},
		{beat / 2, true, 0}, // a tick that comes early after one that came late
		{time.Second + beat, true, time.Second},
		{beat + time.Millisecond, true, time.Second},
		{time.Hour, false, time.Second},
		{2*time.Second + beat, true, 2 * time.Second},
	} {
		now = now.Add(step.after)
		if u.beat(now, step.open); u.missed != step.want {
			t.Errorf("a beat %v after the last one: missed %v, want %v", step.after, u.missed, step.want)
		}
	}
}

// TestWatch: on a host that runs the proxy at all times nothing is missed.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p proxy
		var u pulse
		p.open.Add(1)
		p.all.Go(func() { p.watch(t.Context(), &u) })
		time.Sleep(time.Minute + beat/2)
		synctest.Wait()
		if since := time.Since(u.last); u.missed != 0 || since != beat/2 {
			t.Errorf("missed %v, the last beat %v ago, want 0s and %v", u.missed, since, beat/2)
		}
	})
}
