package emu

import (
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// testKnown is a small catalog.
var testKnown = Known{
	Systems: []KnownSystem{
		{Name: "dgx-h100", GPUs: 8, NICs: 8, Kind: "rail-optimized", Link: "ndr"},
		{Name: "dgx-a100", GPUs: 8, NICs: 8, Kind: "rail-optimized", Link: "hdr"},
		{Name: "tpu-v4", GPUs: 4, NICs: 1, Kind: "fat-tree", Link: "ndr", Pod: Pod{4096, 4096}},
	},
	Kinds: []string{"rail-optimized", "fat-tree"},
	Links: []string{"hdr", "ndr", "xdr"},
	Ports: func(kind, link string) int { return 1024 },
}

// The files under testdata hold cluster files, good and bad, and what is said
// of them. -rewrite writes them anew.
func TestLoadCluster(t *testing.T) {
	datadriven.Walk(t, "testdata/load", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			known := testKnown
			switch d.Cmd {
			case "load":
			case "parse":
				known = Known{}
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			c, err := LoadCluster("two-pods.yaml", []byte(d.Input+"\n"), known)
			if err != nil {
				return err.Error() + "\n"
			}
			e := c.Effective(known)
			return fmt.Sprintf("%d nodes\n%s# effective\n%s", c.Nodes(), c.YAML(), e.YAML())
		})
	})
}

func TestErrorsAreProblems(t *testing.T) {
	_, err := ParseCluster("f.yaml", []byte("kind: Cluster\nspec: {nodes: [{count: 0, system: x}]}\n"))
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("error %v does not unwrap to its parts", err)
	}
	var lines []int
	for _, e := range joined.Unwrap() {
		var p *Problem
		if !errors.As(e, &p) || p.File != "f.yaml" {
			t.Fatalf("part %v is not a problem of f.yaml", e)
		}
		lines = append(lines, p.Line)
	}
	if want := []int{1, 2}; !reflect.DeepEqual(lines, want) {
		t.Errorf("problems lie at lines %v, want %v: %v", lines, want, err)
	}
}

// Whatever a valid cluster is, its file reads back as the same cluster.
func TestYAMLRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	pick := func(s ...string) string { return s[rng.Intn(len(s))] }
	for range 500 {
		c := Cluster{
			Name: pick("", "a", "two-pods", "true", "NULL", "8", "1e3", "0x1f", "y", "a.b_c-d", "-"[:0]),
			Fabric: Fabric{
				Kind: pick("", "rail-optimized"), Link: pick("", "ndr", "no"),
				Oversubscription: rng.Intn(4),
				Routing:          pick("", "adaptive", "null"), Unit: rng.Intn(3), Planes: rng.Intn(3), HostsPerSwitch: rng.Intn(3),
				Dims: [][]int{nil, {4}, {2, 3, 4}}[rng.Intn(3)],
				PXN:  PXN(rng.Intn(3)), CrossNIC: CrossNIC(rng.Intn(4)),
			},
			Seed: rng.Uint64() >> rng.Intn(64),
		}
		for range 1 + rng.Intn(3) {
			c.Groups = append(c.Groups, Group{Count: 1 + rng.Intn(100), System: pick("dgx-h100", "null", "on"), GPUs: rng.Intn(9), NICs: rng.Intn(9)})
		}
		if err := c.Validate(Known{}); err != nil {
			t.Fatal(err)
		}
		got, err := ParseCluster("round.yaml", c.YAML())
		if err != nil || !reflect.DeepEqual(got, c) {
			t.Fatalf("printed\n%s\nread back as %+v, %v", c.YAML(), got, err)
		}
	}
}

// A cluster that no file described is checked as well, without lines.
func TestValidate(t *testing.T) {
	big := int(^uint(0) >> 1)
	c := Cluster{
		Name:   "a/b",
		Groups: []Group{{Count: big, System: "dgx-h10", GPUs: -1, NICs: big}, {Count: big, System: "dgx-h100", GPUs: 9}},
		Fabric: Fabric{Kind: "rail", Link: "nd", Oversubscription: -1},
	}
	err := c.Validate(testKnown)
	for _, want := range []string{
		"metadata.name: ", "spec.nodes[0].count: ", `did you mean "dgx-h100"?`, "spec.nodes[0].gpus: ", "spec.nodes[0].nics: ",
		"spec.nodes[1].count: ", "spec.nodes[1].gpus: 9 must be a whole number from 1 to 8, what a dgx-h100 has",
		"spec.fabric.kind: ", "spec.fabric.link: ", "spec.fabric.oversubscription: ",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
	if err := (&Cluster{Groups: []Group{{Count: 4, System: "dgx-h100"}}}).Validate(testKnown); err != nil {
		t.Errorf("a good cluster: %v", err)
	}
}

// Files made to cost time or memory are refused for what they are, before they
// do: without the limits most of these take minutes, or expand without end.
func TestHostileFiles(t *testing.T) {
	const n = 100_000
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x]\n")
	for i := range 60 {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d,*a%d]\n", i+1, i+1, i, i)
	}
	for _, c := range []struct{ name, file, says string }{
		{"brackets", strings.Repeat("[", n), "YAML tokens"},
		{"braces", strings.Repeat("{a: ", n/4), "YAML tokens"},
		{"dashes", strings.Repeat("- ", n/2), "YAML tokens"},
		{"colons", strings.Repeat("a: ", n/3), "YAML tokens"},
		{"keys", strings.Repeat("count: 1\n", n/9), "YAML tokens"},
		{"list", "a: [x" + strings.Repeat(", x", n) + "]\n", "YAML tokens"},
		{"mapping without values", "{x" + strings.Repeat(", x", n/4) + "}\n", "YAML tokens"},
		{"documents", strings.Repeat("---\n", n/4), "YAML tokens"},
		{"few brackets", strings.Repeat("[", maxNesting+1), "nested"},
		{"few dashes", strings.Repeat("- ", maxNesting+1), "nested"},
		{"aliases", bomb.String(), "anchors (&name) are not allowed"},
		{"questions", "? a\n: b\n", "complex keys"},
		{"tags", "a: !!binary x\n", "tags"},
		{"directives", "%YAML 1.2\n---\na: b\n", "directives"},
		{"merge keys", "<<: {a: b}\n", "merge keys"},
		{"bytes", strings.Repeat("\xff\x00", n/2), "must be a mapping"},
		{"long word", strings.Repeat("x", n), "must be a mapping"},
		{"too large", strings.Repeat("#\n", maxFileBytes), "larger than"},
		{"many problems", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes:\n" + strings.Repeat("  - {cuont: 1}\n", 1000), "more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseCluster("hostile.yaml", []byte(c.file))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error is %.200v, want %q in it", err, c.says)
			}
			if len(err.Error()) > 8<<10 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func FuzzParseCluster(f *testing.F) {
	for _, s := range []string{
		"apiVersion: railyard/v1alpha1\nkind: Cluster\nmetadata: {name: two-pods}\nspec:\n  nodes:\n    - {count: 8, system: dgx-h100}\n  fabric: {kind: rail-optimized, link: ndr, oversubscription: 1}\n  seed: 1\n",
		"apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 1, machine: b}]\n  machines:\n    - name: b\n      sockets: [{arch: arm64}]\n      numa: [{nodes: \"0\", cpus: \"0-7\"}]\n      planes: [\"0000:c0:00.0\"]\n      gpus: [{busid: \"0000:01:00.0\", at: numa0, slot: gen5x16, class: \"0x030200\", gdr: true}]\n      nics: [{at: numa0, guid: \"0x1\", latency: 1us, speed: 1GB/s}]\n      nvlinks: [{from: gpu0, to: plane0, count: 2}]\n      told: [{a: gpu0, b: nic0, is: SYS}]\n",
		"apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 2, system: dgx-h100, nics: 2, switches: [a, b]}]\n  fabric:\n    kind: custom\n    switches: [a, b, c]\n    links: [{from: c, to: [a, b], count: 2, rate: 1GB/s, latency: 1us}]\n",
		"apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 32, system: tpu-v4, torus: [4, 4, 8], wrap: xz, cubes: [0, 7], dark: [x5, z0@7]}]\n",
		"{}", "[]", "a: &x [*x]", "---\n---\n", "kind: [", "spec: {nodes: 3}", "\"\\", "a: |\n b", "? a\n: b", "%YAML 1.2\n---\na: b", "a: !!binary x",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := LoadCluster("fuzz.yaml", data, testKnown)
		if err != nil {
			return
		}
		if err := c.Validate(testKnown); err != nil {
			t.Errorf("loaded, but not valid: %v", err)
		}
		if again, err := ParseCluster("again.yaml", c.YAML()); err != nil || !reflect.DeepEqual(again, c) {
			t.Errorf("%+v prints\n%s\nwhich reads as %+v, %v", c, c.YAML(), again, err)
		}
	})
}
