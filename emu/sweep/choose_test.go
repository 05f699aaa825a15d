package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/fabric"
	"github.com/railyard/railyard/emu/tuner"
)

// at asks for one size and returns its case.
func at(t *testing.T, nodes, gpus int, bytes int64, change func(s *Spec)) *Case {
	t.Helper()
	q := question(collective.AllReduce)
	q.MinBytes, q.MaxBytes = bytes, bytes
	change(&q)
	s, err := New(cluster(t, nodes, gpus), q)
	if err != nil {
		t.Fatal(err)
	}
	return &s.Cases[0]
}

// TestListsAndExclusions: among what is left the tuner still chooses.
func TestListsAndExclusions(t *testing.T) {
	for _, tc := range []struct {
		algorithms, protocols string
		bytes                 int64
		want                  string
	}{
		{"Ring,Tree", "", 1 << 10, "tree ll"},
		{"ring;broadcast:tree", "", 1 << 10, "ring ll"},
		{"^Tree,nvls,nvlstree", "^LL", 1 << 10, "ring ll128"},
		{"allreduce:ring", "allreduce:simple;ll", 1 << 10, "ring simple"},
		{"tree", "LL128,Simple", 4 << 20, "tree ll128"},
	} {
		c := at(t, 4, 8, tc.bytes, func(s *Spec) { s.Algorithm, s.Tuning.Protocols = tc.algorithms, tc.protocols })
		if got := c.Chosen.Algorithm + " " + c.Chosen.Protocol.String(); got != tc.want {
			t.Errorf("%q %q: %s, want %s", tc.algorithms, tc.protocols, got, tc.want)
		}
	}
}

// TestCandidatesSayWhy: every candidate is in the list, the chosen one among
// them, and what was left out has a reason.
func TestCandidatesSayWhy(t *testing.T) {
	c := at(t, 4, 8, 1<<20, func(s *Spec) { s.Algorithm = "ring" })
	if !slices.Contains(c.Candidates, c.Chosen) || c.Chosen.Time == 0 {
		t.Errorf("chosen is %+v", c.Chosen)
	}
	for _, e := range c.Candidates {
		if (e.Algorithm == "ring") != (e.Why == "") || e.Time == 0 {
			t.Errorf("%s %s: %q, %d ps", e.Algorithm, e.Protocol, e.Why, e.Time)
		}
	}
}

// TestSettingsReachThePlan: what the environment says is in the options.
func TestSettingsReachThePlan(t *testing.T) {
	for _, tc := range []struct {
		name   string
		bytes  int64
		change func(s *Spec)
		want   string // channels, buffer, chunk
	}{
		{"default", 1 << 30, func(s *Spec) { s.Algorithm = "ring" }, "16 0 0"},
		{"most channels", 1 << 30, func(s *Spec) { s.Algorithm, s.Tuning.MaxChannels = "ring", 4 }, "4 0 0"},
		{"least channels", 64, func(s *Spec) { s.Algorithm, s.Tuning.MinChannels = "ring", 8 }, "8 0 0"},
		{"the flag is stronger", 1 << 30, func(s *Spec) { s.Algorithm, s.Tuning.MaxChannels, s.Channels = "ring", 4, 6 }, "6 0 0"},
		{"buffer of Simple", 1 << 30, func(s *Spec) { s.Algorithm, s.Tuning.BufferBytes = "ring", 1<<20 }, "16 1048576 0"},
		{"not of LL", 64, func(s *Spec) { s.Algorithm, s.Tuning.BufferBytes = "ring", 1<<20 }, "1 0 0"},
		{"buffer of LL", 64, func(s *Spec) { s.Algorithm, s.Tuning.LLBufferBytes = "ring", 1<<18 }, "1 262144 0"},
		{"threads", 512 << 10, func(s *Spec) { s.Algorithm, s.Tuning.Protocols, s.Tuning.Threads = "ring", "ll", 256 }, "8 0 0"},
		{"chunk of a tree's LL128", 1 << 20, func(s *Spec) { s.Algorithm, s.AutoProtocol, s.Protocol = "tree", false, collective.LL128 }, "16 0 19200"},
	} {
		c := at(t, 4, 8, tc.bytes, tc.change)
		o := c.Run.Options
		if got := fmt.Sprintf("%d %d %d", o.Channels, o.BufferBytes, o.ChunkBytes); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}

// TestIllegalIsSaidOrRefused: left in the list when the tuner chooses, refused
// when named, and what NCCL leaves out by default can be asked for by name.
func TestIllegalIsSaidOrRefused(t *testing.T) {
	f := cluster(t, 4, 8)
	s := question(collective.AllReduce)
	shape := f.Shape(f.All())
	use := collective.Use{Op: s.Op, DType: collective.Float32, Protocol: collective.Simple}
	off := tuner.Estimate{Algorithm: "ring", Why: "off by default"}
	if got := s.illegal(off, use, shape, false); got != "off by default" {
		t.Errorf("%q", got)
	}
	if got := s.illegal(off, use, shape, true); got != "" {
		t.Errorf("named, but %q", got)
	}
	s.Tuning.NoNVLS = true // switched off is off, also for who names it
	if got := s.illegal(tuner.Estimate{Algorithm: tuner.NVLS, Why: "off"}, use, shape, true); got == "" {
		t.Error("NVLS is off, but may be used")
	}
	use.Op = collective.AllGather
	if got := s.illegal(tuner.Estimate{Algorithm: "tree"}, use, shape, true); !strings.Contains(got, "does not do all_gather") {
		t.Errorf("%q", got)
	}
	if got := s.illegal(tuner.Estimate{Algorithm: "nonesuch"}, use, shape, true); !strings.Contains(got, "unknown") {
		t.Errorf("%q", got)
	}
}

// TestVersions: an older NCCL's tuner chooses otherwise.
func TestVersions(t *testing.T) {
	times := map[int]int64{}
	for _, v := range []int{18, 19, 23, 30} {
		c := at(t, 4, 8, 64<<20, func(s *Spec) { s.Algorithm, s.Tuning.Version, s.Tuning.Protocols = "tree", v, "simple" })
		times[v] = int64(c.Chosen.Time)
	}
	if times[23] != times[30] || times[18] >= times[30] || times[19] <= times[30] {
		t.Errorf("%v", times)
	}
}

// TestDomainsChooseNVLS: a rack counts as one node, where NVLS is chosen if nothing
// is said, and NVLSTree between racks; not where it was switched off, nor for
// what it cannot do on so many ranks.
func TestDomainsChooseNVLS(t *testing.T) {
	for _, tc := range []struct {
		trays int
		op    collective.Op
		off   bool
		want  string
	}{
		{18, collective.AllReduce, false, "nvls"},
		{18, collective.AllReduce, true, "tree"},
		{18, collective.ReduceScatter, false, "ring"},
		{36, collective.AllReduce, false, "nvlstree"},
	} {
		f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: tc.trays, System: "gb200-nvl72"}}})
		if err != nil {
			t.Fatal(err)
		}
		q := question(tc.op)
		q.MinBytes, q.MaxBytes, q.Tuning.NoNVLS = 64<<20, 64<<20, tc.off
		s, err := New(f, q)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Cases[0].Chosen.Algorithm; got != tc.want {
			t.Errorf("%s on %d trays, NVLS off %v: %s, want %s", tc.op, tc.trays, tc.off, got, tc.want)
		}
	}
}

// Two communicators that would meet in a switch of Quantum have no tree, whether
// one was asked for or would be chosen; one communicator has, and both have on
// Quantum-2.
func TestOneTreeASwitch(t *testing.T) {
	for _, link := range []string{"hdr", "ndr"} {
		f, err := fabric.New(emu.Cluster{Groups: []emu.Group{{Count: 4, System: "dgx-a100"}}, Fabric: emu.Fabric{Link: link}})
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range []Split{{}, {Op: SplitDiv, Value: 16}} {
			refused := link == "hdr" && split.Op != Whole
			q := question(collective.AllReduce)
			q.Algorithm, q.Split = "collnetdirect", split
			_, err := New(f, q)
			if (err != nil) != refused || refused && !strings.Contains(err.Error(), "groups 0 and 1 meet at unit0/rail0, and a switch of hdr carries one streaming tree (SHARP) at once") {
				t.Errorf("%s, split %v: %v", link, split, err)
			}
			q.Algorithm, q.Tuning.CollNet = "auto", true
			s, err := New(f, q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Cases {
				if took := strings.HasPrefix(s.Cases[i].Chosen.Algorithm, "collnet"); took && refused {
					t.Errorf("%s, split %v: auto takes %s", link, split, s.Cases[i].Chosen.Algorithm)
				}
			}
		}
	}
}
