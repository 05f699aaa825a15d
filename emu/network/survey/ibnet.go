package survey

import (
	"bytes"
	"errors"
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
	// ibUnnamed is what adapters say of themselves until somebody names their
	// host: "MT4129 ConnectX7   Mellanox Technologies".
	ibUnnamed = regexp.MustCompile(`(?i)^(mt\d+|connectx\S*|mellanox|nvidia|infinihost\S*|bluefield\S*|localhost|localhost\..*|\(none\)|mlx\d+_\d+|hca-?\d+)$`)
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

// ibOther are lines of ibnetdiscover -p and iblinkinfo.
var ibOther = regexp.MustCompile(`(?m)^((CA|SW|RT)\s+\d+\s+\d+\s+0x[0-9a-f]{16}\s|.{0,200}==\(\s*\d+X\s)`)

// errIBPorts refuses a list of ports.
var errIBPorts = errors.New("this is a list of ports (iblinkinfo, or ibnetdiscover -p), which is not read; import what ibnetdiscover prints without -p")

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
	twins    map[string]int    // how many adapters say the same of themselves
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
		said: map[ibEnd]ibCable{}, skipped: map[string]bool{}, twins: map[string]int{}}
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
			} else if r.known(at); h[1] == "Switch" || h[1] == "Rt" {
				r.switches = append(r.switches, at)
				r.router(at, h[1] == "Rt")
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
	if s := ibSaid.FindStringSubmatch(text[len(p[0]):]); s != nil && s[1] != "" && r.names[c.to.id] == c.to.id {
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

// router notes that a router stands as a switch.
func (r *ibReader) router(id string, is bool) {
	if is {
		r.Say(Assumed, "%s is a router to another subnet; it stands as a switch", clip(id))
	}
}

// devices adds switches by id (their names repeat in the wild), and hosts by the
// first word of what their adapters say: "host mlx5_5", "host HCA-1".
func (r *ibReader) devices() error {
	for _, c := range r.order { // those that only others tell of
		id := c.to.id
		if r.records[id] {
			continue
		}
		r.records[id] = true
		switch id[0] {
		case 'S', 'R':
			r.Say(Missing, "switch %s (%s) has no record; others tell of it", clip(id), clip(r.names[id]))
			r.switches = append(r.switches, id)
			r.router(id, id[0] == 'R')
		default:
			r.cas = append(r.cas, id)
		}
	}
	for _, id := range r.switches {
		if _, err := r.add(id, true); err != nil {
			return err
		}
	}
	for _, id := range r.cas {
		r.twins[r.names[id]]++
	}
	var unnamed []string
	for _, id := range r.cas {
		if strings.Contains(r.names[id], "Aggregation Node") {
			r.skipped[id] = true // SHARP, inside of a switch
			r.Say(Odd, "%s is the aggregation node (SHARP) of a switch, not a host; left out", clip(id))
			continue
		}
		name := r.host(id)
		if name == id {
			unnamed = append(unnamed, id)
		}
		p, err := r.add(name, false)
		if err != nil {
			return err
		}
		r.Hosts[p.Index].NICs++
		r.index[id] = p
	}
	if unnamed != nil {
		r.Say(Missing, "%d adapters do not say which host they are in (%s): each is taken as a host", len(unnamed), list(unnamed))
	}
	return nil
}

// host returns the host's name in an adapter's description: its first word. It is
// the adapter's id where the description names no host, or several adapters have
// the same: those of one host differ in the words behind.
func (r *ibReader) host(id string) string {
	name, _, _ := strings.Cut(strings.TrimSpace(r.names[id]), " ")
	if name == "" || r.twins[r.names[id]] > 1 || ibUnnamed.MatchString(name) {
		return id
	}
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
