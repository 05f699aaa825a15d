// Package trial judges a batch while it runs: whether it may go on, up to which
// instant, and if not, why. Every host of the kernel asks it the same questions,
// so all end a failed batch at the same picosecond.
//
//	trial.go    Trial: how far kernels may run, and when the batch is over
//	verdict.go  the Failure of a batch that was ended
//	circle.go   who waits for whom, over several communicators
//
// A batch fails by what a kernel gave up on (a transport whose retries are used
// up, a way that is closed), by what the schedule says about a process or GPU
// (news of it takes Resilience.Control), by calls that do not match, or because
// the watchdog saw no progress. From a kernel's failure on it goes on until all
// ranks have been told, again Resilience.Control; later for those whom a partition
// keeps from the news.
//
// What is not here: kernels, and what is done about a failure (emu/experiment).
// May import: emu, emu/fabric, emu/fault, shaping.
package trial
