package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/sweep"
	"github.com/railyard/railyard/emu/tuner"
)

// What the environment says reaches the config and the report's env; a flag is
// stronger, and then the variable is not listed.
func TestVariables(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	s.env = map[string]string{
		"NCCL_MIN_NCHANNELS": "2", "NCCL_MIN_CTAS": "3", "NCCL_MAX_NCHANNELS": "8", "NCCL_BUFFSIZE": "8M", "NCCL_LL_BUFFSIZE": "128K",
		"NCCL_LL128_BUFFSIZE": "256K", "NCCL_NTHREADS": "256", "NCCL_NVLS_ENABLE": "0", "NCCL_NVLS_CHUNKSIZE": "524288",
		"NCCL_COLLNET_ENABLE": "1", "NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "^NET", "NCCL_DEBUG_FILE": s.dir + "/log.%h.%p",
		"NCCL_CROSS_NIC": "1", "NCCL_PXN_DISABLE": "1",
	}
	want := tuner.Settings{MinChannels: 3, MaxChannels: 8, BufferBytes: 8 << 20, LLBufferBytes: 128 << 10, LL128BufferBytes: 256 << 10,
		Threads: 256, NoNVLS: true, NVLSChunk: 512 << 10, CollNet: true, Version: 27}
	if code := s.run("bench all_reduce --nccl 2.27"); code != ExitOK || f.got.Tuning != want {
		t.Errorf("exit %d, %s\n%+v, want\n%+v", code, s.err.String(), f.got.Tuning, want)
	}
	if n := len(s.env); len(f.got.Env) != n || !slices.Contains(f.got.Env, "NCCL_CROSS_NIC=1") {
		t.Errorf("%d of %d are listed: %v", len(f.got.Env), n, f.got.Env)
	}
	if w := f.got.Cluster.Fabric; w.PXN != emu.PXNOff || w.CrossNIC != emu.CrossAlways {
		t.Errorf("forwarding: %+v", w)
	}
	if s.run("bench all_reduce --pxn 1 --cross-nic 0"); f.got.Cluster.Fabric.PXN != emu.PXNOn || f.got.Cluster.Fabric.CrossNIC != emu.CrossNever {
		t.Errorf("flags are stronger: %+v", f.got.Cluster.Fabric)
	}
	s.file(t, "c.yaml", "apiVersion: railyard/v1alpha1\nkind: Cluster\nspec:\n  nodes: [{count: 2, system: dgx-h100}]\n  fabric: {pxn: true, crossNic: 2}\n")
	if s.run("bench all_reduce --cluster $DIR/c.yaml"); f.got.Cluster.Fabric.PXN != emu.PXNOn || f.got.Cluster.Fabric.CrossNIC != emu.CrossIfFaster {
		t.Errorf("so is the file: %+v", f.got.Cluster.Fabric)
	}
	if code := s.run("bench all_reduce --nodes 2 --fabric rail-only-ndr"); code != ExitUsage || !strings.Contains(s.err.String(), "crossNic 1 (NCCL_CROSS_NIC=1)") {
		t.Errorf("rails that are not joined: exit %d, %s", code, s.err.String())
	}
	if d := f.got.Debug; !d.Prints("GRAPH") || d.Prints("NET") || d.path("node0", 7) != s.dir+"/log.node0.7" || d.Out == nil || d.Out == s.Stderr {
		t.Errorf("%+v", d)
	}
	if s.run("bench all_reduce --channels 5"); f.got.Tuning.MinChannels != 0 || slices.Contains(f.got.Env, "NCCL_MAX_NCHANNELS=8") {
		t.Errorf("beside --channels: %+v, %v", f.got.Tuning, f.got.Env)
	}
}

// One name comes back as the registry spells it; lists stay what they are.
func TestSpelling(t *testing.T) {
	for given, want := range map[string]string{"Ring": "ring", "TREE": "tree", "Auto": "auto", "NVLS_Tree": "nvlstree", "ring,tree": "ring,tree",
		"^ring": "^ring", "allreduce:ring": "allreduce:ring"} {
		if got, err := spelled(given, algos()[1:]); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", given, got, err, want)
		}
	}
}

func TestDebugLevels(t *testing.T) {
	for level, want := range map[string]bool{"": false, "none": false, "VERSION": false, "WARN": false, "INFO": true, "Trace": true} {
		var d Debug
		if level != "" {
			if err := d.setLevel(level); err != nil {
				t.Fatal(err)
			}
		}
		if d.Prints("INIT") != want || d.Prints("GRAPH") {
			t.Errorf("%s: INIT %v, GRAPH %v", level, d.Prints("INIT"), d.Prints("GRAPH"))
		}
	}
}

// Scripts that export NCCL_ALGO and NCCL_PROTO run every operation with them:
// none that NCCL makes of sends and receives may be refused for it.
func TestSendsAndReceivesAskNeither(t *testing.T) {
	s, f := newSession(t), &fake{}
	s.Hosts.Bench = f.bench
	for _, op := range []string{"alltoall", "alltoallv", "sendrecv", "gather", "scatter"} {
		for _, algo := range []string{"", "Ring", "Tree", "ring,tree", "NVLS", "CollnetDirect", "PAT", "^Ring", "MSCCL,RING,TREE"} {
			for _, proto := range []string{"", "Simple", "LL", "LL128", "^Simple,LL"} {
				s.env = map[string]string{"NCCL_ALGO": algo, "NCCL_PROTO": proto}
				code := s.run("bench " + op)
				a, errA := sweep.AlgorithmFilter(f.got.Algo)
				p, errP := sweep.ProtocolFilter(f.got.Proto)
				if code != ExitOK || errA != nil || errP != nil || !a.Allows(f.got.Op, "direct") || !p.Allows(f.got.Op, "simple") && !p.Allows(f.got.Op, "ll") {
					t.Errorf("%s, %v: exit code %d, algorithm %s, protocol %s, %s", op, s.env, code, f.got.Algo, f.got.Proto, s.err.String())
				}
			}
		}
	}
}
