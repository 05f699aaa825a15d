package collective

import "fmt"

// Check proves a plan without running it: every rank ends with exactly the
// right contributions, each once; nothing waits for ever at the plan's slots;
// no two blocks of a rank touch a chunk in an order left to chance. Input and
// output are taken to be apart. The error is a *CheckError.
//
// The proof is of the plan, so it holds for every message size:
//
//   - One loop is enough. Blocks go from loop to loop on their own, and every
//     connection carries as many messages in one loop as in another, so each
//     wait leads to the same loop or to an earlier one, in every loop alike: a
//     circle of waits lies inside one loop, and then inside the first. Nor do
//     loops race: each has its own elements of every buffer, scratch too.
//   - The largest number of slices is enough. A circle of waits among larger
//     slices is still one when they are cut: the last piece of each waits for
//     the last piece of the next, and cutting never gives a sender more room.
//
// It works in four passes, each of which relies on the ones before: form (fields
// in range), pairing (ends of connections, messages), order (deadlock), and
// then, in the order found, races and contributions.
//
// Of an imported plan only results count: steps may mix contributions as long
// as no output shows it, and write to the input.
func Check(p *Plan) error { return check(p, false) }

// CheckInPlace is Check for runs in which input and output share memory, as
// NCCL lays them out: the smaller of the two is the rank's own part of the
// larger.
func CheckInPlace(p *Plan) error { return check(p, true) }

func check(p *Plan, inPlace bool) error {
	f, order, err := prepare(p, inPlace)
	if err != nil {
		return err
	}
	if n, first, unseen := f.races(order); n > 0 {
		return first
	} else if unseen > 0 {
		return problem(whole, Race, "%d pairs of uses of a chunk are too many to be looked at", unseen)
	}
	_, err = f.contributions(order)
	return err
}

// prepare does the passes of a proof that all others rely on.
func prepare(p *Plan, inPlace bool) (*proof, []int32, error) {
	f, err := newProof(p, inPlace)
	if err != nil {
		return nil, nil, err
	}
	if err := f.pair(); err != nil {
		return nil, nil, err
	}
	order, err := f.schedule()
	return f, order, err
}

// Judgement is a proof that goes on where Check stops at a race: the result may
// be right in spite of it.
type Judgement struct {
	// Err says what is wrong, races aside; nil if the result is right in the
	// order in which Judge carried the plan out. With Races 0 it is so in all.
	Err *CheckError
	// Wrong is how many chunks of all outputs are not what they must be.
	Wrong int
	// Races is how many pairs of steps use a chunk in an order left to chance,
	// and Race the first of them.
	Races int
	Race  *CheckError
	// Unseen is how many more pairs were not looked at: it would have taken too
	// long.
	Unseen int
}

// Judge proves a plan as Check and CheckInPlace do, and says more.
func Judge(p *Plan, inPlace bool) Judgement {
	var j Judgement
	f, order, err := prepare(p, inPlace)
	if err == nil {
		j.Races, j.Race, j.Unseen = f.races(order)
		j.Wrong, err = f.contributions(order)
	}
	if err != nil {
		j.Err = err.(*CheckError)
	}
	return j
}

// Roots returns the ranks that hold what the root of a rooted operation must,
// if they were it: those that may be the root of a plan that does not say. The
// error says why the plan does not even end.
func Roots(p *Plan, inPlace bool) ([]int, error) {
	f, order, err := prepare(p, inPlace)
	if err != nil {
		return nil, err
	}
	l, err := f.carryOut(order)
	if err != nil {
		return nil, err
	}
	var all []int
	for f.root = range p.Ranks {
		right := true
		for k := 0; right && k < f.output; k++ {
			right = l.compare(f.root, k) == nil
		}
		if right {
			all = append(all, f.root)
		}
	}
	return all, nil
}

// Problem says in which way a plan is wrong.
type Problem uint8

// The ways in which a plan can be wrong.
const (
	// Malformed: a field has a value that means nothing.
	Malformed Problem = iota
	// Unpaired: a connection or a message lacks its other end.
	Unpaired
	// Misfit: chunks go where chunks of another length belong. Chunks differ
	// in length whenever their number does not divide the count.
	Misfit
	// Deadlock: blocks wait for each other in a circle.
	Deadlock
	// Race: neither a dependency nor a message orders two uses of a chunk.
	Race
	// Unwritten: a chunk is used, or left as a result, that nothing has filled.
	Unwritten
	// Mixed: a reduction combines different chunks of the input.
	Mixed
	// Duplicate: a reduction counts a rank's contribution twice.
	Duplicate
	// WrongResult: an output chunk ends with contributions it should not have.
	WrongResult
	numProblems
)

var problemNames = [numProblems]string{
	Malformed: "malformed", Unpaired: "unpaired", Misfit: "misfit", Deadlock: "deadlock", Race: "race",
	Unwritten: "unwritten", Mixed: "mixed", Duplicate: "duplicate", WrongResult: "wrong result",
}

// String returns the problem's name.
func (p Problem) String() string { return name(problemNames[:], int(p)) }

// Place is a step of a block of a rank. A part that does not apply is −1.
type Place struct{ Rank, Block, Step int }

// String returns the place as errors print it.
func (p Place) String() string {
	switch {
	case p.Rank < 0:
		return "plan"
	case p.Block < 0:
		return fmt.Sprintf("rank %d", p.Rank)
	case p.Step < 0:
		return fmt.Sprintf("rank %d block %d", p.Rank, p.Block)
	}
	return fmt.Sprintf("rank %d block %d step %d", p.Rank, p.Block, p.Step)
}

// CheckError says where a plan is wrong, and how.
type CheckError struct {
	// Place is the first step at which the problem shows.
	Place
	Problem Problem
	Detail  string
	// Cycle lists, for a Deadlock, the steps that wait for each other: each
	// for the next, the last for the first.
	Cycle []Place
	// Stuck lists, for a Deadlock, every block that never ends, at the step it
	// waits before.
	Stuck []Place
}

// Error returns place, problem and detail on one line.
func (e *CheckError) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Place, e.Problem, e.Detail)
}

func problem(at Place, p Problem, format string, args ...any) *CheckError {
	return &CheckError{Place: at, Problem: p, Detail: fmt.Sprintf(format, args...)}
}
