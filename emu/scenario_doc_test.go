package emu

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const scenarioDoc = "../docs/scenarios.md"

// docs/scenarios.md lists the keys of each mapping, those that the loader takes and no
// others.
func TestScenarioKeys(t *testing.T) {
	doc, err := os.ReadFile(scenarioDoc)
	if err != nil {
		t.Fatal(err)
	}
	for section, file := range map[string]string{ // order: each alone
		"spec":       "  '?': 1\n",
		"cluster":    "  cluster: {nodes: 1, '?': 1}\n",
		"resilience": "  resilience: {'?': 1}\n",
		"run":        "  run: [{'?': 1}]\n",
	} {
		_, err := LoadScenario("x", []byte(head+file), scenarioKnown(), nil)
		if err == nil {
			t.Fatalf("%s: the key ? is taken", section)
		}
		m := regexp.MustCompile(`\?: unknown key; allowed are (.*)`).FindStringSubmatch(err.Error())
		if m == nil {
			t.Fatalf("%s: no list of keys in %v", section, err)
		}
		want := strings.Split(m[1], ", ")
		got := documented(t, string(doc), section)
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("section %s lists %v; the loader takes %v", section, got, want)
		}
	}
}

// documented returns the keys in the first column of a section's table.
func documented(t *testing.T, doc, section string) (keys []string) {
	t.Helper()
	_, rest, ok := strings.Cut(doc, "\n## "+section+"\n")
	if !ok {
		t.Fatalf("no section %s", section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(rest) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cells[1], -1) {
				keys = append(keys, m[1])
			}
		}
	}
	return keys
}

// The table of what may be expected is that of the loader. -rewrite writes it anew.
func TestWantTable(t *testing.T) {
	doc, err := os.ReadFile(scenarioDoc)
	if err != nil {
		t.Fatal(err)
	}
	table := "| key | a | means |\n| --- | --- | --- |\n"
	for _, k := range WantKeys {
		a := [...]string{WantWord: "word", WantCount: "number", WantRate: "rate", WantDuration: "duration", WantBytes: "size"}[k.Kind]
		if k.Words != nil {
			a = strings.Join(k.Words, ", ")
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", k.Word, a, k.Means)
	}
	const begin, end = "<!-- wants -->\n", "<!-- end wants -->"
	before, rest, found := strings.Cut(string(doc), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", scenarioDoc)
	}
	want := before + begin + table + end + after
	if want == string(doc) {
		return
	}
	if !rewriting() {
		t.Fatalf("the table in %s is not what the loader takes; -rewrite writes it", scenarioDoc)
	}
	if err := os.WriteFile(scenarioDoc, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// rewriting reports whether goldens are to be written anew: datadriven's flag.
func rewriting() bool {
	f := flag.Lookup("rewrite")
	return f != nil && f.Value.String() == "true"
}
