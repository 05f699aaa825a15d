package cli

import (
	"os"
	"strings"
	"testing"
)

// corpus is where public MSCCL files lie, beside the repository.
const corpus = "../../../shared/cases/msccl/"

// TestCorpusThroughTheCommand: plan check ends for every public file with the
// code of its class, and with --strict also where a race is all that is wrong.
func TestCorpusThroughTheCommand(t *testing.T) {
	text, err := os.ReadFile(corpus + "EXPECT.tsv")
	if err != nil {
		t.Skip("the corpus of public MSCCL files is not here:", err)
	}
	checked := 0
	for _, line := range strings.Split(string(text), "\n") {
		c := strings.Split(line, "\t")
		if len(c) < 10 || c[0] == "file" {
			continue
		}
		checked++
		t.Run(c[0], func(t *testing.T) {
			t.Parallel()
			s := newSession(t)
			want := exitOfClass(c[6])
			if code := s.run("plan check " + corpus + c[0]); code != want {
				t.Errorf("exit %d; %s is %d: %s%s", code, c[6], want, s.out.String(), s.err.String())
			}
			if want == ExitOK && c[9] != "0" && c[9] != "n/a" {
				want = ExitInvalid
			}
			if code := s.run("plan check --strict " + corpus + c[0]); code != want {
				t.Errorf("--strict: exit %d; %s with %s races is %d", code, c[6], c[9], want)
			}
		})
	}
	if checked < 50 {
		t.Errorf("only %d files", checked)
	}
}

// exitOfClass returns the code for a class of the corpus. Where it leaves open
// whether a file is recovered, ours is strict.
func exitOfClass(class string) int {
	switch kind, what, _ := strings.Cut(class, ":"); {
	case kind != "run":
		return ExitUsage
	case strings.HasPrefix(what, "must-report"):
		return ExitInvalid
	}
	return ExitOK
}
