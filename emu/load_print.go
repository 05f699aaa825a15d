package emu

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// YAML returns the cluster as a cluster file, which ParseCluster reads back as
// the same value. Fields left to their defaults are left out.
func (c *Cluster) YAML() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: %s\nkind: %s\n", APIVersion, KindCluster)
	if c.Name != "" {
		fmt.Fprintf(&b, "metadata: {name: %s}\n", scalar(c.Name))
	}
	b.WriteString("spec:\n  nodes:\n")
	for _, g := range c.Groups {
		kind := "system: " + scalar(g.System)
		if g.Machine != "" {
			kind = "machine: " + scalar(g.Machine)
		}
		gdr := ""
		if g.NoGDR {
			gdr = ", gdr: false"
		}
		fmt.Fprintf(&b, "    - {count: %d, %s%s%s%s%s%s}\n", g.Count, kind, number("gpus", g.GPUs), number("nics", g.NICs), gdr, hanging(g), g.Slice.entries())
	}
	printFabric(&b, &c.Fabric)
	fmt.Fprintf(&b, "  seed: %d\n", c.Seed)
	if len(c.Machines) > 0 {
		b.WriteString("  machines:\n")
	}
	for i := range c.Machines {
		printMachine(&b, &c.Machines[i])
	}
	return []byte(b.String())
}

// entries returns what a cluster file says of the fabric.
func (f *Fabric) entries() []string {
	var all []string
	text := func(key, v string) {
		if v != "" {
			all = append(all, key+": "+scalar(v))
		}
	}
	count := func(key string, v int) {
		if v != 0 {
			all = append(all, fmt.Sprintf("%s: %d", key, v))
		}
	}
	text("kind", f.Kind)
	text("link", f.Link)
	count("oversubscription", f.Oversubscription)
	text("routing", f.Routing)
	if f.PXN != PXNDefault {
		all = append(all, fmt.Sprintf("pxn: %t", f.PXN == PXNOn))
	}
	if f.CrossNIC != CrossDefault {
		all = append(all, "crossNic: "+f.CrossNIC.String())
	}
	count("unit", f.Unit)
	count("planes", f.Planes)
	if len(f.Dims) > 0 {
		all = append(all, "dims: "+whole(f.Dims))
	}
	count("hostsPerSwitch", f.HostsPerSwitch)
	return all
}

// entries returns what a cluster file says of a slice of a pod.
func (s *Slice) entries() string {
	text := ""
	if len(s.Torus) > 0 {
		text += ", torus: " + whole(s.Torus)
	}
	if s.Wrap != "" {
		text += ", wrap: " + scalar(s.Wrap)
	}
	if len(s.Cubes) > 0 {
		text += ", cubes: " + whole(s.Cubes)
	}
	if len(s.Dark) > 0 {
		text += ", dark: " + scalars(s.Dark)
	}
	return text
}

// whole prints a list of numbers on one line.
func whole(n []int) string { return strings.ReplaceAll(fmt.Sprint(n), " ", ", ") }

// number returns an entry of a flow mapping, nothing for a default.
func number(key string, v int) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(", %s: %d", key, v)
}

// words are read as something else than text when they stand without quotes, by
// YAML 1.2 or, the second line, by YAML 1.1.
var words = []string{
	"true", "false", "null", "inf", "nan",
	"yes", "no", "on", "off", "y", "n",
}

// scalar quotes a text unless YAML reads it as itself.
func scalar(s string) string {
	if isName(s) && (s[0] < '0' || s[0] > '9') && !slices.Contains(words, strings.ToLower(s)) {
		return s
	}
	return strconv.Quote(s)
}
