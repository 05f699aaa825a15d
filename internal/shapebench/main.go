package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// bench is how much is measured, and what came of it.
type bench struct {
	round
	warm, span time.Duration
	messages   int
	rates      []float64 // MB/s
}

func main() {
	quick := flag.Bool("quick", false, "measure little, beside nobody, and judge no timing: for hosts that others share")
	alone := flag.Bool("alone", false, "leave out the round beside a process that spins")
	spinning := flag.Bool("spin", false, "(internal) use one processor until standard input ends")
	flag.Parse()
	switch {
	case flag.NArg() > 0:
		fmt.Fprintf(os.Stderr, "shapebench: %q: it takes no arguments\n", flag.Arg(0))
		os.Exit(64)
	case *spinning:
		spin()
		return
	}
	code, err := run(os.Stdout, *quick, *alone || *quick)
	if err != nil {
		fmt.Fprintln(os.Stderr, "shapebench:", err)
		code = 2
	}
	os.Exit(code)
}

// run measures and returns the exit code.
func run(w io.Writer, quick, alone bool) (code int, err error) {
	b := newBench(quick)
	m := newMeter()
	if err := b.measure(); err != nil {
		return 0, err
	}
	share, known := m.others()
	b.title = fmt.Sprintf("%s/%s, %d processors: %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), state(share, known))
	judged := []kind{timing, rate, always}
	if quick {
		judged = []kind{always}
	}
	b.write(w, judged...)
	idle, late, ever := !known || share < idleBelow, b.broken(timing)+b.broken(rate), b.broken(always)
	if !alone {
		beside, share, err := busyRound()
		if err != nil {
			return 0, err
		}
		beside.write(w, rate, always)
		idle, late, ever = idle && (!known || share < idleBelow), late+beside.broken(rate), ever+beside.broken(always)
	}
	return verdict(w, late, ever, quick, idle)
}

// busyRound measures beside a process of ours that spins.
func busyRound() (b *bench, share float64, err error) {
	b = newBench(false)
	m := newMeter()
	end, err := hog()
	if err != nil {
		return nil, 0, err
	}
	err = b.measure()
	end()
	share, known := m.others()
	b.title = "beside a process that spins, no latency promised: " + state(share, known)
	return b, share, err
}

func newBench(quick bool) *bench {
	if quick {
		return &bench{warm: 50 * time.Millisecond, span: 200 * time.Millisecond, messages: 40, rates: []float64{10, 100}}
	}
	return &bench{warm: 300 * time.Millisecond, span: 2 * time.Second, messages: 500,
		rates: []float64{1, 5, 10, 20, 50, 100, 200, 400, 800, 1200, 1600, 2400}}
}

func (b *bench) measure() error {
	_, carries, err := b.carried()
	return errors.Join(err, b.oneFlow(carries), b.eightFlows(), b.longLink(), b.latency(), b.seeds())
}

func state(share float64, known bool) string {
	switch {
	case !known:
		return "this host does not say what others use; taken as idle"
	case share < idleBelow:
		return fmt.Sprintf("idle, others used %.1f %%", 100*share)
	default:
		return fmt.Sprintf("NOT idle, others used %.1f %%", 100*share)
	}
}

// verdict says what the figures mean, and returns the exit code.
func verdict(w io.Writer, late, ever int, quick, idle bool) (int, error) {
	code, text := 0, "all promises were kept"
	switch {
	case ever > 0:
		code, text = 1, fmt.Sprintf("%d promises that hold on every host are broken", ever)
	case quick:
		text = "timing was not judged"
	case late > 0 && idle:
		code, text = 1, fmt.Sprintf("%d promises are broken on a host that did nothing else", late)
	case late > 0:
		code, text = 2, fmt.Sprintf("%d promises are broken, but others used the host: try again when it is idle", late)
	case !idle:
		text = "all promises were kept, though others used the host"
	}
	_, err := fmt.Fprintf(w, "\n%s\n", text)
	return code, err
}
