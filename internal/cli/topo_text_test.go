package cli

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/railyard/railyard/emu/catalog"
)

// utf16Text returns a text as UTF-16 with its mark.
func utf16Text(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

// Files are read in whatever encoding they are, and amid what people paste them
// with; what is no file of any kind is told as such.
func TestImportText(t *testing.T) {
	s := newSession(t)
	box, err := os.ReadFile("testdata/files/box.xml")
	if err != nil {
		t.Fatal(err)
	}
	xml := string(box)
	const table = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-7\nGPU1\tNV4\t X \t0-7\n"
	cut := xml[strings.Index(xml, "<system"):strings.Index(xml, "</system>")]
	for _, c := range []struct{ name, text, says string }{
		{"UTF-16 table", utf16Text(table, binary.LittleEndian), "ok"},
		{"UTF-16 XML", utf16Text(xml, binary.BigEndian), "ok"},
		{"UTF-16 Slurm", utf16Text("SwitchName=s Nodes=n[1-2]\n", binary.LittleEndian), "ok"},
		{"half of a unit", "\xff\xfeG", "the file is empty"},
		{"Latin-1", "<?xml version=\"1.0\" encoding=\"latin1\"?><!-- caf\xe9 -->" + xml[strings.Index(xml, "<system"):], "ok"},
		{"Latin-1 network", "# caf\xe9\nSwitchName=s Nodes=n[1-2]\n", "ok"},
		{"Markdown", "What I have:\n```xml\n" + xml + "```\n1 < 2 & so on\n", "text stands around"},
		{"HTML", "<details>\n\n```\n" + xml + "\n```\n</details>\n", "ok"},
		{"HTML that is no XML", "<br>\n" + xml + "<br>\n", "text stands around"},
		{"HTML table", "<pre>\n" + table + "</pre>\n", "ok"},
		{"cut short", "my machine:\n" + cut, "not XML"},
		{"two, one cut short", "<p>\n" + xml + "\n" + cut, "not XML"},
		{"line", "a\nb\n<system version=\"1\">\n<cpu></system>", "line 4: not XML"},
		{"other root", "<foo/>", "root element <foo> is unknown"},
		{"empty", " \n", "the file is empty"},
		{"prose", "note: nothing\n", "no XML, and not a description of a network"},
		{"binary", "\x7fELF\x02\x01\x00\xff", "no XML, and not a description of a network"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.file(t, "in.txt", c.text)
			code := s.run("topo import $DIR/in.txt --out $DIR/c.yaml")
			says := s.err.String()
			if loads := c.says == "ok" || strings.HasPrefix(c.says, "text stands"); loads != (code == ExitOK) || c.says != "ok" && !strings.Contains(says, c.says) {
				t.Errorf("exit %d: %s", code, says)
			}
			if code == ExitOK && s.run("validate $DIR/c.yaml") != ExitOK {
				t.Errorf("its cluster file: %s", s.err.String())
			}
		})
	}
}

// Of every system of the catalog an export comes back as the same file, and prints
// the same matrix, which is read as what prints it again; within a server paths are
// the same, but for those of a slice, which no topology file tells.
func TestCatalogComesBack(t *testing.T) {
	s := newSession(t)
	must := func(line string) string {
		t.Helper()
		if code := s.run(line); code != ExitOK {
			t.Fatalf("%s: exit %d: %s", line, code, s.err.String())
		}
		return s.out.String()
	}
	for _, c := range catalog.Systems() {
		export, matrix := must("topo export --system "+c.Name), must("topo matrix --system "+c.Name)
		s.file(t, c.Name+".xml", export)
		s.file(t, c.Name+".txt", matrix)
		file := filepath.Join("$DIR", c.Name)
		must("topo import " + file + ".xml --out " + file + ".yaml")
		if got := must("topo export " + file + ".yaml"); got != export {
			t.Errorf("%s: exported\n%s\nimported and exported\n%s", c.Name, export, got)
		}
		for _, from := range []string{".xml", ".yaml", ".txt"} {
			if got := must("topo matrix " + file + from); got != matrix {
				t.Errorf("%s: printed\n%s\nof its %s\n%s", c.Name, matrix, from, got)
			}
		}
		if c.Board.ICI.Chips > 0 {
			continue
		}
		for _, ends := range []string{"gpu0 gpu1", "gpu0 gpu3", "gpu1 nic0", "gpu3 nic0"} {
			want := must("topo path " + ends + " --nodes 1 --system " + c.Name)
			if got := must("topo path " + ends + " --nodes 1 --topo-file " + file + ".xml"); got != want {
				t.Errorf("%s: %s\n%s\nof its export\n%s", c.Name, ends, want, got)
			}
		}
	}
}
