package cli

import (
	"context"
	"errors"
	"fmt"
)

// Exit codes of every command.
const (
	ExitOK       = 0
	ExitInvalid  = 1  // wrong data, a failed expectation, a failed run
	ExitUnjudged = 2  // could not judge: host too slow, a process crashed, timed out, interrupted
	ExitUsage    = 64 // a bad command line or a bad file
)

// ExitError is an error that says with which code the program ends. What runs
// behind Hosts may return one, or any error with an ExitCode method.
type ExitError struct {
	Code int
	Err  error
}

// Error returns the text of the error inside.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap returns the error inside.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode returns the code.
func (e *ExitError) ExitCode() int { return e.Code }

// usagef returns an error that ends the program with ExitUsage.
func usagef(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Errorf(format, args...)}
}

// notYet says that a later version will do it.
func notYet(what string) error { return fmt.Errorf("%s: not yet", what) }

// exitCode returns the code an error ends the program with. An error that
// names none is a failure of the machinery, not of what was measured.
func exitCode(err error) int {
	var coded interface {
		error
		ExitCode() int
	}
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &coded):
		return coded.ExitCode()
	default:
		return ExitUnjudged
	}
}

// plainly puts what Go calls a cancelled context into words.
func plainly(err error) error {
	switch {
	case errors.Is(err, context.Canceled) && exitCode(err) == ExitUnjudged:
		return &ExitError{ExitUnjudged, errors.New("interrupted")}
	case errors.Is(err, context.DeadlineExceeded) && exitCode(err) == ExitUnjudged:
		return &ExitError{ExitUnjudged, errors.New("timed out; see --timeout")}
	default:
		return err
	}
}
