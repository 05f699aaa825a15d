package verbs

import (
	"context"
	"errors"

	"github.com/railyard/railyard/internal/cli"
	"github.com/railyard/railyard/internal/wire"
)

// Hosts returns what the coordinator's commands run.
func Hosts(version string) cli.Hosts {
	v := verbs{version}
	return cli.Hosts{Bench: v.bench, Predict: v.predict, Run: v.scenario, Serve: v.serve, Status: v.status, Up: v.up, Down: v.down, Faults: v.faults, Explain: v.explain, Doctor: v.doctor}
}

type verbs struct{ version string }

// coded gives an error the exit code of its cause. A run that was asked to end
// says so in the words of the command line.
func coded(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var f *wire.Failure
	if !errors.As(err, &f) {
		return err
	}
	if f.ExitCode() == cli.ExitUsage {
		// The text names the flag or field, which is all the user needs.
		return &cli.ExitError{Code: cli.ExitUsage, Err: errors.New(f.Text)}
	}
	return &failed{f}
}

// failed puts a failure as a verdict.
type failed struct{ *wire.Failure }

func (f *failed) Error() string { return "failed: " + f.Failure.Error() }

func (f *failed) Unwrap() error { return f.Failure }
