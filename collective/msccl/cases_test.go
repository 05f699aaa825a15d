package msccl

import (
	"os"
	"path/filepath"
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
			for i := range verdicts {
				compareVerdict(t, &e, f, &verdicts[i])
			}
		})
	}
}

// compareVerdict holds a verdict against the one expected, which has a clause
// for each layout: "in-place: ok; out-of-place: ok".
func compareVerdict(t *testing.T, e *expected, f *File, v *Verdict) {
	name := strings.ReplaceAll(Layout(v.InPlace), " ", "-") + ": "
	var want string
	for _, clause := range strings.Split(e.verdict, "; ") {
		if strings.HasPrefix(clause, name) {
			want = strings.TrimPrefix(clause, name)
		}
	}
	got := v.Word(f.Op)
	if v.Err != nil && v.Err.Problem != collective.Deadlock {
		got = "wrong"
	}
	if want == "" || !strings.HasPrefix(want, got) {
		t.Errorf("%s; want %q", v.Text, e.verdict)
	}
	if got != "ok" || v.Races > 0 {
		t.Logf("want %s %s races %s", want, e.class, e.races)
		t.Log(v.Text)
	}
}
