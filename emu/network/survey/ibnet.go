package survey

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// Lines of ibnetdiscover: a record's head, and one line for each cabled port.
var (
	ibHead = regexp.MustCompile(`^(Switch|Ca|Hca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?`)
	ibPort = regexp.MustCompile(`^\[(\d+)\](?:\([0-9a-fA-F]+\))?\s+"([^"]+)"\[(\d+)\]`)
	ibSaid = regexp.MustCompile(`"([^"]*)"[^"]*$`)
	ibRate = regexp.MustCompile(`\b(\d+)x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b`)
)

// ibLanes are data rates of a lane.
var ibLanes = map[string]shaping.Rate{
	"SDR": 2 * shaping.Gbps, "DDR": 4 * shaping.Gbps, "QDR": 8 * shaping.Gbps, // 2.5, 5, 10 less 8b/10b coding
	"FDR10": 10 * shaping.Gbps, "FDR": 13_640 * shaping.Gbps / 1000, // 64b/66b
	"EDR": 25 * shaping.Gbps, "HDR": 50 * shaping.Gbps, "NDR": 100 * shaping.Gbps, "XDR": 200 * shaping.Gbps, // as their makers state
}

func isIBNet(data []byte) bool {
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); ibHead.Match(line) || bytes.HasPrefix(line, []byte("switchguid=")) || bytes.HasPrefix(line, []byte("caguid=")) {
			return true
		}
	}
	return false
}

// ibEnd is a port of a device.
type ibEnd struct {
	id   string
	port int
}

// ibCable is one end's word on a cable.
type ibCable struct {
	from, to ibEnd
	rate     shaping.Rate
	line     int
}

// ibReader collects records before it joins anything: each cable is told by both
// of its ends.
type ibReader struct {
	*Survey
	names    map[string]string // what devices are called, by id
	records  map[string]bool   // ids that have a record
	said     map[ibEnd]ibCable
	order    []ibCable
	switches []string
	cas      []string
	skipped  map[string]bool // devices that are no host
}

// readIBNet reads what ibnetdiscover printed.
func readIBNet(data []byte) (*Survey, error) {
	r := ibReader{Survey: &Survey{Kind: "ibnetdiscover output"}, names: map[string]string{}, records: map[string]bool{},
		said: map[ibEnd]ibCable{}, skipped: map[string]bool{}}
	if err := r.scan(data); err != nil {
		return nil, err
	}
	if err := r.devices(); err != nil {
		return nil, err
	}
	return r.Survey, r.cables()
}

func (r *ibReader) scan(data []byte) error {
	at, number := "", 0
	for line := range bytes.Lines(data) {
		number++
		text := strings.TrimSpace(string(line))
		if h := ibHead.FindStringSubmatch(text); h != nil {
			at = h[3]
			if r.records[at] {
				r.Say(Odd, "line %d: %s has a second record", number, clip(at))
			} else if r.known(at); h[1] == "Switch" {
				r.switches = append(r.switches, at)
			} else {
				r.cas = append(r.cas, at)
			}
			r.records[at] = true
			if h[4] != "" {
				r.names[at] = h[4]
			}
			continue
		}
		if p := ibPort.FindStringSubmatch(text); p != nil {
			if at == "" {
				return fmt.Errorf("line %d: a port stands before any Switch or Ca", number)
			}
			r.port(at, number, text, p)
		}
	}
	return nil
}

func (r *ibReader) known(id string) {
	if _, ok := r.names[id]; !ok {
		r.names[id] = id
	}
}

// port reads the line of a cabled port.
func (r *ibReader) port(at string, line int, text string, p []string) {
	c := ibCable{from: ibEnd{id: at}, to: ibEnd{id: p[2]}, line: line}
	c.from.port, _ = strconv.Atoi(p[1])
	c.to.port, _ = strconv.Atoi(p[3])
	r.known(c.to.id)
	if s := ibSaid.FindStringSubmatch(text[len(p[0]):]); s != nil && r.names[c.to.id] == c.to.id {
		r.names[c.to.id] = s[1]
	}
	if w := ibRate.FindStringSubmatch(text); w != nil {
		width, _ := strconv.Atoi(w[1])
		c.rate = shaping.Rate(min(width, 12)) * ibLanes[w[2]]
	} else {
		r.Say(Missing, "line %d: no width and rate (4xNDR) for port %d of %s", line, c.from.port, clip(r.names[at]))
	}
	if _, twice := r.said[c.from]; twice {
		r.Say(Odd, "line %d: port %d of %s is cabled twice; the first counts", line, c.from.port, clip(r.names[at]))
		return
	}
	r.said[c.from] = c
	r.order = append(r.order, c)
}

// devices adds switches by id (their names repeat in the wild), and hosts by the
// first word of what their adapters say: "host mlx5_5", "host HCA-1".
func (r *ibReader) devices() error {
	for _, id := range r.switches {
		if _, err := r.add(id, true); err != nil {
			return err
		}
	}
	for _, c := range r.order { // those that only others tell of
		if id := c.to.id; !r.records[id] {
			if strings.HasPrefix(id, "S") {
				r.Say(Missing, "switch %s (%s) has no record; others tell of it", clip(id), clip(r.names[id]))
				if _, err := r.add(id, true); err != nil {
					return err
				}
			} else {
				r.cas = append(r.cas, id)
			}
			r.records[id] = true
		}
	}
	for _, id := range r.cas {
		if strings.Contains(r.names[id], "Aggregation Node") {
			r.skipped[id] = true // SHARP, inside of a switch
			r.Say(Odd, "%s is the aggregation node (SHARP) of a switch, not a host; left out", clip(id))
			continue
		}
		p, err := r.add(ibHost(r.names[id]), false)
		if err != nil {
			return err
		}
		r.Hosts[p.Index].NICs++
		r.index[id] = p
	}
	return nil
}

// ibHost returns the host's name in an adapter's description.
func ibHost(description string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(description), " ")
	return name
}

// cables joins each cable once. One that only one end tells of is broken, or the
// output is a part.
func (r *ibReader) cables() error {
	done := map[ibEnd]bool{}
	for _, c := range r.order {
		if done[c.from] || r.skipped[c.from.id] || r.skipped[c.to.id] {
			continue
		}
		done[c.from], done[c.to] = true, true
		a, okA := r.find(c.from.id)
		b, okB := r.find(c.to.id)
		if !okA || !okB {
			continue
		}
		back, ok := r.said[c.to]
		switch {
		case !ok:
			r.Say(Odd, "line %d: only one end tells of the link from port %d of %s to port %d of %s; taken as there", c.line, c.from.port, clip(r.names[c.from.id]), c.to.port, clip(r.names[c.to.id]))
		case back.to != c.from:
			r.Say(Odd, "line %d: port %d of %s says that it leads elsewhere than to port %d of %s; left out", back.line, c.to.port, clip(r.names[c.to.id]), c.from.port, clip(r.names[c.from.id]))
			done[c.to] = false
			continue
		case back.rate != c.rate && back.rate != 0 && c.rate != 0:
			r.Say(Odd, "line %d: both ends of a link name different rates (%v, %v); the lower counts", c.line, c.rate, back.rate)
			c.rate = min(c.rate, back.rate)
		}
		if err := r.join(a, b, c.rate, 0); err != nil {
			return err
		}
	}
	r.rename()
	return nil
}

// rename calls switches by what they say of themselves, where that tells them
// apart.
func (r *ibReader) rename() {
	taken := map[string]int{}
	for _, s := range r.Switches {
		taken[r.names[s.Name]]++
	}
	for i, s := range r.Switches {
		if name := r.names[s.Name]; taken[name] == 1 {
			if _, host := r.index[name]; !host {
				r.Switches[i].Name = name
			}
		}
	}
}
