package sweep

import (
	"reflect"
	"strings"
	"testing"
)

func TestPlacement(t *testing.T) {
	f := cluster(t, 3, 4)
	for _, c := range []struct {
		name   string
		hosts  string
		byNode bool
		want   []int
	}{
		{"nothing said", "", false, nil},
		{"all nodes, dealt", "", true, []int{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{"some slots of some nodes, in the file's order", "node2 slots=2 # ours\n\n# node1\nnode0 slots=3\n", false, []int{8, 9, 0, 1, 2}},
		{"the same, dealt", "node2 slots=2\nnode0 slots=3\n", true, []int{8, 0, 9, 1, 2}},
		{"a node alone has all its GPUs", "node1\n", false, []int{4, 5, 6, 7}},
		{"a node twice has two slots", "node1\nnode0\nnode1\n", false, []int{4, 5, 0, 1, 2, 3}},
		{"as MPICH writes it, and with a most", "node2:2\nnode0 slots=3 max_slots=4\n", false, []int{8, 9, 0, 1, 2}},
		{"slots add up", "node1 slots=1\nnode0 slots=1\nnode1 slots=2", false, []int{4, 5, 6, 0}},
	} {
		p := Placement{ByNode: c.byNode}
		if c.hosts != "" {
			var err error
			if p.Hosts, err = ParseHosts("hosts", []byte(c.hosts)); err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
		}
		if got, err := p.Order(f); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// A process a server, with so many of its GPUs; who has fewer gives all.
func TestPlacementOfEach(t *testing.T) {
	f := cluster(t, 2, 4)
	for each, want := range map[int][]int{1: {0, 4}, 3: {0, 1, 2, 4, 5, 6}, 4: {0, 1, 2, 3, 4, 5, 6, 7}} { // order: each is checked by itself
		p := Placement{Each: each}
		if got, err := p.Order(f); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%d: %v, %v; want %v", each, got, err, want)
		}
	}
	p := Placement{Each: 5}
	if _, err := p.Order(f); err == nil || !strings.Contains(err.Error(), "5 GPUs of each server are asked for, and none has more than 4") {
		t.Errorf("more than there are: %v", err)
	}
	p = Placement{Each: 2, ByNode: true}
	if got, err := p.Order(f); err != nil || !reflect.DeepEqual(got, []int{0, 4, 1, 5}) {
		t.Errorf("dealt: %v, %v", got, err)
	}
}

// TestHostsRefused: messages name the line, what stands there and what may.
func TestHostsRefused(t *testing.T) {
	f := cluster(t, 2, 4)
	for text, want := range map[string]string{ // order: each is checked by itself
		"":                                    "h: names no node",
		"# nobody\n":                          "h: names no node",
		"node0 slots=two\n":                   `h:1: "slots=two": after the node comes slots=N`,
		"\nnode0 slots=0\n":                   `h:2: "slots=0"`,
		"node0 port=22\n":                     `h:1: "port=22"`,
		"node0\nnode2\n":                      `h:2: node "node2" is unknown; allowed are node0 to node1`,
		"gpu-a\n":                             `h:1: node "gpu-a" is unknown`,
		"node01\n":                            `h:1: node "node01" is unknown`,
		"node0 slots=5\n":                     "h:1: node0 has 4 GPUs, but 5 slots are asked for",
		"node0 slots=3\nnode1\nnode0 slots=2": "h:3: node0 has 4 GPUs, but 5 slots are asked for",
	} {
		hosts, err := ParseHosts("h", []byte(text))
		if err == nil {
			p := Placement{Hosts: hosts}
			_, err = p.Order(f)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestParseGPUs(t *testing.T) {
	for text, want := range map[string][]int{ // order: each is checked by itself
		"3,1,2,0": {3, 1, 2, 0}, "0": {0}, "4-6, 1": {4, 5, 6, 1}, "7-7": {7},
	} {
		if got, err := ParseGPUs(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{ // order: each is checked by itself
		"": "entry 1", "1,,2": "entry 2", "1,x": `entry 2, "x", must be a GPU such as 3`, "3-1": "entry 1", "-1": "entry 1",
		"0-4000000000": "entry 1", "0-2000000000": "more than 131072 GPUs",
	} {
		if _, err := ParseGPUs(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// FuzzParseHosts: whatever is in a file is read or refused.
func FuzzParseHosts(f *testing.F) {
	f.Add("node0 slots=2\nnode1")
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := ParseHosts("h", []byte(text))
		if (err == nil) != (len(hosts) > 0) {
			t.Errorf("%d hosts and error %v", len(hosts), err)
		}
	})
}
