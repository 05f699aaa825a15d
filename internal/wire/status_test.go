package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

func TestCauses(t *testing.T) {
	if got, want := len(causes), len(railyardv1.Cause_name)-1; got != want {
		t.Fatalf("%d causes, but the contract has %d", got, want)
	}
	for i, c := range []struct {
		cause Cause
		word  string
		code  codes.Code
	}{
		{Bug, "bug", codes.Internal},
		{Config, "config", codes.InvalidArgument},
		{NotYet, "not-yet", codes.Unimplemented},
		{PeerLost, "peer-lost", codes.Unavailable},
		{LinkDown, "link-down", codes.Unavailable},
		{Timeout, "timeout", codes.DeadlineExceeded},
		{Mismatch, "mismatch", codes.FailedPrecondition},
		{Deadlock, "deadlock", codes.FailedPrecondition},
		{Aborted, "aborted", codes.Aborted},
	} {
		if int(c.cause) != i || c.cause.String() != c.word {
			t.Errorf("cause %d is %v, want %s", c.cause, c.cause, c.word)
		}
		err := ToStatus(fmt.Errorf("bench: %w", Failf(c.cause, "size %d", 5)))
		if got := status.Code(err); got != c.code {
			t.Errorf("%v has code %v, want %v", c.cause, got, c.code)
		}
		if got := FromStatus(err); *got != *Failf(c.cause, "size 5") {
			t.Errorf("%v comes back as %+v", c.cause, got)
		}
		// Whoever knows gRPC alone still reads what happened.
		if got, want := status.Convert(err).Message(), c.word+": size 5"; got != want {
			t.Errorf("%v says %q, want %q", c.cause, got, want)
		}
	}
}

func TestErrorsThatAreNoFailures(t *testing.T) {
	for _, c := range []struct {
		err   error
		code  codes.Code
		cause Cause
	}{
		{errors.New("surprise"), codes.Internal, Bug},
		{fmt.Errorf("run: %w", context.Canceled), codes.Aborted, Aborted},
		{context.DeadlineExceeded, codes.DeadlineExceeded, Timeout},
		{status.Error(codes.Unavailable, "connection refused"), codes.Unavailable, PeerLost},
		{status.Error(codes.Canceled, "call ended"), codes.Canceled, Aborted},
		{status.Error(codes.ResourceExhausted, "message too large"), codes.ResourceExhausted, Bug},
		{status.Error(codes.Unimplemented, "unknown method"), codes.Unimplemented, NotYet},
	} {
		err := ToStatus(c.err)
		if got := status.Code(err); got != c.code {
			t.Errorf("%v: code %v, want %v", c.err, got, c.code)
		}
		if got := FromStatus(err).Cause; got != c.cause {
			t.Errorf("%v: cause %v, want %v", c.err, got, c.cause)
		}
	}
	if got := FromStatus(errors.New("no status")); got.Cause != Bug || got.Place != Nowhere() || got.At != NoInstant {
		t.Errorf("got %+v", got)
	}
	if ToStatus(nil) != nil {
		t.Error("no error became one")
	}
}

func TestFailureRoundTrip(t *testing.T) {
	everywhere := Failure{
		Cause: LinkDown, Text: "no more tries", Member: "node3",
		Place: Place{Run: 0, Rank: 5, Channel: 0, Step: 12, Peer: 4, Link: "node0/nic4"}, At: 0,
	}
	for _, want := range []Failure{
		*Failf(Config, "size %s: not a multiple of 4", "7"),
		everywhere,
		{Cause: PeerLost, Place: Place{Run: -1, Rank: 3, Channel: -1, Step: -1, Peer: -1}, At: NoInstant, Took: time.Second},
	} {
		got := DecodeFailure(over(t, EncodeFailure(&want), &railyardv1.Failure{}))
		if *got != want {
			t.Errorf("got %+v, want %+v", *got, want)
		}
	}
	const say = "link-down: no more tries (member node3, run 0, rank 5, channel 0, step 12, peer 4, link node0/nic4, at 0 ps)"
	if got := everywhere.Error(); got != say {
		t.Errorf("it says %q, want %q", got, say)
	}
}

func TestFailureFromAnyone(t *testing.T) {
	later := &railyardv1.Failure{Cause: 99, Text: "of a later version", AtPs: proto.Int64(-1)}
	if got := DecodeFailure(later); got.Cause != Bug || got.Text != later.Text || got.At != NoInstant {
		t.Errorf("got %+v", got)
	}
	if got := DecodeFailure(nil); *got != *Failf(Bug, "") {
		t.Errorf("nothing decodes to %+v", got)
	}
	// A file name can hold any byte, and errors quote file names.
	typed := Failf(Config, "file %s: missing", "caf\xe9.yaml")
	if got := FromStatus(ToStatus(typed)).Text; got != "file caf\uFFFD.yaml: missing" {
		t.Errorf("text with a broken rune comes back as %q", got)
	}
}
