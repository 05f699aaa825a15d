package tuner

import "github.com/railyard/railyard/shaping"

// Generation is a GPU architecture, as far as NCCL tells them apart.
type Generation uint8

// The generations.
const (
	Volta Generation = iota
	Ampere
	Hopper
	Blackwell
)

// GenerationOf returns the generation of a compute capability × 10: 90 is
// Hopper. What is older counts as Volta, what is newer as Blackwell.
func GenerationOf(compute int) Generation {
	switch {
	case compute < 80:
		return Volta
	case compute < 90:
		return Ampere
	case compute < 100:
		return Hopper
	default:
		return Blackwell
	}
}

// byNodes is a cap for 1, 2, and 3 or more nodes.
type byNodes [3]shaping.Rate

// Caps by generation (NCCL 2.30, src/graph/tuning.cc), in MB/s.
var (
	// llMax is of all channels together. Over several nodes NCCL takes the row
	// by the CPU: Intel Volta's, AMD Ampere's, unless the GPU is Hopper or later.
	llMax = [...]byNodes{
		Volta:     {39_000 * mbps, 39_000 * mbps, 20_400 * mbps},
		Ampere:    {87_700 * mbps, 22_500 * mbps, 19_000 * mbps},
		Hopper:    {141_000 * mbps, 45_000 * mbps, 35_000 * mbps},
		Blackwell: {282_000 * mbps, 90_000 * mbps, 70_000 * mbps},
	}
	// The others are of one channel.
	ringLL128 = [...]shaping.Rate{Volta: 20_000 * mbps, Ampere: 20_000 * mbps, Hopper: 36_700 * mbps, Blackwell: 40_000 * mbps}
	treeLL128 = [...]byNodes{
		Volta:     {20_000 * mbps, 20_000 * mbps, 20_000 * mbps},
		Ampere:    {20_000 * mbps, 20_000 * mbps, 20_000 * mbps},
		Hopper:    {36_700 * mbps, 36_700 * mbps, 29_000 * mbps},
		Blackwell: {55_600 * mbps, 31_670 * mbps, 20_000 * mbps},
	}
	treeMax = [...]byNodes{
		Volta:     {26_500 * mbps, 18_500 * mbps, 10_000 * mbps},
		Ampere:    {24_000 * mbps, 23_600 * mbps, 17_800 * mbps},
		Hopper:    {38_700 * mbps, 41_400 * mbps, 36_000 * mbps},
		Blackwell: {70_000 * mbps, 42_800 * mbps, 24_000 * mbps},
	}
	nvlsTreeMax = [...]byNodes{ // 0: none
		Hopper:    {0, 57_700 * mbps, 45_500 * mbps},
		Blackwell: {0, 96_000 * mbps, 80_000 * mbps},
	}
	nvlsEfficiency = [...]int64{Hopper: 850, Blackwell: 740} // ‰
)

// nvlinkRate is what NCCL takes a GPU's NVLinks to carry one way: links × rate
// of one (src/graph/topo.h). Version 2.18 took 20.0 for Hopper's 20.6, versions
// before 2.30 took 40.0 for Blackwell's 40.1.
func nvlinkRate(g Generation, minor int) shaping.Rate {
	switch g {
	case Volta:
		return 6 * 20_000 * mbps
	case Ampere:
		return 12 * 20_000 * mbps
	case Hopper:
		if minor == 18 {
			return 18 * 20_000 * mbps
		}
		return 18 * 20_600 * mbps
	default:
		if minor < 30 {
			return 18 * 40_000 * mbps
		}
		return 18 * 40_100 * mbps
	}
}

// pcieRate is what NCCL takes a x16 slot to carry: gen 3, 4, 5, and 6.
var pcieRate = [...]shaping.Rate{Volta: 12_000 * mbps, Ampere: 24_000 * mbps, Hopper: 48_000 * mbps, Blackwell: 96_000 * mbps}

// Speeds a channel that the graph search tries, in MB/s, fastest first
// (src/graph/search.cc).
var (
	speedsIntra = [...][]shaping.Rate{
		Volta:     {40_000, 30_000, 20_000, 18_000, 15_000, 12_000, 10_000, 9000, 7000, 6000, 5000, 4000, 3000},
		Ampere:    {40_000, 30_000, 20_000, 18_000, 15_000, 12_000, 10_000, 9000, 7000, 6000, 5000, 4000, 3000},
		Hopper:    {60_000, 50_000, 40_000, 30_000, 24_000, 20_000, 15_000, 12_000, 11_000, 6000, 3000},
		Blackwell: {90_000, 80_000, 70_000, 60_000, 50_000, 45_000, 40_000, 30_000, 24_000, 20_000, 19_000, 18_000},
	}
	speedsInter = [...][]shaping.Rate{
		Volta:  {48_000, 30_000, 28_000, 24_000, 20_000, 18_000, 15_000, 12_000, 10_000, 9000, 7000, 6000, 5000, 4000, 3000, 2400, 1200, 240, 120},
		Ampere: {48_000, 30_000, 28_000, 24_000, 20_000, 18_000, 15_000, 12_000, 10_000, 9000, 7000, 6000, 5000, 4000, 3000, 2400, 1200, 240, 120},
		// What follows 6 GB/s, and on Blackwell 30 GB/s, is that of the others.
		Hopper:    {48_000, 45_000, 42_000, 40_000, 30_000, 24_000, 22_000, 20_000, 17_500, 15_000, 12_000, 6000, 3000, 2400, 1200, 240, 120},
		Blackwell: {96_000, 86_000, 80_000, 48_000, 45_100, 42_000, 40_000, 30_000, 24_000, 20_000, 15_000, 12_000, 6000, 3000, 2400, 1200, 240, 120},
	}
)
