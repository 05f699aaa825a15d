package archtest

import (
	"path"
	"regexp"
	"strings"
)

// named finds the files that a map names: "plan.go", and "check*.go" for many.
var named = regexp.MustCompile(`[a-z_0-9]+\*?\.go\b`)

// mapSize is from how many hand-written files on a package needs its map to
// name them: below it there is nothing to get lost in.
const mapSize = 3

// packageMaps holds the map in a package's doc.go to the files that are there:
// none missing in it, none in it that is missing.
func packageMaps(t *tree) []finding {
	var found []finding
	for _, p := range t.packages {
		var doc *file
		files := map[string]bool{}
		code := 0
		for _, f := range p.files {
			name := path.Base(f.path)
			files[name] = true
			switch {
			case name == "doc.go":
				doc = f
			case !f.test && !f.generated:
				code++
			}
		}
		if doc == nil || doc.syntax.Doc == nil || code < mapSize {
			continue
		}
		names := named.FindAllString(doc.syntax.Doc.Text(), -1)
		found = append(found, misnamed(doc, names, files)...)
		for _, f := range p.code() {
			if name := path.Base(f.path); f != doc && !f.generated && !covered(name, names) {
				found = append(found, finding{doc.path, "the map does not name " + name})
			}
		}
	}
	return found
}

func misnamed(doc *file, names []string, files map[string]bool) []finding {
	var found []finding
	for _, n := range names {
		if !strings.Contains(n, "*") && !files[n] {
			found = append(found, finding{doc.path, "the map names " + n + ", which is not there"})
		}
	}
	return found
}

func covered(name string, names []string) bool {
	for _, n := range names {
		if ok, err := path.Match(n, name); err == nil && ok {
			return true
		}
	}
	return false
}
