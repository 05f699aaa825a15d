package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/tuner"
)

// What a cloud's environment sets stands above defaults and below the variables of
// the process, the cluster file and flags; --profile takes another's, or none.
func TestProfiles(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.file(t, "c.yaml", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 2, system: gcp-a3-high}]\n  fabric: {crossNic: 2}\n")
	tcpxo := tuner.Settings{MinChannels: 4, BufferBytes: 8 << 20, P2PNetChunk: 512 << 10, NoNVLS: true, Version: 30}
	for _, tc := range []struct {
		line, env   string // env: one variable
		algo, proto string
		cross       emu.CrossNIC
		tuning      tuner.Settings
	}{
		{"--system gcp-a3-mega", "", "Ring,Tree", "simple", emu.CrossNever, tcpxo},
		{"--system gcp-a3-mega", "NCCL_CROSS_NIC=1", "Ring,Tree", "simple", emu.CrossAlways, tcpxo},
		{"--system gcp-a3-mega --cross-nic 2 --algo ring", "NCCL_CROSS_NIC=1", "ring", "simple", emu.CrossIfFaster, tcpxo},
		{"--cluster $DIR/c.yaml", "", "ring", "simple", emu.CrossIfFaster, tuner.Settings{BufferBytes: 4 << 20, P2PNetChunk: 512 << 10, Version: 30}},
		{"--system gcp-a3-mega --profile none", "", Auto, Auto, emu.CrossDefault, tuner.Settings{Version: 30}},
		{"--system dgx-h100 --profile aws-p5", "NCCL_BUFFSIZE=1M", Auto, Auto, emu.CrossDefault,
			tuner.Settings{BufferBytes: 1 << 20, P2PNetChunk: 512 << 10, NVLSChunk: 512 << 10, NVLSTreeMax: 512 << 10, Version: 30}},
		{"--system dgx-h100 --profile gcp", "", "Ring,Tree", "simple", emu.CrossNever, tcpxo},
		{"--system dgx-h100", "", Auto, Auto, emu.CrossDefault, tuner.Settings{Version: 30}},
	} {
		s.env = map[string]string{}
		if name, value, ok := strings.Cut(tc.env, "="); ok {
			s.env[name] = value
		}
		code := s.run("bench all_reduce " + tc.line)
		if got := f.got; code != ExitOK || !strings.EqualFold(got.Algo, tc.algo) || !strings.EqualFold(got.Proto, tc.proto) || got.Cluster.Fabric.CrossNIC != tc.cross {
			t.Errorf("%s, %s: exit %d, %s, %s, %s: %s", tc.line, tc.env, code, got.Algo, got.Proto, got.Cluster.Fabric.CrossNIC, s.err.String())
		}
		got := f.got.Tuning
		if got.Protocols = ""; got != tc.tuning {
			t.Errorf("%s, %s:\n%+v, want\n%+v", tc.line, tc.env, got, tc.tuning)
		}
		if strings.Contains(s.err.String(), "note:") {
			t.Errorf("%s: what the user did not set is answered: %s", tc.line, s.err.String())
		}
	}
	if code := s.run("bench alltoall --system gcp-a3-mega"); code != ExitOK || f.got.Algo != Auto || !strings.EqualFold(f.got.Proto, "simple") {
		t.Errorf("NCCL_ALGO on sends and receives: exit %d, %s, %s", code, f.got.Algo, s.err.String())
	}
	if s.run("bench all_reduce --system aws-p5"); !slices.Contains(f.got.Env, "NCCL_NVLS_CHUNKSIZE=524288") {
		t.Errorf("the report lists %v", f.got.Env)
	}
	if code := s.run("bench all_reduce --system dgx-a100 --profile gcp"); code != ExitUsage || !strings.Contains(s.err.String(), "no instance with the GPUs of this cluster (dgx-a100)") {
		t.Errorf("exit %d, %s", code, s.err.String())
	}
	if code := s.run("bench all_reduce --system mi300x --profile aws"); code != ExitUsage || !strings.Contains(s.err.String(), "no instance with the GPUs of this cluster (mi300x)") {
		t.Errorf("exit %d, %s", code, s.err.String())
	}
	for system, want := range map[string]string{"aws-p5": "aws-p5", "h20": "aws-p5", "dgx-h100": "aws-p5", "dgx-h200": "aws-p5en", "dgx-a100": "aws-p4d", "dgx-b200": "aws-p6-b200", "dgx-b300": "aws-p6-b300"} { // order: does not matter
		if got, err := instanceOf("aws", system); got != want || err != nil {
			t.Errorf("%s is %s on AWS, %v; want %s", system, got, err, want)
		}
	}
	if code := s.run("bench all_reduce --profile aws-p6"); code != ExitUsage || !strings.Contains(s.err.String(), `did you mean "aws-p5"?`) && !strings.Contains(s.err.String(), "aws-p6-b200") {
		t.Errorf("exit %d, %s", code, s.err.String())
	}
}

// Between any system and any profile: what the instance does not have in common with
// the cluster is said, and nothing where they agree; a cloud's name finds an instance
// with GPUs of the same maker and generation, or none.
func TestProfileOfAnotherMachine(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	for _, own := range catalog.Systems() {
		for _, p := range catalog.Systems() {
			if len(p.Env) == 0 {
				continue
			}
			notes := strings.Join(stranger(&p, &own), "; ")
			if gpus := p.Product() != own.Product(); gpus != strings.Contains(notes, " GPUs, and ") {
				t.Errorf("%s with %s: %q", own.Name, p.Name, notes)
			}
			if cloud := own.Cloud() != "" && own.Cloud() != p.Cloud(); cloud != strings.Contains(notes, "is an instance of") {
				t.Errorf("%s with %s: %q", own.Name, p.Name, notes)
			}
		}
		for _, cloud := range catalog.Clouds() {
			name, err := instanceOf(cloud, own.Name)
			if err != nil {
				continue
			}
			if p, _ := catalog.LookupSystem(name); p.Arch != own.Arch || p.Compute != own.Compute || own.Cloud() == cloud && name != own.Name {
				t.Errorf("%s is %s on %s", own.Name, name, cloud)
			}
		}
	}
	for line, want := range map[string][]string{ // order: each alone
		"--system mi300x --profile aws-p5":        {"H100 GPUs, and mi300x has MI300X"},
		"--system h20 --profile aws":              {"--profile aws-p5: variables of an instance with H100 GPUs, and h20 has H20"},
		"--system aws-p5 --profile gcp":           {"variables of gcp's transport (tcpxo), and aws-p5 is an instance of aws with efa-400"},
		"--system gcp-a4 --profile aws-p4d":       {"A100 GPUs, and gcp-a4 has B200", "variables of aws's transport"},
		"--system dgx-a100 --profile aws":         nil,
		"--system aws-p5":                         nil,
		"--system aws-p5 --profile none":          nil,
		"--system dgx-b200 --profile aws-p6-b200": nil,
	} {
		code, said := s.run("bench all_reduce "+line), s.err.String()
		for _, w := range want {
			if !strings.Contains(said, "note: ") || !strings.Contains(said, w) {
				t.Errorf("%s: exit %d: %q, want %q", line, code, said, w)
			}
		}
		if code != ExitOK || want == nil && strings.Contains(said, "note:") {
			t.Errorf("%s: exit %d: %q", line, code, said)
		}
	}
}
