package wire

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

// causes is what each cause is called, on the wire and to programs that know
// gRPC but not Railyard. Of causes with the same code the first is what a bare
// code means.
var causes = [...]struct {
	cause Cause
	name  string // the verdict word of results
	wire  railyardv1.Cause
	code  codes.Code
}{
	{Bug, "bug", railyardv1.Cause_CAUSE_BUG, codes.Internal},
	{Config, "config", railyardv1.Cause_CAUSE_CONFIG, codes.InvalidArgument},
	{NotYet, "not-yet", railyardv1.Cause_CAUSE_NOT_YET, codes.Unimplemented},
	{PeerLost, "peer-lost", railyardv1.Cause_CAUSE_PEER_LOST, codes.Unavailable},
	{LinkDown, "link-down", railyardv1.Cause_CAUSE_LINK_DOWN, codes.Unavailable},
	{Timeout, "timeout", railyardv1.Cause_CAUSE_TIMEOUT, codes.DeadlineExceeded},
	{Mismatch, "mismatch", railyardv1.Cause_CAUSE_MISMATCH, codes.FailedPrecondition},
	{Deadlock, "deadlock", railyardv1.Cause_CAUSE_DEADLOCK, codes.FailedPrecondition},
	{Aborted, "aborted", railyardv1.Cause_CAUSE_ABORTED, codes.Aborted},
}

// ToStatus returns err as the error of an RPC handler: a gRPC status whose code
// follows the cause and whose details hold the Failure. An error that is no
// Failure counts as a bug, unless it is a status already or the end of a
// context. nil stays nil.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	var f *Failure
	if !errors.As(err, &f) {
		if _, ok := status.FromError(err); ok {
			return err
		}
		f = &Failure{Cause: causeOf(err), Text: err.Error(), Place: Nowhere(), At: NoInstant}
	}
	s := status.New(codeOf(f.Cause), f.Error())
	// Details fail only for codes.OK, which no cause has.
	if detailed, err := s.WithDetails(EncodeFailure(f)); err == nil {
		s = detailed
	}
	return s.Err()
}

// FromStatus returns what an RPC's error says: the Failure it carries, or one
// made from its code. There must be an error: nil is a bug and panics.
func FromStatus(err error) *Failure {
	if err == nil {
		panic("wire: FromStatus of no error")
	}
	s, ok := status.FromError(err)
	if !ok {
		return &Failure{Cause: causeOf(err), Text: err.Error(), Place: Nowhere(), At: NoInstant}
	}
	for _, d := range s.Details() {
		if m, ok := d.(*railyardv1.Failure); ok {
			return DecodeFailure(m)
		}
	}
	return &Failure{Cause: causeOfCode(s.Code()), Text: s.Message(), Place: Nowhere(), At: NoInstant}
}

func causeOf(err error) Cause {
	switch {
	case errors.Is(err, context.Canceled):
		return Aborted
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	default:
		return Bug
	}
}

func codeOf(c Cause) codes.Code {
	for _, k := range causes {
		if k.cause == c {
			return k.code
		}
	}
	return codes.Internal
}

func causeOfCode(code codes.Code) Cause {
	if code == codes.Canceled {
		return Aborted
	}
	for _, k := range causes {
		if k.code == code {
			return k.cause
		}
	}
	return Bug
}
