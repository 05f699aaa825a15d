package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/suggest"
	"github.com/railyard/railyard/shaping"
)

// variable is one of the environment that has no flag of its own.
type variable struct {
	name string
	set  func(c *BenchConfig, value string) error
	// flag is stronger: when it was given the variable has no say.
	flag string
}

// Buffers below leastBuffer would make a long message millions of slices.
const (
	leastBuffer, mostBuffer = 64 << 10, 1 << 30
	leastChunk, mostChunk   = 16 << 10, 4 << 20
	mostChannels            = 64 // MAXCHANNELS of NCCL 2.25 and later
)

// variables are those that are honoured, in the order in which they are read:
// of two names for one thing the later one is stronger, as in NCCL.
var variables = []variable{
	{name: "NCCL_MIN_NCHANNELS", flag: "channels", set: func(c *BenchConfig, v string) error { return whole(&c.Tuning.MinChannels, 1, mostChannels)(v) }},
	{name: "NCCL_MIN_CTAS", flag: "channels", set: func(c *BenchConfig, v string) error { return whole(&c.Tuning.MinChannels, 1, mostChannels)(v) }},
	{name: "NCCL_MAX_NCHANNELS", flag: "channels", set: func(c *BenchConfig, v string) error { return whole(&c.Tuning.MaxChannels, 1, mostChannels)(v) }},
	{name: "NCCL_MAX_CTAS", flag: "channels", set: func(c *BenchConfig, v string) error { return whole(&c.Tuning.MaxChannels, 1, mostChannels)(v) }},
	{name: "NCCL_BUFFSIZE", set: func(c *BenchConfig, v string) error { return sized(&c.Tuning.BufferBytes, leastBuffer, mostBuffer)(v) }},
	{name: "NCCL_LL_BUFFSIZE", set: func(c *BenchConfig, v string) error {
		return sized(&c.Tuning.LLBufferBytes, leastBuffer, mostBuffer)(v)
	}},
	{name: "NCCL_LL128_BUFFSIZE", set: func(c *BenchConfig, v string) error {
		return sized(&c.Tuning.LL128BufferBytes, leastBuffer, mostBuffer)(v)
	}},
	{name: "NCCL_NTHREADS", set: setThreads},
	{name: "NCCL_NVLS_ENABLE", set: func(c *BenchConfig, v string) error {
		n := 0
		err := whole(&n, 0, 2)(v) // 2 is the default: where it is supported
		c.Tuning.NoNVLS = err == nil && n == 0
		return err
	}},
	{name: "NCCL_NVLS_CHUNKSIZE", set: func(c *BenchConfig, v string) error { return sized(&c.Tuning.NVLSChunk, leastChunk, mostChunk)(v) }},
	{name: "NCCL_NVLSTREE_MAX_CHUNKSIZE", set: func(c *BenchConfig, v string) error { return sized(&c.Tuning.NVLSTreeMax, leastChunk, mostChunk)(v) }},
	{name: "NCCL_P2P_NET_CHUNKSIZE", set: func(c *BenchConfig, v string) error { return sized(&c.Tuning.P2PNetChunk, leastChunk, mostChunk)(v) }},
	{name: "NCCL_COLLNET_ENABLE", set: func(c *BenchConfig, v string) error { return switched(&c.Tuning.CollNet)(v) }},
	{name: "NCCL_NET_GDR_LEVEL", set: func(c *BenchConfig, v string) error { c.NoGDR = v == "LOC" || v == "0"; return nil }},
	{name: "NCCL_PXN_DISABLE", flag: "pxn", set: func(c *BenchConfig, v string) error {
		off := false
		err := switched(&off)(v)
		if c.PXN = emu.PXNOn; off {
			c.PXN = emu.PXNOff
		}
		return err
	}},
	{name: "NCCL_CROSS_NIC", flag: "cross-nic", set: func(c *BenchConfig, v string) error { return setCrossNIC(&c.CrossNIC)(v) }},
	{name: "NCCL_DEBUG", set: func(c *BenchConfig, v string) error { return c.Debug.setLevel(v) }},
	{name: "NCCL_DEBUG_SUBSYS", set: func(c *BenchConfig, v string) error { return c.Debug.setSubsystems(v) }},
	{name: "NCCL_DEBUG_FILE", set: func(c *BenchConfig, v string) error { c.Debug.File = v; return nil }},
}

// setThreads reads NCCL_NTHREADS: whole warps.
func setThreads(c *BenchConfig, v string) error {
	const warp, least, most = 32, 64, 512
	if n, err := strconv.Atoi(v); err != nil || n < least || n > most || n%warp != 0 {
		return fmt.Errorf("%q must be a multiple of %d from %d to %d", suggest.Clip(v), warp, least, most)
	}
	return whole(&c.Tuning.Threads, least, most)(v)
}

// sized reads a size between two others, in bytes.
func sized(to *int64, least, most int64) func(string) error {
	return func(s string) error {
		var b int64
		if err := size(&b)(s); err != nil {
			return err
		}
		if b < least || b > most {
			return fmt.Errorf("%q must be from %v to %v", suggest.Clip(s), shaping.Bytes(least), shaping.Bytes(most))
		}
		*to = b
		return nil
	}
}

// switched reads 0 or 1.
func switched(to *bool) func(string) error {
	return func(s string) error {
		if s != "0" && s != "1" {
			return fmt.Errorf("%q must be 0 or 1", suggest.Clip(s))
		}
		*to = s == "1"
		return nil
	}
}

// idleVariable is one that users set and that changes nothing here.
type idleVariable struct {
	name string
	why  string
	// same are values that ask for what is modelled anyway, and need no note.
	same string
}

var idleVariables = []idleVariable{
	{"NCCL_P2P_PXN_LEVEL", "point-to-point messages are forwarded as NCCL_PXN_DISABLE says", "2"},
	{"NCCL_GRAPH_FILE", "rings and trees follow the rails; --plan takes other people's", ""},
	{"NCCL_GRAPH_DUMP_FILE", "no graph file is written", ""},
	{"NCCL_TUNER_PLUGIN", "the tuner is NCCL's own", ""},
	{"NCCL_NET_PLUGIN", "the network is what --fabric says", ""},
	{"NCCL_NET", "the network is what --fabric says; sockets are --fabric rail-tcp-100", "IB"},
	{"NCCL_IB_HCA", "all NICs are used; --nics takes some away", ""},
	{"NCCL_IB_DISABLE", "the network is what --fabric says; sockets are --fabric rail-tcp-100", "0"},
	{"NCCL_IB_TIMEOUT", "transports of bench bear faults as 20 says; resilience in a scenario has others", "20"},
	{"NCCL_IB_RETRY_CNT", "transports of bench bear faults as 7 says; resilience in a scenario has others", "7"},
	{"NCCL_IB_ADAPTIVE_ROUTING", "routing is what --routing says", ""},
	{"NCCL_IB_TC", "all traffic is of one class", ""},
	{"NCCL_IB_FIFO_TC", "all traffic is of one class", ""},
	{"NCCL_IB_QPS_PER_CONNECTION", "a connection is one flow", "1"},
	{"NCCL_NET_GDR_LEVEL", "NICs read GPU memory (GPUDirect) up to PXB, or with LOC never", "LOC 0 PIX PXB"},
	{"NCCL_NET_FORCE_FLUSH", "receipts of Simple are flushed", "1"},
	{"NCCL_DYNAMIC_CHUNK_SIZE", "chunks follow the size as in NVIDIA's NCCL", ""},
	{"NCCL_NET_GDR_READ", "NICs that write GPU memory (GPUDirect) read it, too", "1"},
	{"NCCL_P2P_DISABLE", "GPUs of a server reach each other as the system has it", "0"},
	{"NCCL_P2P_LEVEL", "GPUs of a server reach each other as the system has it", ""},
	{"NCCL_SHM_DISABLE", "GPUs that nothing else joins meet in host memory", "0"},
	{"NCCL_SOCKET_IFNAME", "nothing is emulated over sockets", ""},
	{"NCCL_NCHANNELS_PER_NET_PEER", "channels follow the size, or --channels", ""},
	{"NCCL_THREAD_THRESHOLDS", "NCCL's own thresholds are modelled", ""},
	{"NCCL_LL128_NTHREADS", "640 threads are modelled", "640"},
	{"NCCL_RAS_ADDR", "there is no RAS service", ""},
	{"NCCL_RAS_TIMEOUT_FACTOR", "there is no RAS service", ""},
	{"MSCCL_ALGO_DIR", "name the plan with --plan", ""},
	{"MSCCL_XML_FILES", "name the plan with --plan", ""},
	{"CUDA_VISIBLE_DEVICES", "the emulated GPUs are all visible; --ranks takes some, such as --ranks 3,5", ""},
	{"HIP_VISIBLE_DEVICES", "the emulated GPUs are all visible; --ranks takes some, such as --ranks 3,5", ""},
	{"ROCR_VISIBLE_DEVICES", "the emulated GPUs are all visible; --ranks takes some, such as --ranks 3,5", ""},
	{"RANK", "one command runs all ranks", ""},
	{"WORLD_SIZE", "one command runs all ranks; --nodes and --gpus-per-node say how many", ""},
	{"LOCAL_RANK", "one command runs all ranks", ""},
	{"MASTER_ADDR", "one command runs all ranks", ""},
	{"MASTER_PORT", "one command runs all ranks", ""},
}

// variables reads the environment that has no flag. All that is set is kept for
// the report; what has no say here is noted once.
func (l *benchLine) variables(a *App) error {
	c := &l.config
	var errs []error
	for _, v := range variables {
		value := a.Getenv(v.name)
		if value == "" || v.flag != "" && l.given(v.flag) {
			continue
		}
		if err := v.set(c, value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", v.name, err))
			continue
		}
		c.Env = append(c.Env, v.name+"="+value)
	}
	if t := &c.Tuning; t.MaxChannels > 0 && t.MinChannels > t.MaxChannels {
		errs = append(errs, fmt.Errorf("NCCL_MIN_NCHANNELS %d is above NCCL_MAX_NCHANNELS %d", t.MinChannels, t.MaxChannels))
	}
	for _, v := range idleVariables {
		value := a.Getenv(v.name)
		if value == "" {
			continue
		}
		c.Env = append(c.Env, v.name+"="+value)
		if l.said(v.name) != "" && !strings.Contains(" "+v.same+" ", " "+value+" ") {
			l.notes = append(l.notes, fmt.Sprintf("%s=%s has no effect: %s", v.name, suggest.Clip(value), v.why))
		}
	}
	return errors.Join(errs...)
}
