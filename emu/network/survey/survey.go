package survey

import (
	"fmt"

	"github.com/railyard/railyard/shaping"
)

// Survey is a network as a file describes it.
type Survey struct {
	// Kind is what the file is, for people: "Slurm topology.conf".
	Kind     string
	Hosts    []Host
	Switches []Switch
	Links    []Link
	// Domains are sets of hosts that NVLink joins.
	Domains []Domain
	// Events are what the file says will happen, in its order.
	Events []Event
	Notes  []Note
	// Logical says that links tell what hangs below what (A below B), not how
	// many cables there are.
	Logical bool

	index   map[string]Place
	pairs   map[[2]Place]int // the last link between two places
	domains map[string]int
	said    map[string]int // notes by their format
}

// Host is a server.
type Host struct {
	Name string
	// GPUs and NICs as the file counts them; 0 where it does not.
	GPUs, NICs int
	// Model is what the file says a GPU or server is, for example "H100".
	Model string
}

// Switch is a switch between servers.
type Switch struct {
	Name string
	// Capacity of all its ports and radix are not in any of these files.
}

// Place is an end of a link: a host or a switch, by its position.
type Place struct {
	Switch bool
	Index  int
}

// Link joins two places, both ways.
type Link struct {
	A, B Place
	// Count is how many parallel links there are, at least 1.
	Count int
	// Rate of one of them in one direction, and its latency; 0: the file does
	// not say.
	Rate    shaping.Rate
	Latency shaping.Duration
}

// Domain is a set of hosts that NVLink joins.
type Domain struct {
	Name  string
	Hosts []int
}

// Event is a change at an instant of an experiment.
type Event struct {
	At     shaping.Duration // since its start
	Action string           // in the file's words: "leave", "crash", "change"
	About  string           // a host, a switch, or a link "a-b"
}

// NoteKind sorts notes.
type NoteKind uint8

// What a note is about.
const (
	Missing NoteKind = iota // the file does not say
	Assumed                 // the file does not say; this is what was taken
	Odd                     // the file says something that is unlikely, or twice
)

var noteKinds = [...]string{Missing: "missing", Assumed: "assumed", Odd: "odd"}

// Note is one thing a user should know about what was read.
type Note struct {
	Kind NoteKind
	Text string
}

// String returns the note as one line.
func (n Note) String() string { return noteKinds[n.Kind] + ": " + n.Text }

// Bounds on what a file can make us hold and say.
const (
	maxHosts    = 1 << 17 // as many servers as a cluster may have
	maxSwitches = 1 << 15
	maxLinks    = 1 << 18
	maxParallel = 1 << 10 // links between two places, devices of one host
	maxNotes    = 100
	maxAlike    = 12 // notes of one kind
	maxBytes    = 16 << 20
)

// Say adds a note. Of many alike the last one says that there are more, so that
// they do not crowd out others; so does the last of all.
func (s *Survey) Say(k NoteKind, format string, args ...any) {
	if s.said == nil {
		s.said = map[string]int{}
	}
	s.said[format]++
	n := Note{k, fmt.Sprintf(format, args...)}
	switch alike := s.said[format]; {
	case alike > maxAlike, len(s.Notes) > maxNotes:
		return
	case alike == maxAlike:
		n.Text += " (there are more like this one, which are left out)"
	}
	if len(s.Notes) == maxNotes {
		n = Note{Odd, "there is more to note, which is left out"}
	}
	s.Notes = append(s.Notes, n)
}

// Name returns the name of a place.
func (s *Survey) Name(p Place) string {
	if p.Switch {
		return s.Switches[p.Index].Name
	}
	return s.Hosts[p.Index].Name
}

// find returns the place with a name.
func (s *Survey) find(name string) (Place, bool) {
	p, ok := s.index[name]
	return p, ok
}

// add returns the place with a name, a new one if there is none. An error says
// that it is of the other kind, or one too many.
func (s *Survey) add(name string, isSwitch bool) (Place, error) {
	if name == "" {
		return Place{}, fmt.Errorf("a host or switch has an empty name")
	}
	if p, ok := s.index[name]; ok {
		if p.Switch != isSwitch {
			return p, fmt.Errorf("%q is a switch in one place and a host in another", clip(name))
		}
		return p, nil
	}
	if s.index == nil {
		s.index, s.pairs = map[string]Place{}, map[[2]Place]int{}
	}
	p := Place{isSwitch, len(s.Hosts)}
	switch {
	case isSwitch && len(s.Switches) >= maxSwitches:
		return p, fmt.Errorf("more than %d switches, the most that are read", maxSwitches)
	case isSwitch:
		p.Index = len(s.Switches)
		s.Switches = append(s.Switches, Switch{Name: name})
	case len(s.Hosts) >= maxHosts:
		return p, fmt.Errorf("more than %d hosts, the most that are read", maxHosts)
	default:
		s.Hosts = append(s.Hosts, Host{Name: name})
	}
	s.index[name] = p
	return p, nil
}

// join adds one link. Links between the same switches, of the same rate and
// latency, are counted in one; those of a host stay apart, in the order of its
// NICs.
func (s *Survey) join(a, b Place, rate shaping.Rate, latency shaping.Duration) error {
	if a == b {
		s.Say(Odd, "a link joins %s with itself; left out", clip(s.Name(a)))
		return nil
	}
	key := [2]Place{a, b}
	if b.Index < a.Index || b.Index == a.Index && a.Switch {
		key = [2]Place{b, a}
	}
	if i, ok := s.pairs[key]; ok && a.Switch && b.Switch && s.Links[i].Rate == rate && s.Links[i].Latency == latency {
		if s.Links[i].Count++; s.Links[i].Count > maxParallel {
			return fmt.Errorf("more than %d links between %q and %q, the most that are read", maxParallel, clip(s.Name(a)), clip(s.Name(b)))
		}
		return nil
	}
	if len(s.Links) >= maxLinks {
		return fmt.Errorf("more than %d links, the most that are read", maxLinks)
	}
	s.pairs[key] = len(s.Links)
	s.Links = append(s.Links, Link{a, b, 1, rate, latency})
	return nil
}

// clip shortens a name for a message.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
