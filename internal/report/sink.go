package report

// Sink takes what a benchmark finds, as it finds it. Whoever runs one calls
// Begin once, when the ranks are known, Row as each row is done, and End once,
// also when the run fails after Begin. An error means that the results can't
// be delivered: the run may as well stop.
//
// A sink is used by one goroutine at a time.
type Sink interface {
	Begin(Start) error
	Row(Row) error
	// Progress says what is being done, and how much of it; total 0 says that
	// nobody knows. It never fails: nobody's result depends on it.
	Progress(done, total int, what string)
	End(Footer) error
}

// Start is what only the running cluster can tell of a benchmark.
type Start struct {
	Ranks       int      // of the communicator of rank 0
	Devices     []Device // one a rank, of all communicators
	NCCLVersion int      // of the library that is modelled: 23007 is 2.30.7
}
