package machine

import "fmt"

// Import is what a file tells: machines, and notes on what it does not.
type Import struct {
	Machines []Machine
	Notes    []Note
}

// Kind sorts notes.
type Kind uint8

// What a note is about.
const (
	Missing Kind = iota // the file does not say, nor do we
	Assumed             // the file does not say; this is what was taken
	Odd                 // the file says something that is unlikely, or twice
)

var kinds = [...]string{Missing: "missing", Assumed: "assumed", Odd: "odd"}

// String returns the word.
func (k Kind) String() string { return kinds[k] }

// Note is one thing a user should know about what was read.
type Note struct {
	Kind  Kind
	About string // the device or field, empty for the whole file
	Text  string
}

// String returns the note as one line.
func (n Note) String() string {
	if n.About == "" {
		return fmt.Sprintf("%s: %s", n.Kind, n.Text)
	}
	return fmt.Sprintf("%s: %s: %s", n.Kind, n.About, n.Text)
}

// maxNotes bounds what a hostile file can make us say.
const maxNotes = 200

// Say adds a note. Beyond the bound the last one says that there are more.
func (i *Import) Say(k Kind, about, format string, args ...any) {
	switch n := (Note{k, about, fmt.Sprintf(format, args...)}); {
	case len(i.Notes) < maxNotes:
		i.Notes = append(i.Notes, n)
	case len(i.Notes) == maxNotes:
		i.Notes = append(i.Notes, Note{Kind: Odd, Text: "there is more of this kind; it is left out"})
	}
}
