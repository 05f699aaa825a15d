package archtest

// level orders the kinds of package from the core outwards. A test may import
// whatever lies at its own package's level or below, and support.
type level int

const (
	pure     level = iota // below the purity line: values in, values out
	contract              // generated from the wire contract
	glue                  // between the core and a host: translates, joins, prints
	host                  // goroutines, sockets, clocks
	program               // what a user types
	support               // for tests: no code but other support imports it, any test may
)

// row is what one package may do. A package without a row fails the test.
type row struct {
	path  string // relative to the module
	level level
	// imports are the packages of ours that its code (not its tests) may
	// import. Each of them stands higher up in the table, so the table cannot
	// permit a cycle, nor an import against the direction.
	imports []string
	// modules are other people's modules, by import path prefix.
	modules []string
	// std is what a pure package needs of the standard library beyond pureStd.
	std []string
	// floats says why a pure package may use floats. Empty: it may not.
	floats string
	// never are packages it must not reach, not even by way of others.
	never  []string
	stdout bool // it may print to stdout
	reason string
}

// Modules that several rows name.
const (
	grpc      = "google.golang.org/grpc"
	protobuf  = "google.golang.org/protobuf"
	zap       = "go.uber.org/zap"
	xterm     = "golang.org/x/term"
	xcpu      = "golang.org/x/sys/cpu"     // which instructions there are: same bits, other speed
	nettest   = "golang.org/x/net/nettest" // what package net promises of a connection; for tests
	xunix     = "golang.org/x/sys/unix"
	yaml      = "github.com/goccy/go-yaml"
	cobra     = "github.com/spf13/cobra"
	pflag     = "github.com/spf13/pflag"
	progress  = "github.com/schollz/progressbar/v3"
	renameio  = "github.com/google/renameio/v2"
	memberlst = "github.com/hashicorp/memberlist"
)

// testModules may be imported by every package's tests.
var testModules = []string{"github.com/cockroachdb/datadriven", "go.uber.org/goleak"}

// pureStd is the part of the standard library that computes and does nothing
// else. What is missing is missing on purpose: os, net, io/fs, context, sync,
// time, log, runtime, reflect, math/rand (a stream of random numbers depends on
// who draws first) and hash/maphash (seeded anew in each process).
var pureStd = []string{
	"bufio", "bytes", "cmp", "container/heap", "crypto/sha256", "embed",
	"encoding/binary", "encoding/hex", "encoding/json", "encoding/xml", "errors",
	"fmt", "hash", "hash/crc32", "hash/fnv", "io", "iter", "maps", "math",
	"math/big", "math/bits", "regexp", "slices", "sort", "strconv", "strings",
	"text/tabwriter", "unicode", "unicode/utf8",
}

// table is the import table. Its order is the direction of imports.
var table = []row{
	{path: "shaping", level: pure,
		reason: "instants and rates are the ground: whoever needs them must not need a cluster as well"},
	{path: "shaping/pacer", level: host,
		imports: []string{"shaping"},
		modules: []string{xunix},
		reason:  "public: wall time to the microsecond, one thread a process; waits for whoever shapes real streams and knows no link"},
	{path: "collective", level: pure,
		std:     []string{"unsafe"},
		modules: []string{xcpu},
		floats:  "elements are floats; their arithmetic decides answers, never instants",
		reason:  "public: an algorithm is one file against Plan, without time or hardware"},
	{path: "collective/msccl", level: pure,
		imports: []string{"collective"},
		reason:  "other people's plans: a translation to and from Plan, public like it; no second engine"},
	{path: "emu/suggest", level: pure,
		reason: "did-you-mean for cluster files and flags alike, so neither owns it"},
	{path: "emu/machine", level: pure,
		imports: []string{"shaping"},
		reason:  "the inside of a server as a graph; readers of files and cluster files share it, and it decides no time"},
	{path: "emu/machine/smi", level: pure,
		imports: []string{"emu/machine"},
		reason:  "tables of nvidia-smi topo -m, in and out, and those of rocm-smi in"},
	{path: "emu/machine/topoxml", level: pure,
		imports: []string{"shaping", "emu/machine"},
		reason:  "NCCL's and RCCL's topology files, in and out"},
	{path: "emu/network", level: pure,
		imports: []string{"shaping"},
		reason:  "switches and cables as a graph, and ways through it; knows no server"},
	{path: "emu", level: pure,
		imports: []string{"shaping", "collective", "emu/suggest", "emu/machine", "emu/network"},
		modules: []string{yaml},
		reason:  "the nouns; reads cluster files from bytes, hence YAML"},
	{path: "emu/catalog", level: pure,
		imports: []string{"shaping", "collective", "emu/machine"},
		reason:  "figures of the field: rates, latencies, protocol efficiencies"},
	{path: "shaping/link", level: host,
		imports: []string{"shaping", "shaping/pacer", "emu/suggest", "emu/catalog"},
		modules: []string{nettest},
		reason:  "public: anybody's connections as a link would carry them, links named by the catalog; knows no cluster and no gRPC"},
	{path: "shaping/grpcshape", level: host,
		imports: []string{"shaping/link"},
		modules: []string{grpc, protobuf},
		reason:  "public: two options for anybody's gRPC; apart from shaping/link, so that others need not have gRPC"},
	{path: "emu/network/survey", level: pure,
		imports: []string{"shaping", "emu"},
		modules: []string{yaml},
		reason:  "networks as other tools describe them, made into cluster files; so it stands above emu"},
	{path: "emu/tuner", level: pure,
		imports: []string{"shaping", "collective"},
		never:   []string{"emu/catalog"},
		reason:  "chooses as NCCL does, from NCCL's published constants, never from calibrated figures"},
	{path: "emu/fabric", level: pure,
		imports: []string{"shaping", "collective", "emu", "emu/catalog", "emu/machine", "emu/network"},
		reason:  "makes a Cluster concrete out of the catalog's figures"},
	{path: "emu/fault", level: pure,
		imports: []string{"shaping", "emu/suggest", "emu", "emu/fabric"},
		never:   []string{"emu/kernel", "emu/transit"},
		reason:  "declared faults made into what each part is like at each instant; every participant asks it, so it runs nothing"},
	{path: "emu/sweep", level: pure,
		imports: []string{"shaping", "collective", "emu", "emu/catalog", "emu/tuner", "emu/fabric"},
		never:   []string{"emu/kernel"},
		floats:  "an estimate of memory against the payload budget",
		reason:  "bench and predict ask the same question; so it runs nothing itself"},
	{path: "emu/trial", level: pure,
		imports: []string{"shaping", "emu", "emu/fabric", "emu/fault"},
		never:   []string{"emu/kernel", "emu/transit"},
		reason:  "when a struck batch is over, and why: one answer for predict and the coordinator, so it runs nothing itself"},
	{path: "emu/transit", level: pure,
		imports: []string{"shaping", "collective", "emu", "emu/fabric", "emu/fault"},
		never:   []string{"emu/kernel", "emu/payload"},
		reason:  "frames on ports, by protocol; the coordinator's fabric runs it, so it executes no plan"},
	{path: "emu/topo", level: pure,
		imports: []string{"shaping", "collective", "emu/suggest", "emu/catalog", "emu/fabric", "emu/transit"},
		never:   []string{"emu/kernel", "emu/payload"},
		reason:  "what the hardware gives without any plan, so that ports are pinned apart from collectives"},
	{path: "emu/draw", level: pure,
		imports: []string{"shaping", "emu/machine", "emu/network"},
		reason:  "the hardware as a picture: lays out a graph, and knows neither catalog nor time"},
	{path: "emu/wiring", level: pure,
		imports: []string{"collective"},
		reason:  "ids that kernel and payload agree on without knowing each other"},
	{path: "emu/payload", level: pure,
		imports: []string{"collective", "emu", "emu/wiring"},
		floats:  "real elements",
		reason:  "what moves do to buffers; knows no time, so data cannot bend an instant"},
	{path: "emu/kernel", level: pure,
		imports: []string{"shaping", "collective", "emu", "emu/catalog", "emu/fabric", "emu/transit", "emu/wiring", "emu/fault"},
		never:   []string{"emu/payload"},
		reason:  "decides every instant from headers alone; payload follows its moves, never the reverse"},
	{path: "emu/window", level: pure,
		imports: []string{"shaping", "emu/transit"},
		never:   []string{"emu/kernel"},
		reason:  "the arithmetic of horizons, run by the coordinator, which may hold no kernel"},
	{path: "emu/pace", level: pure,
		imports: []string{"shaping"},
		reason:  "emulated time against the wall, reckoned with numbers that are passed in, so that no test waits"},
	{path: "emu/timeline", level: pure,
		imports: []string{"collective", "emu"},
		reason:  "records as text; reads what a kernel wrote, needs none itself"},
	{path: "emu/predict", level: pure,
		imports: []string{"shaping", "emu", "emu/fabric", "emu/transit", "emu/kernel", "emu/fault", "emu/trial"},
		never:   []string{"emu/window"},
		reason:  "the reference answer: one kernel to the end, with no window that could be wrong in the same way"},
	{path: "emu/experiment", level: pure,
		imports: []string{"shaping", "collective", "emu", "emu/fabric", "emu/fault", "emu/sweep"},
		never:   []string{"emu/kernel", "emu/predict"},
		reason:  "attempts, policies and verdicts, whoever executes the batches; so it executes none"},
	{path: "emu/rehearse", level: pure,
		imports: []string{"shaping", "emu", "emu/kernel", "emu/payload", "emu/predict", "emu/experiment"},
		never:   []string{"emu/window"},
		reason:  "scenarios in one kernel: finds instants before a run, and is the reference for real processes"},

	{path: "proto/railyard/v1", level: contract,
		modules: []string{grpc, protobuf},
		reason:  "the wire contract, generated; whoever speaks it needs nothing of ours"},
	{path: "internal/wire", level: glue,
		imports: []string{"shaping", "collective", "collective/msccl", "emu", "emu/transit", "emu/tuner", "emu/sweep", "emu/pace", "proto/railyard/v1"},
		modules: []string{grpc, protobuf},
		reason:  "the only translator between the contract and the core"},
	{path: "internal/gossip", level: glue,
		modules: []string{memberlst, zap},
		reason:  "who is here; a roster of processes that does not know what they emulate"},
	{path: "internal/report", level: glue,
		imports: []string{"collective", "emu/sweep"},
		reason:  "prints results as nccl-tests does; to a writer it is given"},

	{path: "internal/lab", level: glue,
		imports: []string{"shaping", "emu", "emu/experiment"},
		modules: []string{renameio},
		reason:  "what became of a scenario, as files; what the host's clock says stays apart"},

	{path: "internal/wallclock", level: host,
		imports: []string{"shaping/pacer"},
		reason:  "a clock that hosts share and tests replace"},
	{path: "internal/nodesim", level: host,
		imports: []string{"shaping", "emu", "emu/fabric", "emu/transit", "emu/wiring", "emu/payload", "emu/kernel", "emu/pace",
			"proto/railyard/v1", "internal/wire", "internal/gossip", "internal/wallclock", "emu/fault"},
		modules: []string{grpc, zap},
		never:   []string{"emu/predict", "internal/coordinator"},
		reason:  "owns a node's kernel; an answer it could look up in predict would prove nothing"},
	{path: "internal/coordinator", level: host,
		imports: []string{"shaping", "emu", "emu/fabric", "emu/transit", "emu/sweep", "emu/window", "emu/timeline", "emu/pace",
			"proto/railyard/v1", "internal/wire", "internal/gossip", "internal/wallclock", "emu/suggest", "emu/fault", "emu/trial"},
		modules: []string{grpc, zap},
		never:   []string{"emu/kernel", "emu/predict", "emu/payload", "internal/nodesim"},
		reason:  "the law is not kept by theatre: timings come from the kernels in the nodesims, so it can compute none"},

	{path: "internal/proxy", level: host,
		imports: []string{"shaping", "shaping/link"},
		modules: []string{zap},
		reason:  "any TCP program on a link; part of nodesim's binary, and nothing of a node"},

	{path: "internal/cli", level: program,
		imports: []string{"shaping", "shaping/link", "collective", "collective/msccl", "emu/suggest", "emu/machine", "emu/machine/smi", "emu/machine/topoxml", "emu/network/survey",
			"emu", "emu/catalog", "emu/network", "emu/fabric", "emu/fault", "emu/topo", "emu/draw", "emu/tuner", "emu/sweep", "emu/experiment", "emu/pace", "internal/report"},
		modules: []string{cobra, pflag, zap, xterm, progress, renameio},
		never:   []string{"emu/predict", "internal/nodesim", "internal/coordinator"},
		stdout:  true,
		reason:  "flags to Config; what runs is brought by cmd, so all of it is tested without a host"},
	{path: "internal/verbs", level: program,
		imports: []string{"shaping", "collective", "emu", "emu/catalog", "emu/fabric", "emu/fault", "emu/kernel", "emu/tuner", "emu/sweep", "emu/experiment", "emu/rehearse",
			"emu/pace", "internal/wallclock", "emu/timeline", "emu/predict", "proto/railyard/v1", "internal/wire", "internal/gossip", "internal/report", "internal/lab",
			"internal/coordinator", "internal/cli"},
		never:  []string{"internal/nodesim"},
		stdout: true,
		reason: "what the commands do: the one place where the coordinator and predict meet"},
	{path: "cmd/coordinator", level: program,
		imports: []string{"internal/cli", "internal/verbs"},
		reason:  "thin: hands the verbs to the command line"},
	{path: "cmd/nodesim", level: program,
		imports: []string{"internal/gossip", "internal/nodesim", "internal/proxy", "internal/cli"},
		never:   []string{"emu/predict", "internal/coordinator"},
		reason:  "thin: hands a Config over and exits with the code it gets"},

	{path: "internal/shapebench", level: program,
		imports: []string{"shaping/link"},
		stdout:  true,
		reason:  "measures what shaping/link promises, from outside, as anybody could"},
	{path: "examples/shapedgrpc", level: program,
		imports: []string{"shaping/link", "shaping/grpcshape"},
		modules: []string{grpc},
		stdout:  true,
		reason:  "what a user of grpcshape writes, and nothing else"},

	{path: "emu/machine/machinetest", level: support,
		imports: []string{"shaping", "emu/machine"},
		reason:  "draws machines; all that read and write them test round trips with it"},
	{path: "emu/simtest", level: support,
		imports: []string{"shaping", "collective", "emu", "emu/fabric", "emu/transit", "emu/wiring", "emu/payload",
			"emu/kernel", "emu/window", "emu/predict", "emu/fault", "emu/trial", "emu/experiment", "emu/rehearse"},
		reason: "draws clusters, runs, scenarios and delays, and compares predict with virtual in one goroutine"},
	{path: "emu/emutest", level: support,
		imports: []string{"shaping", "collective", "emu", "emu/fabric", "emu/fault", "emu/kernel", "emu/predict", "emu/simtest"},
		reason:  "public: one call tries a plan inside anybody's go test"},
	{path: "internal/gossip/memnet", level: support,
		modules: []string{memberlst},
		reason:  "a network for synctest; hosts may want it in their tests, and need not know the roster"},
	{path: "internal/e2e", level: support,
		reason: "real processes, known by their command line alone"},
	{path: "internal/archtest", level: support,
		reason: "reads the tree, imports none of it"},
}
