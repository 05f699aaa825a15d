// Package report writes the results of a benchmark the way nccl-tests does, so
// that whatever reads nccl-tests' output reads ours.
//
//	row.go      Row and Cell: one line of the table; bandwidths and their factors
//	summary.go  Summary: errors and average bus bandwidth of the rows so far
//	writer.go   Writer, Header, Footer: what every format is given, and when
//	sink.go     Sink, Start: the other end: what a benchmark tells while it runs
//	table.go    Table: nccl-tests' table, to the column
//	json.go     JSON: nccl-tests' -J, version 3, plus the key "railyard"
//	csv.go      CSV: one record a row
//	format.go   numbers as C prints them
//
// Formats follow NVIDIA/nccl-tests of July 2026 (src/common.cu, src/util.cu);
// where a version before it differs, the comment says so.
//
// What is not here: where results come from, and where they go. Writers write
// each row as it is given; they neither open files nor know a terminal.
//
// Floats are fine here: they print what integers decided. May import:
// collective, emu/sweep. Imported by internal/cli and by whatever runs benchmarks.
package report
