// Package msccl reads and writes the plans of others: MSCCL's algorithm XML,
// as compilers such as MSCCLang, TACCL, TE-CCL and ForestColl emit it.
//
//	file.go      File: a plan as its file says it, with the lines
//	limits.go    how large a file may be
//	parse.go     Parse: from text to elements, whatever stands around them
//	element.go   what the elements and their attributes mean
//	attr.go      attributes: numbers, words, ranges
//	validate.go  what must fit together before anything is built
//	connect.go   connections: both ends, and messages of one length
//	plan.go      File.Plan: the translation
//	judge.go     File.Judge: the proof, in the file's own numbers
//	export.go    Export: a plan as XML that others can read
//	split.go     blocks with many peers as blocks with one
//
// A file is translated, block for block and step for step, so places in a
// Plan are places in the file. What the file says more than a Plan can is said
// by what a Plan has: copies become one more block that all others wait for,
// and an end of a connection without a partner gets one that never moves, so
// that the run shows the deadlock that hardware would have.
//
// What is not here: a second engine. Check proves the plan, emu/kernel times
// it, emu/payload carries it out.
//
// The package is pure. It imports collective alone.
package msccl
