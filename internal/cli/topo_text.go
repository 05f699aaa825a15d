package cli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"regexp"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/smi"
	"github.com/railyard/railyard/emu/machine/topoxml"
)

// plainText returns a text as UTF-8 without a byte order mark. Shells of Windows
// write UTF-16; what is no UTF-8 is taken as Latin-1.
func plainText(data []byte) []byte {
	for _, c := range []struct {
		mark  string
		order binary.ByteOrder
	}{{"\xff\xfe", binary.LittleEndian}, {"\xfe\xff", binary.BigEndian}} {
		if rest, ok := bytes.CutPrefix(data, []byte(c.mark)); ok {
			var units []uint16
			for ; len(rest) > 1; rest = rest[2:] {
				units = append(units, c.order.Uint16(rest))
			}
			return []byte(string(utf16.Decode(units)))
		}
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if utf8.Valid(data) {
		return data
	}
	runes := make([]rune, len(data))
	for i, b := range data {
		runes[i] = rune(b)
	}
	return []byte(string(runes))
}

var (
	systemTag = regexp.MustCompile(`<system[\s>]`)
	// xmlFile begins as a topology file does when nothing stands before it.
	xmlFile = regexp.MustCompile(`^\s*<(system[\s>]|\?xml|!)`)
)

// describedMachines reads what tells of machines: XML, also amid other text, or a
// table, also amid HTML.
func describedMachines(name string, data []byte) (*machine.Import, error) {
	first := error(nil)
	if isXML(data) {
		in, err := topoxml.Read(name, data)
		if err == nil || xmlFile.Match(data) {
			return in, err
		}
		first = err
	}
	if part, ok := topologyIn(data); ok {
		in, err := topoxml.Read(name, part)
		if err != nil {
			return nil, err
		}
		in.Say(machine.Odd, "file", "text stands around the topology and is ignored")
		return in, nil
	}
	in, err := smi.Read(name, data)
	if errors.Is(err, smi.ErrNoTable) && first != nil {
		err = first
	}
	return in, err
}

func isXML(data []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(data), []byte("<")) }

// topologyIn returns the topology in a text, with empty lines for what stands
// before it, so that lines keep their numbers.
func topologyIn(data []byte) ([]byte, bool) {
	at := systemTag.FindIndex(data)
	if at == nil {
		return nil, false
	}
	end := []byte("</system>")
	to := bytes.LastIndex(data, end) + len(end)
	if to < at[0] || systemTag.Match(data[to:]) { // cut short
		to = len(data)
	}
	lines := bytes.Count(data[:at[0]], []byte("\n"))
	return append(bytes.Repeat([]byte("\n"), lines), data[at[0]:to]...), true
}
