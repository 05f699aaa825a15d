package wire

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/railyard/railyard/collective"
	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/machine"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
	"github.com/railyard/railyard/shaping"
)

// Every constant of the core has its own in the contract, of the same name, and
// every one of the contract but "unspecified" means something.
func TestEnumsAreComplete(t *testing.T) {
	checkEnum(t, &ops, append(collective.Ops(), collective.Custom), railyardv1.Op_name, "OP_",
		map[string]string{"all_to_all": "alltoall", "all_to_all_v": "alltoallv", "send_recv": "sendrecv"})
	checkEnum(t, &protocols, []collective.Protocol{collective.Simple, collective.LL, collective.LL128},
		railyardv1.Protocol_name, "PROTOCOL_", nil)
	checkEnum(t, &dtypes, collective.DTypes(), railyardv1.DataType_name, "DATA_TYPE_", nil)
	checkEnum(t, &redops, collective.RedOps(), railyardv1.Reduction_name, "REDUCTION_", nil)
}

func checkEnum[C interface {
	comparable
	String() string
}, P protoEnum](t *testing.T, e *enum[C, P], core []C, names map[int32]string, prefix string, aliases map[string]string) {
	t.Helper()
	if len(core) != len(names)-1 {
		t.Errorf("%s: the core has %d, the contract %d and unspecified", e.field, len(core), len(names)-1)
	}
	for _, c := range core {
		p := e.encode(c)
		name := strings.ToLower(strings.TrimPrefix(p.String(), prefix))
		if a, ok := aliases[name]; ok {
			name = a
		}
		if name != c.String() {
			t.Errorf("%s %v is %v in the contract", e.field, c, p)
		}
		if back, err := e.decode(p); err != nil || back != c {
			t.Errorf("%s %v comes back as %v, %v", e.field, c, back, err)
		}
	}
	for _, bad := range []P{0, 1000, -1} {
		if _, err := e.decode(bad); err == nil || !strings.Contains(err.Error(), "allowed are "+prefix) {
			t.Errorf("%s %v decodes with error %v", e.field, bad, err)
		}
	}
}

// over returns what a message is at the other end.
func over[M proto.Message](t *testing.T, m, into M) M {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := proto.Unmarshal(b, into); err != nil {
		t.Fatal(err)
	}
	return into
}

func TestClusterRoundTrip(t *testing.T) {
	for _, want := range []emu.Cluster{
		{Groups: []emu.Group{{Count: 1, System: "dgx-h100"}}},
		{
			Name:   "two-pods",
			Groups: []emu.Group{{Count: 8, System: "dgx-h100", GPUs: 4, NICs: 2}, {Count: 3, System: "dgx-b200"}},
			Fabric: emu.Fabric{Kind: "torus", Link: "ndr", Oversubscription: 4, Routing: "hash", Unit: 2, Planes: 3, Dims: []int{4, 5}, HostsPerSwitch: 6,
				PXN: emu.PXNOff, CrossNIC: emu.CrossIfFaster},
			Seed: math.MaxUint64,
		},
		{
			Groups: []emu.Group{{Count: 2, Machine: "box", NoGDR: true}},
			Machines: []machine.Machine{{Name: "box", Sockets: []machine.Socket{{Arch: "x86_64"}}, NUMA: []machine.NUMA{{DRAM: 100 * shaping.GBps}},
				GPUs: []machine.GPU{{PCI: machine.PCI{BusID: "0000:01:00.0"}, Model: "H100"}}, NICs: []machine.NIC{{Speed: 50 * shaping.GBps}}}},
		},
		{
			Groups: []emu.Group{{Count: 32, System: "tpu-v4", Slice: emu.Slice{Torus: []int{4, 4, 8}, Wrap: "xz", Cubes: []int{0, 7}, Dark: []string{"x5", "z0@7"}}}},
		},
		{
			Groups: []emu.Group{{Count: 2, System: "dgx-h100", Switches: []string{"a", "b"}}},
			Fabric: emu.Fabric{Kind: "custom", Switches: []string{"a", "b", "c"}, Links: []emu.FabricLink{
				{From: "c", To: []string{"a", "b"}, Count: 4, Rate: 50 * shaping.GBps, Latency: shaping.Microsecond}, {From: "a", To: []string{"b"}}}},
		},
	} {
		got, err := DecodeCluster(over(t, EncodeCluster(&want), &railyardv1.Cluster{}))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestBatchRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var want emu.Batch
	for i := range 50 {
		run := emu.Run{
			Op: collective.Op(i % len(collective.Ops())), Algorithm: "ring",
			Options: collective.Options{Protocol: collective.Protocol(i % 3), Channels: 1 + r.IntN(64), Slices: r.IntN(5)},
			Comm:    r.Perm(1 + i), Count: r.Int64(),
			DType: collective.DType(i % len(collective.DTypes())), RedOp: collective.RedOp(i % len(collective.RedOps())),
			InPlace: i%2 == 0, Seed: r.Uint64(), Iterations: 1 + r.IntN(9),
			Launch: shaping.Duration(r.Int64()), Sync: i%3 == 0, Offset: shaping.Time(r.Int64()),
		}
		run.Real = r.Int64N(run.Count + 1)
		if i%4 == 0 {
			run.Absent, run.Late = []int{i}, []emu.Late{{Rank: i, By: shaping.Duration(r.Int64())}}
			run.Odd, run.After = []emu.Odd{{Rank: 0, Says: "otherwise"}}, make([]int32, len(run.Comm))
			run.After[i] = -1
		}
		want.Runs = append(want.Runs, run)
	}
	begin := over(t, &railyardv1.Begin{Runs: EncodeBatch(&want)}, &railyardv1.Begin{})
	got, err := DecodeBatch(begin.GetRuns())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Error("a batch comes back different")
	}
}

func TestEndsRoundTrip(t *testing.T) {
	want := []emu.End{{}, {Run: 1, Rank: 131071, Iteration: 20, At: shaping.Never}}
	report := over(t, &railyardv1.Report{Ends: EncodeEnds(want)}, &railyardv1.Report{})
	got, err := DecodeEnds(report.GetEnds())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// All that is wrong is said at once, each with field, value and what is allowed.
func TestDecodeSaysAllThatIsWrong(t *testing.T) {
	_, err := DecodeRun(&railyardv1.Run{
		Op: 99, Options: &railyardv1.PlanOptions{Protocol: railyardv1.Protocol_PROTOCOL_LL},
		Comm: []uint32{0, 1 << 31}, Count: 5, Real: 6, LaunchPs: -1, OffsetPs: -2,
		Absent: []uint32{2}, Late: []*railyardv1.LateCall{{Rank: 3, ByPs: -1}},
	})
	sayAll(t, err, "op 99: unknown", "dtype DATA_TYPE_UNSPECIFIED: unknown", "redop REDUCTION_UNSPECIFIED: unknown",
		"options.channels 0: allowed are 1 to 2147483647", "comm[1] 2147483648: allowed are 0 to 2147483647",
		"real 6: allowed are 0 to 5", "iterations 0: allowed are 1", "launch_ps -1: allowed are 0",
		"offset_ps -2: allowed are 0",
		"absent 2: allowed are 0 to 1", "late.rank 3: allowed are 0 to 1", "late.by_ps: -1")

	_, err = DecodeBatch([]*railyardv1.Run{{}, nil})
	sayAll(t, err, "runs: 0: run: op OP_UNSPECIFIED", "1: run: op OP_UNSPECIFIED", "comm: empty")

	_, err = DecodeCluster(&railyardv1.Cluster{
		Name:   "odd",
		Groups: []*railyardv1.NodeGroup{{Count: 1}, {Count: 0, Gpus: math.MaxUint32}, {Count: math.MaxUint32, Nics: 1 << 31}},
		Fabric: &railyardv1.Fabric{Oversubscription: math.MaxUint32, Planes: 1 << 20, Dims: []uint32{4, 0}},
	})
	sayAll(t, err, `cluster "odd"`, "groups[1].count 0: allowed are 1 to 1048576", "groups[1].gpus 4294967295",
		"groups[2].count 4294967295", "groups[2].nics 2147483648", "fabric.oversubscription 4294967295",
		"fabric.planes 1048576: allowed are 0 to 1024", "fabric.dims[1] 0: allowed are 1")

	_, err = DecodeCluster(nil)
	sayAll(t, err, "groups: none")

	_, err = DecodeEnds([]*railyardv1.RankEnd{nil, {Run: math.MaxUint32, Rank: math.MaxUint32, Iteration: math.MaxUint32, AtPs: -1}})
	sayAll(t, err, "ends[1].run 4294967295", "ends[1].rank", "ends[1].iteration", "ends[1].at_ps -1")
}

func sayAll(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error; want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error does not say %q:\n%v", p, err)
		}
	}
}

func TestNumbersWithoutAPlacePanic(t *testing.T) {
	for name, encode := range map[string]func(){
		"comm":       func() { EncodeRun(&emu.Run{Comm: []int{-1}}) },
		"iterations": func() { EncodeRun(&emu.Run{Iterations: -1}) },
		"count":      func() { EncodeCluster(&emu.Cluster{Groups: []emu.Group{{Count: math.MaxInt32 + 1}}}) },
		"rank":       func() { EncodeEnds([]emu.End{{Rank: -1}}) },
		"op":         func() { EncodeOp(99) },
		"order":      func() { EncodeRecords([]emu.Record{{At: 2}, {At: 1}}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			encode()
		}()
	}
}

func TestHeaderByTheFabric(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 1000 {
		want := anyHeader(r)
		got, err := DecodeHeader(over(t, EncodeHeader(&want), &railyardv1.FrameHeader{}))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	}
	for _, c := range []struct {
		h    *railyardv1.FrameHeader
		want string
	}{
		{nil, "kind: missing"},
		{&railyardv1.FrameHeader{Kind: data, Protocol: simple, HasPayload: true, PayloadBytes: 1}, "payload_bytes 1: must be 0"},
		{&railyardv1.FrameHeader{Kind: data, Protocol: simple, HeadPs: -5}, "head_ps 18446744073709551611: at most"},
		{&railyardv1.FrameHeader{Kind: -1, Protocol: simple}, "kind 18446744073709551615: at most 5"},
	} {
		_, err := DecodeHeader(c.h)
		sayAll(t, err, c.want)
	}
}

// FuzzDecodeMessages feeds the decoders messages of any content.
func FuzzDecodeMessages(f *testing.F) {
	run := EncodeRun(&emu.Run{Comm: []int{0, 1}, Iterations: 1, Options: collective.Options{Channels: 1}})
	seed, _ := proto.Marshal(run)
	f.Add(seed)
	seed, _ = proto.Marshal(EncodeRecords(someRecords(rand.New(rand.NewPCG(3, 3)), 3)))
	f.Add(seed)
	seed, _ = proto.Marshal(EncodeFailure(Failf(Timeout, "late")))
	f.Add(seed)
	f.Fuzz(func(t *testing.T, b []byte) {
		if m := new(railyardv1.Run); proto.Unmarshal(b, m) == nil {
			if r, err := DecodeRun(m); err == nil {
				EncodeRun(&r)
			}
		}
		if m := new(railyardv1.Cluster); proto.Unmarshal(b, m) == nil {
			if c, err := DecodeCluster(m); err == nil {
				EncodeCluster(&c)
			}
		}
		if m := new(railyardv1.Records); proto.Unmarshal(b, m) == nil {
			if r, err := DecodeRecords(nil, m); err == nil {
				EncodeRecords(r)
			}
		}
		if m := new(railyardv1.FrameHeader); proto.Unmarshal(b, m) == nil {
			if h, err := DecodeHeader(m); err == nil {
				EncodeHeader(&h)
			}
		}
		if m := new(railyardv1.Failure); proto.Unmarshal(b, m) == nil {
			EncodeFailure(DecodeFailure(m))
		}
	})
}
