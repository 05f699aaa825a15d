package survey

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The files under testdata hold small descriptions of every kind, good and bad,
// and what is made of them: counts, notes, and the cluster. -rewrite writes them
// anew.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s, err := Read([]byte(d.Input + "\n"))
			if errors.Is(err, ErrUnknown) {
				return "unknown\n"
			}
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			c := count(s)
			fmt.Fprintf(&b, "%s: %d hosts, %d switches, %d links, %d domains, %d GPUs, %d NICs\n", c.kind, c.hosts, c.switches, c.links, c.domains, c.gpus, c.nics)
			for _, e := range s.Events {
				fmt.Fprintf(&b, "at %v %s %s\n", e.At, e.Action, e.About)
			}
			made, err := s.Cluster(testOptions)
			for _, n := range s.Notes {
				fmt.Fprintln(&b, n)
			}
			if err != nil {
				return b.String() + err.Error() + "\n"
			}
			check(t, made)
			if d.Cmd == "cluster" {
				_, spec, _ := strings.Cut(string(made.YAML()), "spec:\n")
				b.WriteString(strings.TrimSuffix(spec, "  seed: 0\n"))
			}
			return b.String()
		})
	})
}

func TestHostlist(t *testing.T) {
	for text, want := range map[string]string{
		"a[1-3,7],b9": "a1 a2 a3 a7 b9", "n[08-10]": "n08 n09 n10", "a": "a", "": "", "[1101-1102]": "1101 1102",
		"r[1-2]n[1-2]": "r1n1 r1n2 r2n1 r2n2", "a, b": "a b", "x[5]y": "x5y", "n[098-101]": "n098 n099 n100 n101",
	} {
		got, err := hostlist(text)
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"a[1-", "a]", "a[3-1]", "a[x]", "a[]", "a[1-999999999]", "a[0-999][0-999]", "a[-1]", "a[0000000000000000000000000001]"} {
		if got, err := hostlist(text); err == nil {
			t.Errorf("%q is taken as %d names", text, len(got))
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]int64{"2880Gbps": 360e9, "125MBps": 125e6, "10Mbps": 1_250_000, "1.5Gbps": 187_500_000, "100kbps": 12_500, "1GiBps": 1 << 30} {
		if got, err := parseRate(text); err != nil || int64(got) != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]int64{"0.000025ms": 25_000, "0.0005ms": 500_000, "50us": 50e6, "1s": 1e12, "3 ns": 3000} {
		if got, err := parseTime(text); err != nil || int64(got) != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "5", "fast", "5 parsecs", "-1Gbps", "1e9Gbps", "999999999999999999Tbps", "1/2Gbps", "..Gbps"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("%q is taken as the rate %v", text, got)
		}
	}
}

// laughs returns a YAML file whose aliases multiply to a million values.
func laughs(key string) string {
	text := "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n"
	for i := range 5 {
		text += fmt.Sprintf("l%d: &l%d [%s*l%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*l%d, ", i), 9), i)
	}
	return text + key + ": *l5\nswitches: {}\n"
}

// Files made to cost time or memory are refused, or read at their size.
func TestHostile(t *testing.T) {
	const clab = "topology:\n  nodes: {a: {}, b: {}}\n  links:\n"
	for _, c := range []struct{ name, file, says string }{
		{"large", strings.Repeat(" ", maxBytes+1), "larger than"},
		{"large YAML", "switches: {}\nblocks: []\n" + strings.Repeat("#\n", maxYAMLBytes), "larger than"},
		{"brackets", "topology: " + strings.Repeat("[", 50_000), "nested more than"},
		{"aliases", laughs("blocks"), "aliases (*name) make more than"},
		{"tokens", clab + strings.Repeat("    - endpoints: [a:1, b:1]\n", 20_000), "YAML tokens"},
		{"links", clab + strings.Repeat("    - endpoints: [a:1, b:1]\n", maxParallel+1), "links between"},
		{"hosts", "SwitchName=s Nodes=n[1-999999]\n", "names, the most"},
		{"many lists", strings.Repeat("SwitchName=s Nodes=a[1-100000]\n", 3) + "SwitchName=t Nodes=b[1-100000]\n", "more than"},
		{"cycle", "SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=c Switches=a Nodes=n1\n", ""},
		{"itself", "SwitchName=a Switches=a Nodes=n1\n", ""},
		{"deep XML", strings.Repeat("<experiment>", 1000), "most that are read"},
		{"entities", `<!DOCTYPE x [<!ENTITY a "aaaa">]><experiment/>`, "document types"},
		{"htsim", "Nodes 131072\nTiers 3\nPodsize 2\nTier 0\nRadix_Down 1\nRadix_Up 1048576\nTier 1\nRadix_Down 1\nRadix_Up 1048576\nTier 2\nRadix_Down 1\n", "the most that are read"},
		{"SimAI", "1000000000 1 0 0 1 H100\n1\n", "GPUs"},
		{"SimGrid", `<platform version="4.1"><cluster id="c" radical="0-65535" bw="1Gbps" lat="1us" topology="FAT_TREE" topo_parameters="3;1,1,1;1000,1000,1000;1,1,1"/></platform>`, "the most that are read"},
		{"InfraGraph", "instances: [{name: host, device: server, count: 9}, {name: sw, device: switch, count: 9}]\nedges: [{ep1: {instance: 'host[0:100000]', component: 'nic[0:100000]'}, ep2: {instance: sw}}]\n", "at most"},
		{"many to many", "instances: [{name: host, device: server, count: 9}, {name: sw, device: switch, count: 9}]\nedges: [{ep1: {instance: 'host[0:9000]'}, ep2: {instance: 'sw[0:9000]'}, scheme: many2many}]\n", "the most that are read"},
		{"JSON", strings.Repeat(`[{"nodes":`, 20_000), "JSON"},
		{"copies", `<experiment><services><service name="a"/></services><dynamic><schedule name="a" time="0" action="join" amount="1000000"/></dynamic></experiment>`, "amount"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Read([]byte(c.file))
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says == "":
				convert(t, s)
			case err == nil || !strings.Contains(err.Error(), c.says):
				t.Errorf("error is %.200v, want %q in it", err, c.says)
			case len(err.Error()) > 500:
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// TestTemplates: what a program would fill in is told as such; bytes that happen to
// have two braces are not, nor are brackets of YAML and JSON within each other.
func TestTemplates(t *testing.T) {
	for _, s := range []string{"name: {{ .Name }}\ntopology: 1\n", "{{- range $i := until 3 }}\nx: 1\n{{ end }}", "a: {{/* why */}}", "a: {{ (len .X) }}", "a: {{ \"x\" }}"} {
		if _, err := Read([]byte(s)); !errors.Is(err, errTemplate) {
			t.Errorf("%q: %v", s, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, 40+rng.IntN(400))
		for i := range b {
			b[i] = byte(rng.UintN(256))
		}
		i := rng.IntN(20)
		copy(b[i:], "{{")
		copy(b[i+4:], "name")
		copy(b[len(b)-4:], "}}")
		if _, err := Read(b); errors.Is(err, errTemplate) {
			t.Fatalf("%q is a template", b)
		}
	}
	for _, s := range []string{`{"a": {"b": {"c": 1}}, "d": [{}]}`, "a: {{1: 2}: 3}}", "{{}}", "\x00{{ .Name }}", "a {{ .B \x01 }}"} {
		if _, err := Read([]byte(s)); errors.Is(err, errTemplate) {
			t.Errorf("%q is a template", s)
		}
	}
}

// TestNotesAlike: many notes of one kind leave room for others.
func TestNotesAlike(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "SwitchName=s%d Nodes=n%d LinkSpeed=%d\n", i, i, i)
	}
	s, err := Read([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	convert(t, s)
	speeds, more, last := 0, 0, s.Notes[len(s.Notes)-1].Text
	for _, n := range s.Notes {
		speeds += strings.Count(n.Text, "LinkSpeed")
		more += strings.Count(n.Text, "more like this one")
	}
	if speeds != maxAlike || more != 1 || !strings.Contains(last, "rate of ndr") {
		t.Errorf("%d notes on LinkSpeed, %d say that there are more; the last note is %q", speeds, more, last)
	}
}

// TestWords: what stands within a longer word is another word.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		text, word string
		has        bool
	}{{"gh200-nvl2", "h20", false}, {"dgx-h100", "h100", true}, {"h100", "h100", true}, {"h100x h100", "h100", true}, {"nvidia gb200_x", "gb200", true}, {"", "a", false}} {
		if got := hasWord(c.text, c.word); got != c.has {
			t.Errorf("%q in %q: %v", c.word, c.text, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"SwitchName=a Switches=b,c[1-2]\nSwitchName=b Nodes=n[01-02] LinkSpeed=1\nBlockName=x Nodes=n[1-3]\n",
		"- topology: t\n  tree: {switches: [{switch: r, children: 's[1-2]'}, {switch: s1, nodes: n1}]}\n",
		"- topology: t\n  torus3d: {toruses: [{torus: t, dims: {x: 2, y: 2, z: 1}, nodes: 'n[1-4]'}]}\n",
		"Switch 40 \"S-01\" # \"leaf\" x\n[1] \"H-0a\"[1](a) # \"h mlx5_0\" lid 3 4xNDR\n[2] \"S-02\"[1] # \"x\" 4xHDR\nCa 1 \"H-0a\" # \"h mlx5_0\"\n[1](a) \"S-01\"[1] # 4xNDR\n",
		"switches: {core: {switches: [a]}}\nblocks:\n- {switch: a, nodes: ['n[1-2]'], annotations: {x/domain: d}}\n",
		`[{"nodes": [{"compounded_nodes": [{"id": "1", "name": "l", "device_type": "switch"}, {"id": "2"}]}], "links": [{"src": "1", "target": "2", "compounded_links": [{}]}]}]`,
		"topology:\n  nodes: {a: {kind: linux}, b: {kind: x}}\n  links: [{endpoints: ['a:1', 'b:1']}]\n",
		"instances: [{name: host, device: server, count: 2}, {name: sw, device: switch}]\nconnections: [host.0-1.x.0.l.sw.0.port.0-1]\nlinks: [{name: l, bandwidth: {choice: gigabits_per_second, gigabits_per_second: 1}}]\n",
		"Nodes 4\nTiers 2\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 2\nRadix_Up 1\nTier 1\nRadix_Down 2\n",
		"6 2 1 1 4 H100\n4 5\n0 4 2880Gbps 0.000025ms 0\n0 5 400Gbps 0.0005ms 0\n2 5 1Gbps 1ms 0\n",
		`<experiment><services><service name="a"/><service name="c"/></services><bridges><bridge name="b"/></bridges><links><link origin="a" dest="b" upload="1Gbps"/><link origin="a" dest="c" upload="1Gbps" latency="1"/></links></experiment>`,
		`<platform version="4.1"><cluster id="c" prefix="n" radical="0-3" bw="1Gbps" lat="1us" topology="FAT_TREE" topo_parameters="2;2,2;1,2;1,1"/></platform>`,
		"SwitchName = \"a[0-1]\" Level=0 Nodes=n[1-2]\nSwitchName=b Level=1 Nodes=n[1-2] Switches=a[0-1] \\\n",
		"- topology: t\n  tree: {switches: [&a {switch: s, nodes: [n1, n2]}, {<<: *a, switch: t}]}\n",
		"Switch 4 \"S-a\" # \"l\"\n[1] \"R-f\"[1] # \"\" 4xHDR\n[2] \"H-1\"[1] # \"MT41 x\" 2xNDR\nRt 2 \"R-f\" # \"r\"\n",
		"devices: [{name: b, components: [{name: x, choice: xpu, count: 2}, {name: cx7, choice: device, count: 2}]}, {name: s, components: [{name: asic, choice: switch}]}]\nlinks: [{name: l, physical: {bandwidth: {gigabits_per_second: 1}}}]\ninstances: [{name: h, device: b, count: 2}, {name: s, device: s}]\nedges: [{ep1: {instance: 'h[::2]', component: cx7.port}, ep2: {instance: s, component: 'p[:4]'}, scheme: one2one, link: l}]\n",
		"{{}}", "[{", "topology: [", "<",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Read(data)
		if err != nil {
			return
		}
		c, err := s.Cluster(testOptions)
		if err != nil {
			return
		}
		if err := c.Validate(testKnown); err != nil && !strings.Contains(err.Error(), "switches") && !strings.Contains(err.Error(), "at most") && !strings.Contains(err.Error(), "must be") {
			t.Errorf("made a cluster that is not valid: %v", err)
		}
	})
}
