package survey

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"unicode/utf8"
)

// ErrUnknown says that a file is no network of a kind that is read.
var ErrUnknown = errors.New("not a description of a network that is known here; known are Slurm topology.conf and topology.yaml, ibnetdiscover output, topograph models, NetQ answers, containerlab, InfraGraph, htsim .topo, SimAI, Kollaps and SimGrid")

// Read reads a file, whose content tells what kind it is. An error that is
// ErrUnknown says that it is none of them; any other what is wrong with it, or
// what it is instead.
func Read(data []byte) (*Survey, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("the file is larger than %d bytes, the most that is read", maxBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // byte order mark
	s, err := read(data)
	if err != nil {
		return nil, err
	}
	if len(s.Hosts)+len(s.Switches) == 0 {
		return nil, fmt.Errorf("%s: it has no hosts and no switches", s.Kind)
	}
	s.remarks()
	return s, nil
}

// action is what a template has in place of text: {{ .Name }}, {{- range $i := … }}.
var action = regexp.MustCompile(`\{\{(- )?\s*(/\*|[(]*[.$"]?[A-Za-z_])[^\x00-\x08\x0e-\x1f]*?\}\}`)

func read(data []byte) (*Survey, error) {
	text := bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(text, []byte("<")):
		return readXML(data)
	case utf8.Valid(data) && !bytes.ContainsRune(data, 0) && action.Match(data):
		return nil, errTemplate
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[{")), isJSONList(text):
		s, err := readNetQ(data)
		if err != nil { // other tools write their YAML as JSON, too
			if other, no := readYAML(data); !errors.Is(no, ErrUnknown) {
				return other, no
			}
		}
		return s, err
	case isSlurm(data):
		return readSlurm(data)
	case isIBNet(data):
		return readIBNet(data)
	case ibOther.Match(data):
		return nil, errIBPorts
	case isSimAI(data):
		return readSimAI(data)
	case isHTSim(data):
		return readHTSim(data)
	}
	return readYAML(data)
}

// isJSONList reports whether a text begins a list of objects.
func isJSONList(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("["))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("{"))
}

func readXML(data []byte) (*Survey, error) {
	root, err := parseXML(data)
	if err != nil {
		return nil, err
	}
	switch root.name {
	case "experiment":
		return readKollaps(root)
	case "platform":
		return readSimGrid(root)
	}
	return nil, fmt.Errorf("root element <%s>: %w", clip(root.name), ErrUnknown)
}

// yamlKeys begin a line in every YAML file that is known here.
var yamlKeys = regexp.MustCompile(`(?m)^(- )?(topology|switches|blocks|devices|infrastructure|instances):`)

func readYAML(data []byte) (*Survey, error) {
	if !bytes.Contains(data, []byte(":")) {
		return nil, ErrUnknown
	}
	root, err := parseYAML(data)
	if err != nil && !yamlKeys.Match(data) {
		return nil, ErrUnknown // any text has a colon
	}
	if err != nil {
		return nil, err
	}
	switch {
	case isSlurmYAML(root):
		return readSlurmYAML(root)
	case isClab(root):
		return readClab(root)
	case isTopograph(root):
		return readTopograph(root)
	case isInfra(root):
		return readInfra(root)
	}
	return nil, ErrUnknown
}
