// Package smi reads and prints the table of nvidia-smi topo -m: how near the
// GPUs and NICs of a server are to each other, and to which CPUs. It reads the
// tables of rocm-smi and amd-smi, too.
//
//	scan.go    lines as people paste them: which are header, rows, legend
//	line.go    what a line says, without what pasting and logging put around it
//	rocm.go    what AMD's tools print, made such a table
//	cell.go    what stands in a cell, and behind the cells
//	table.go   Table: cells by device; what was said twice, or not at all
//	group.go   devices that are near each other, level by level
//	build.go   Read: a machine with just these distances
//	nvlink.go  point to point or switched: what the counts allow
//	remark.go  what the table does not tell
//	print.go   Matrix: the table of a machine
//
// A table says distances, no bridges: those of the machine are made up, as are
// bus ids, so that each known cell comes out again. What cannot be is noted.
//
//	PIX ── one bridge          PHB ── one host bridge
//	PXB ── bridges below one   NODE ─ one NUMA node       SYS ── apart
//
// The package is pure. It imports emu/machine.
package smi
