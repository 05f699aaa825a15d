package msccl

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
)

// corpus is where the files of others lie, beside the repository. They are not
// ours to keep.
const corpus = "../../../shared/cases/msccl"

// expected is a line of the corpus's list of verdicts.
type expected struct{ file, class, verdict, races string }

func expectations(t testing.TB) (all []expected) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "EXPECT.tsv"))
	if err != nil {
		t.Skip("the corpus of public MSCCL files is not here:", err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if c := strings.Split(line, "\t"); len(c) > 9 && c[0] != "file" {
			all = append(all, expected{c[0], c[6], c[7], c[9]})
		}
	}
	if len(all) < 50 {
		t.Fatalf("%d expectations", len(all))
	}
	return all
}

// TestCorpus: every public file gets the verdict of an independent checker.
func TestCorpus(t *testing.T) {
	for _, e := range expectations(t) {
		t.Run(e.file, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(corpus, e.file))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Parse(text)
			kind, _, _ := strings.Cut(e.class, ":")
			if err != nil {
				if kind == "run" {
					t.Errorf("refused: %v; want %s", err, e.class)
				}
				t.Log(err)
				return
			}
			if kind == "reject" {
				t.Fatalf("read; want %s", e.class)
			}
			verdicts, err := f.Judge(AnyRoot)
			if err != nil {
				t.Fatal(err)
			}
			compareVerdicts(t, &e, f.Op, verdicts)
		})
	}
}

// compareVerdicts holds the verdicts on a file against those expected: one for
// each clause of "in-place: ok; out-of-place: ok", and no other.
func compareVerdicts(t *testing.T, e *expected, op collective.Op, got []Verdict) {
	clauses := strings.Split(strings.ReplaceAll(e.verdict, "; out-of-place", "\nout-of-place"), "\n")
	if len(clauses) != len(got) {
		t.Errorf("%d verdicts; want %q", len(got), e.verdict)
	}
	for _, clause := range clauses {
		layout, want, _ := strings.Cut(clause, ": ")
		i := slices.IndexFunc(got, func(v Verdict) bool { return strings.ReplaceAll(Layout(v.InPlace), " ", "-") == layout })
		if i < 0 {
			t.Errorf("no verdict %s; want %q", layout, want)
			continue
		}
		compareVerdict(t, e, op, &got[i], want)
	}
}

// compareVerdict holds a verdict against the one expected, with what it counts:
// blocks that are stuck, chunks that are wrong, pairs of uses that race. Of races
// "n/a" says that nobody looked.
func compareVerdict(t *testing.T, e *expected, op collective.Op, v *Verdict, want string) {
	got := v.Word(op)
	switch {
	case v.Err == nil:
	case v.Err.Problem == collective.Deadlock:
		got = fmt.Sprintf("deadlock(%d tbs; first rank %d tb %d step %d)", len(v.Err.Stuck), v.Err.Rank, v.Err.Block, v.Err.Step)
	default:
		got = fmt.Sprintf("wrong(%d cells)", v.Wrong)
	}
	if !strings.HasPrefix(want, got) {
		t.Errorf("%s; want %q", v.Text, want)
	}
	if e.races != "n/a" && strconv.Itoa(v.Races) != e.races {
		t.Errorf("%d races; want %s: %s", v.Races, e.races, v.Text)
	}
	if got != "ok" || v.Races > 0 {
		t.Logf("want %s %s races %s", want, e.class, e.races)
		t.Log(v.Text)
	}
}
