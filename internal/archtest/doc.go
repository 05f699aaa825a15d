// Package archtest holds the rules of this tree that a compiler does not check,
// as tests:
//
//	table_test.go    the import table: who may import whom, and why
//	imports_test.go  the table is kept: ours, other people's modules, the standard library
//	purity_test.go   below the purity line: no goroutine, no channel, no unordered map, no float
//	style_test.go    sizes, package docs, init, marks left behind, prints, paths of a machine
//	maps_test.go     the map in each doc.go names the files that are there
//	tree_test.go     the tree as the rules see it: read once, parsed, nothing executed
//	types_test.go    type information of the pure packages
//	rules_test.go    the list of rules, applied to this tree and to the samples
//	samples_test.go  small sources that break each rule, and some that only seem to
//
// A rule is a function from a tree to findings, so the same function judges the
// checkout and the sources made up to break it. Files are read without regard
// to build tags: a rule that holds on Linux alone does not hold.
//
// What is not here: formatting and vet (make lint), the wire contract (buf).
//
// There is no code to import. The package reads the whole module and belongs
// to nobody's import graph.
package archtest
