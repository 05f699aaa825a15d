package survey

import (
	"fmt"
	"strconv"

	"github.com/railyard/railyard/shaping"
)

// readKollaps reads an experiment: services are hosts, bridges switches.
func readKollaps(root *element) (*Survey, error) {
	s := &Survey{Kind: "Kollaps experiment"}
	copies, err := s.kollapsEvents(root)
	if err != nil {
		return nil, err
	}
	for _, b := range root.within("bridges", "bridge") {
		if _, err := s.add(b.attr("name"), true); err != nil {
			return nil, fmt.Errorf("line %d: %w", b.line, err)
		}
	}
	for _, v := range root.within("services", "service") {
		if v.attr("supervisor") == "true" {
			s.Say(Odd, "service %s supervises the experiment and is no part of the network; left out", clip(v.attr("name")))
			continue
		}
		for _, name := range instances(v.attr("name"), copies) {
			if _, err := s.add(name, false); err != nil {
				return nil, fmt.Errorf("line %d: %w", v.line, err)
			}
		}
	}
	for _, l := range root.within("links", "link") {
		if err := s.kollapsLink(l, copies); err != nil {
			return nil, fmt.Errorf("line %d: link: %w", l.line, err)
		}
	}
	return s, nil
}

// instances returns the names of a service's copies.
func instances(name string, copies map[string]int) []string {
	n := copies[name]
	if n < 2 {
		return []string{name}
	}
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("%s.%d", name, i))
	}
	return all
}

// kollapsEvents reads the schedule. It returns how many copies of a service
// join.
func (s *Survey) kollapsEvents(root *element) (map[string]int, error) {
	copies := map[string]int{}
	late := 0
	for _, e := range root.within("dynamic", "schedule") {
		at, err := parseTime(e.attr("time") + "s")
		if err != nil {
			return nil, fmt.Errorf("line %d: time: %q must be seconds", e.line, clip(e.attr("time")))
		}
		about := e.attr("name")
		if about == "" {
			about = e.attr("origin") + "-" + e.attr("dest")
		}
		amount := 1
		if a := e.attr("amount"); a != "" {
			if amount, err = strconv.Atoi(a); err != nil || amount < 1 || amount > maxParallel {
				return nil, fmt.Errorf("line %d: amount: %q must be a whole number from 1 to %d", e.line, clip(a), maxParallel)
			}
		}
		if e.attr("action") == "join" {
			copies[about] = min(copies[about]+amount, maxParallel)
		}
		if at > 0 {
			late++
		}
		s.Events = append(s.Events, Event{at, e.attr("action"), about})
	}
	if late > 0 {
		s.Say(Missing, "the schedule changes the network %d times after its start; a cluster file is what stands still: put these into a scenario", late)
	}
	return copies, nil
}

func (s *Survey) kollapsLink(l *element, copies map[string]int) error {
	up, err := parseRate(l.attr("upload"))
	if err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	down := up
	if d := l.attr("download"); d != "" {
		if down, err = parseRate(d); err != nil {
			return fmt.Errorf("download: %w", err)
		}
	}
	if up != down {
		s.Say(Odd, "line %d: upload %v and download %v differ; the lower counts both ways", l.line, up, down)
	}
	var latency shaping.Duration
	if text := l.attr("latency"); text != "" {
		if latency, err = milliseconds(text); err != nil {
			return fmt.Errorf("latency: %w", err)
		}
	}
	for _, lost := range []string{"jitter", "drop"} {
		if v := l.attr(lost); v != "" && v != "0" {
			s.Say(Missing, "line %d: %s %s is not carried over: links here keep their latency and lose nothing", l.line, lost, clip(v))
		}
	}
	for _, a := range instances(l.attr("origin"), copies) {
		for _, b := range instances(l.attr("dest"), copies) {
			from, okA := s.find(a)
			to, okB := s.find(b)
			if !okA || !okB {
				return fmt.Errorf("joins %q and %q, and not both are services or bridges", clip(a), clip(b))
			}
			if err := s.join(from, to, min(up, down), latency); err != nil {
				return err
			}
		}
	}
	return nil
}
