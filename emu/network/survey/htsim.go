package survey

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/shaping"
)

// htsimTier is one tier of switches and the links below it.
type htsimTier struct {
	speed, down, up, bundle, latency, switchLatency, over int
}

// htsimTopo is a file: hosts, and up to three tiers.
type htsimTopo struct {
	nodes, tiers, pod int
	tier              [3]htsimTier
}

func isHTSim(data []byte) bool {
	text := strings.ToLower(string(data[:min(len(data), 4096)]))
	return strings.Contains(text, "tier 0") && strings.Contains(text, "radix_down") && strings.Contains(text, "nodes ")
}

// readHTSim builds the Clos network that an htsim .topo file describes.
func readHTSim(data []byte) (*Survey, error) {
	s := &Survey{Kind: "htsim topology"}
	t, err := s.htsimScan(data)
	if err != nil {
		return nil, err
	}
	return s, s.htsimBuild(t)
}

// htsimScan reads lines KEY VALUE; a line "Tier N" begins a tier.
func (s *Survey) htsimScan(data []byte) (*htsimTopo, error) {
	t := &htsimTopo{}
	at, number := -1, 0
	for line := range bytes.Lines(data) {
		number++
		text, _, _ := strings.Cut(string(line), "#")
		f := strings.Fields(text)
		if len(f) == 0 {
			continue
		}
		if len(f) != 2 {
			return nil, fmt.Errorf("line %d: %q must be KEY VALUE", number, clip(strings.TrimSpace(text)))
		}
		v, err := strconv.Atoi(f[1])
		if err != nil || v < 0 || v > 1<<30 {
			return nil, fmt.Errorf("line %d: %s: %q must be a whole number from 0 to %d", number, clip(f[0]), clip(f[1]), 1<<30)
		}
		key := strings.ToLower(f[0])
		if key == "tier" {
			if at = v; at > 2 {
				return nil, fmt.Errorf("line %d: tier %d; there are at most three, 0 to 2", number, v)
			}
			continue
		}
		to := t.field(at, key)
		if to == nil {
			s.Say(Odd, "line %d: %s is unknown here, and ignored", number, clip(f[0]))
			continue
		}
		*to = v
	}
	return t, nil
}

// field returns where the value of a key goes; nil for one that is unknown.
func (t *htsimTopo) field(at int, key string) *int {
	if at < 0 {
		return map[string]*int{"nodes": &t.nodes, "tiers": &t.tiers, "podsize": &t.pod}[key]
	}
	tier := &t.tier[at]
	return map[string]*int{
		"downlink_speed_gbps": &tier.speed, "radix_down": &tier.down, "radix_up": &tier.up, "bundle": &tier.bundle,
		"downlink_latency_ns": &tier.latency, "switch_latency_ns": &tier.switchLatency, "oversubscribed": &tier.over,
	}[key]
}

// check says which figures do not fit together.
func (t *htsimTopo) check() error {
	if t.nodes < 1 || t.nodes > maxHosts {
		return fmt.Errorf("Nodes %d: must be from 1 to %d", t.nodes, maxHosts)
	}
	if t.tiers != 2 && t.tiers != 3 {
		return fmt.Errorf("Tiers %d: allowed are 2 and 3", t.tiers)
	}
	if t.pod == 0 || t.tiers == 2 {
		t.pod = t.nodes
	}
	for i := range t.tiers {
		k := &t.tier[i]
		k.bundle = max(k.bundle, 1)
		if k.down < 1 || i < t.tiers-1 && k.up < 1 {
			return fmt.Errorf("tier %d: Radix_Down %d and Radix_Up %d must be given, at least 1", i, k.down, k.up)
		}
		if k.speed > 1_000_000 {
			return fmt.Errorf("tier %d: Downlink_speed_Gbps %d: at most 1000000", i, k.speed)
		}
	}
	if t.pod < 1 || t.nodes%t.pod != 0 || t.pod%t.tier[0].down != 0 {
		return fmt.Errorf("%d nodes in pods of %d with %d a leaf do not divide evenly", t.nodes, t.pod, t.tier[0].down)
	}
	for i := range t.tiers - 1 {
		if up, b := t.tier[i].up, t.tier[i+1].bundle; up%b != 0 || b > maxParallel {
			return fmt.Errorf("tier %d: Radix_Up %d is no multiple of Bundle %d of the tier above", i, up, b)
		}
	}
	return nil
}

func (s *Survey) htsimBuild(t *htsimTopo) error {
	if err := t.check(); err != nil {
		return err
	}
	leaves, pods := t.nodes/t.tier[0].down, t.nodes/t.pod
	spines := t.tier[0].up / t.tier[1].bundle // of a pod
	perPod := leaves / pods
	for i := range t.nodes {
		if err := s.htsimLink(fmt.Sprintf("host%d", i), false, fmt.Sprintf("leaf%d", i/t.tier[0].down), t.tier[0], 1); err != nil {
			return err
		}
	}
	for l := range leaves {
		for j := range spines {
			if err := s.htsimLink(fmt.Sprintf("leaf%d", l), true, fmt.Sprintf("spine%d", l/perPod*spines+j), t.tier[1], t.tier[1].bundle); err != nil {
				return err
			}
		}
	}
	if want := perPod * t.tier[1].bundle; t.tier[1].down != want {
		s.Say(Odd, "tier 1 says Radix_Down %d, and %d leaves of a pod need %d; the leaves count", t.tier[1].down, perPod, want)
	}
	if t.tiers == 3 {
		if err := s.htsimCores(t, pods, spines); err != nil {
			return err
		}
	}
	if over := t.tier[0].down / t.tier[0].up; over > 1 {
		s.Say(Odd, "a leaf has %d hosts and %d links up: oversubscribed %d:1 (the file says Oversubscribed %d)", t.tier[0].down, t.tier[0].up, over, t.tier[0].over)
	}
	for i := range t.tiers {
		if t.tier[i].switchLatency > 0 {
			s.Say(Missing, "tier %d: Switch_Latency_ns %d is not carried over: the fabric's own counts", i, t.tier[i].switchLatency)
		}
	}
	return nil
}

// htsimCores joins spine j of every pod with the same cores.
func (s *Survey) htsimCores(t *htsimTopo, pods, spines int) error {
	each := t.tier[1].up / t.tier[2].bundle
	for i := range pods * spines {
		for j := range each {
			if err := s.htsimLink(fmt.Sprintf("spine%d", i), true, fmt.Sprintf("core%d", i%spines*each+j), t.tier[2], t.tier[2].bundle); err != nil {
				return err
			}
		}
	}
	if want := pods * t.tier[2].bundle; t.tier[2].down != want {
		s.Say(Odd, "tier 2 says Radix_Down %d, and %d pods need %d; the pods count", t.tier[2].down, pods, want)
	}
	return nil
}

func (s *Survey) htsimLink(below string, isSwitch bool, above string, t htsimTier, count int) error {
	a, err := s.add(below, isSwitch)
	if err != nil {
		return err
	}
	b, err := s.add(above, true)
	if err != nil {
		return err
	}
	for range count {
		if err := s.join(a, b, shaping.Rate(t.speed)*shaping.Gbps, shaping.Duration(t.latency)*shaping.Nanosecond); err != nil {
			return err
		}
	}
	return nil
}
