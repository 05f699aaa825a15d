package survey

import (
	"cmp"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// isInfra tells InfraGraph by its devices, or instances of devices.
func isInfra(root *value) bool {
	if w := root.get("infrastructure"); w != nil {
		root = w
	}
	for _, key := range []string{"devices", "device", "instances"} {
		for _, d := range root.get(key).items() {
			if d.get("components") != nil || d.get("device") != nil {
				return true
			}
		}
	}
	return false
}

// infra is an InfraGraph file being read.
type infra struct {
	*Survey
	devices   map[string]*infraDevice
	alone     string // the only device, when there is one
	declared  map[string]declared
	instances []*infraInstance
	byName    map[string]*infraInstance
	links     map[string]infraLink
	nics      map[[3]int]bool // NICs seen: host, component, index; counted once
}

type infraLink struct {
	rate    shaping.Rate
	latency shaping.Duration
}

type infraDevice struct {
	gpus, nics int
	isSwitch   bool
	counts     map[string]int // of each component
	inner      []string       // components that are devices themselves
}

// declared is what the list of instances says of one.
type declared struct {
	device string
	count  int
}

// role is what an instance stands for.
type role uint8

const (
	roleUnknown role = iota
	roleHost
	roleSwitch
	roleNIC // a part of a host that the file keeps apart
)

type infraInstance struct {
	name, device string
	count        int
	role         role
}

// readInfra reads devices and instances, links and connections.
func readInfra(root *value) (*Survey, error) {
	r := &infra{Survey: &Survey{Kind: "InfraGraph"}, devices: map[string]*infraDevice{}, byName: map[string]*infraInstance{},
		links: map[string]infraLink{}, nics: map[[3]int]bool{}, declared: map[string]declared{}}
	if w := root.get("infrastructure"); w != nil {
		root = w
	}
	for _, key := range []string{"devices", "device"} { // the second in early drafts
		for _, d := range root.get(key).items() {
			if err := r.device(d); err != nil {
				return nil, err
			}
		}
	}
	r.compose(root)
	for _, l := range root.get("links").items() {
		if err := r.link(l); err != nil {
			return nil, err
		}
	}
	for _, v := range root.get("instances").items() {
		count, err := v.number("count", 1, maxHosts)
		if err != nil {
			return nil, err
		}
		r.declared[v.str("name")] = declared{v.str("device"), count}
	}
	r.doubt(root)
	edges, err := r.edges(root)
	if err != nil {
		return nil, err
	}
	if err := r.instantiate(root, edges); err != nil {
		return nil, err
	}
	for _, e := range edges {
		if err := r.connect(e); err != nil {
			return nil, fmt.Errorf("line %d: %w", e.line, err)
		}
	}
	return r.Survey, nil
}

// gpuWords and nicWords are what components are called.
var (
	gpuWords    = []string{"xpu", "gpu", "npu", "tpu", "accelerator"}
	nicWords    = []string{"nic", "hca"}
	switchWords = regexp.MustCompile(`(?i)switch|router|leaf|spine|asic|\w*sw$|\btor\b`)
	hostWords   = regexp.MustCompile(`(?i)server|host|dgx|hgx|node|xpu|gpu|tray`)
	nicDevice   = regexp.MustCompile(`(?i)nic$|^cx\d|connectx|bluefield|^nic`)
)

// device counts what a device has. A component without a count has as many as
// connections name.
func (r *infra) device(d *value) error {
	used := map[string]int{}
	for _, c := range d.get("connections").items() {
		f := strings.Split(c.text, ".")
		for i := 0; i+1 < len(f); i += 3 {
			if n, err := indices(f[i+1]); err == nil && len(n) > 0 {
				used[f[i]] = max(used[f[i]], slices.Max(n)+1)
			}
		}
	}
	dev := &infraDevice{counts: map[string]int{}}
	for _, c := range d.get("components").items() {
		count, err := c.number("count", max(used[c.str("name")], 1), maxParallel)
		if err != nil {
			return err
		}
		if n := used[c.str("name")]; c.get("count") == nil && n > 0 {
			r.Say(Assumed, "device %s: %d of component %s, as many as its connections name", clip(d.str("name")), n, clip(c.str("name")))
		} else if n > count {
			r.Say(Odd, "device %s: %d of component %s, and connections name %d", clip(d.str("name")), count, clip(c.str("name")), n)
		}
		dev.counts[c.str("name")] = count
		kind := strings.ToLower(cmp.Or(c.str("choice"), c.str("type")))
		switch {
		case slices.Contains(gpuWords, kind):
			dev.gpus += count
		case slices.Contains(nicWords, kind) && !strings.Contains(strings.ToLower(c.str("name")), "port"):
			dev.nics += count
		case kind == "switch":
			dev.isSwitch = true
		case kind == "device":
			dev.inner = append(dev.inner, c.str("name"))
		}
		dev.isSwitch = dev.isSwitch || strings.EqualFold(c.str("name"), "asic")
	}
	name := d.str("name")
	r.devices[name] = dev
	if r.alone = name; len(r.devices) > 1 {
		r.alone = ""
	}
	return nil
}

// compose adds to devices what the devices in them have.
func (r *infra) compose(root *value) {
	for _, key := range []string{"devices", "device"} {
		for _, v := range root.get(key).items() {
			dev := r.devices[v.str("name")]
			for _, name := range dev.inner {
				in, n := r.devices[name], dev.counts[name]
				switch {
				case in != nil && in.gpus > 0:
					dev.gpus, dev.nics = dev.gpus+n*in.gpus, dev.nics+n*in.nics
				case nicDevice.MatchString(name):
					dev.nics += n
				}
			}
		}
	}
}

// infraUnits are the choices of a link's bandwidth, in bytes a second.
var infraUnits = map[string]int64{
	"gigabytes_per_second": 1e9, "giga_bytes_per_second": 1e9, "g_bytes_per_second": 1e9,
	"gigabits_per_second": 1e9 / 8, "giga_bits_per_second": 1e9 / 8, "g_bits_per_second": 1e9 / 8,
}

// infraChoice returns what a mapping chooses: its choice, or its only key.
func infraChoice(v *value) string {
	if all := v.entries(); len(all) == 1 && all[0].key != "choice" {
		return all[0].key
	}
	return v.str("choice")
}

// infraTimes are the choices of a link's latency, by our unit.
var infraTimes = map[string]string{"ms": "ms", "us": "us", "ns": "ns"}

// infraPhysical returns what holds bandwidth and latency of a link.
func infraPhysical(l *value) *value {
	if physical := l.get("physical"); physical != nil {
		return physical
	}
	return l
}

func (r *infra) link(l *value) error {
	var v infraLink
	of := infraPhysical(l)
	b := of.get("bandwidth")
	if choice := infraChoice(b); choice == "" {
		r.Say(Missing, "line %d: link %s has no bandwidth", l.line, clip(l.str("name")))
	} else {
		unit, ok := infraUnits[choice]
		if !ok {
			r.Say(Missing, "line %d: link %s is measured in %s, which is no rate by itself", l.line, clip(l.str("name")), clip(choice))
		} else if n, err := scaled(b.str(choice), big.NewRat(unit, 1)); err != nil {
			return fmt.Errorf("line %d: %s: %q must be a number", l.line, clip(choice), clip(b.str(choice)))
		} else {
			v.rate = shaping.Rate(n)
		}
	}
	if lat := of.get("latency"); lat != nil {
		choice := infraChoice(lat)
		d, err := parseTime(lat.str(choice) + infraTimes[choice])
		if v.latency = d; err != nil {
			r.Say(Missing, "line %d: the latency of link %s is in %q, which is not read", l.line, clip(l.str("name")), clip(choice))
		}
	}
	r.links[l.str("name")] = v
	return nil
}

var bitsInWords = regexp.MustCompile(`(?i)(\d+)\s*gbps`)

// doubt says when the description speaks of bits where a link has bytes.
func (r *infra) doubt(root *value) {
	for _, m := range bitsInWords.FindAllStringSubmatch(root.str("description"), 8) {
		for _, l := range root.get("links").items() {
			b := infraPhysical(l).get("bandwidth")
			if choice := infraChoice(b); strings.Contains(choice, "bytes") && b.str(choice) == m[1] {
				r.Say(Odd, "the description says %s Gbps, link %s %s GB/s; the link counts", m[1], clip(l.str("name")), m[1])
			}
		}
	}
}

// instantiate makes hosts and switches. Connections may name instances that are
// declared nowhere, and tell how many there are where no count does.
func (r *infra) instantiate(root *value, edges []infraEdge) error {
	used := map[string]int{}
	for _, e := range edges {
		for _, end := range append(slices.Clone(e.a), e.b...) {
			used[end.instance] = max(used[end.instance], end.index+1)
		}
	}
	for _, v := range root.get("instances").items() {
		name := v.str("name")
		count, err := v.number("count", max(used[name], 1), maxHosts)
		if err != nil {
			return err
		}
		if n := used[name]; n > count {
			r.Say(Odd, "line %d: %d of instance %s, and connections name %d; as many are taken", v.line, count, clip(name), n)
			count = n
		}
		r.instance(name, v.str("device"), count)
	}
	for _, e := range edges {
		for _, end := range append(slices.Clone(e.a), e.b...) {
			if r.byName[end.instance] == nil {
				r.Say(Odd, "line %d: %s is connected and no instance; taken as %d of device %s", e.line, clip(end.instance), used[end.instance], clip(r.alone))
				r.instance(end.instance, r.alone, used[end.instance])
			}
		}
	}
	if len(r.instances) == 0 && r.alone != "" {
		r.Say(Assumed, "the file describes a device and no instance of it: one is taken")
		r.instance(r.alone, r.alone, 1)
	}
	return r.places()
}

func (r *infra) instance(name, device string, count int) {
	v := &infraInstance{name: name, device: device, count: count, role: r.roleOf(name, device)}
	r.instances = append(r.instances, v)
	r.byName[name] = v
}

// roleOf tells by the device's parts, else by names.
func (r *infra) roleOf(name, device string) role {
	d := r.devices[device]
	switch {
	case d != nil && d.gpus > 0:
		return roleHost
	case nicDevice.MatchString(device): // though it has an ASIC, as switches do
		return roleNIC
	case d != nil && d.isSwitch:
		return roleSwitch
	}
	if d == nil {
		r.Say(Missing, "device %s of instance %s is not in the file; its name tells what it is", clip(device), clip(name))
	}
	for _, text := range []string{name, device} {
		switch {
		case nicDevice.MatchString(text):
			return roleNIC
		case switchWords.MatchString(text):
			return roleSwitch
		case hostWords.MatchString(text):
			return roleHost
		}
	}
	return roleUnknown
}

func (r *infra) places() error {
	for _, v := range r.instances {
		if v.role == roleUnknown {
			return fmt.Errorf("instance %q of device %q: neither its parts nor its name tell whether it is a server or a switch", clip(v.name), clip(v.device))
		}
		if v.role == roleNIC {
			continue
		}
		for i := range v.count {
			name := v.name
			if v.count > 1 {
				name = fmt.Sprintf("%s%d", v.name, i)
			}
			p, err := r.add(name, v.role == roleSwitch)
			if err != nil {
				return err
			}
			if d := r.devices[v.device]; d != nil && !p.Switch {
				h := &r.Hosts[p.Index]
				h.GPUs, h.NICs, h.Model = d.gpus, d.nics, v.device
			} else if !p.Switch {
				r.Hosts[p.Index].Model = v.device
			}
		}
	}
	return nil
}

// place returns the place of an end; false for a NIC that is kept apart.
func (r *infra) place(e infraEnd) (Place, bool) {
	v := r.byName[e.instance]
	name := v.name
	if v.count > 1 {
		name = fmt.Sprintf("%s%d", v.name, e.index)
	}
	return r.find(name)
}

// connect joins the ends of one connection.
func (r *infra) connect(e infraEdge) error {
	l, known := r.links[e.link]
	if !known && e.link != "" && r.byName[e.a[0].instance].role != roleNIC && r.byName[e.b[0].instance].role != roleNIC {
		r.Say(Missing, "line %d: link %s is none of the file's links", e.line, clip(e.link))
	}
	return e.expand(func(a, b infraEnd) error {
		from, okA := r.place(a)
		to, okB := r.place(b)
		switch {
		case okA && okB:
			return r.join(from, to, l.rate, l.latency)
		case okA && !from.Switch:
			r.apart(from, b)
		case okB && !to.Switch:
			r.apart(to, a)
		}
		return nil
	})
}

// apart counts a NIC that is an instance of its own and plugged into a host.
func (r *infra) apart(host Place, nic infraEnd) {
	key := [3]int{host.Index, slices.Index(r.instances, r.byName[nic.instance]), nic.index}
	if h := &r.Hosts[host.Index]; !r.nics[key] && h.NICs < maxParallel {
		r.nics[key] = true
		h.NICs++
	}
}
