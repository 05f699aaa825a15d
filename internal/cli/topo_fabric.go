package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/smi"
	"github.com/railyard/railyard/emu/network/survey"
	"github.com/railyard/railyard/shaping"
)

// importFlags say what files about networks do not.
type importFlags struct {
	out, system string
	rate        shaping.Rate
}

func (f *importFlags) settings() []setting {
	return []setting{
		{name: "out", arg: "FILE", usage: "write to a file instead of stdout", set: text(&f.out)},
		{name: "system", arg: "NAME", values: known().SystemNames(), usage: "what the hosts of a network are", set: choice(&f.system, known().SystemNames(), nil)},
		{name: "rate", arg: "RATE", usage: "rate of links between switches where the file does not say, for example 400Gb/s", set: func(s string) (err error) {
			f.rate, err = shaping.ParseRate(s)
			return err
		}},
	}
}

// importFile makes a cluster file of a machine's or a network's description,
// whose content tells which.
func (a *App) importFile(file string, f *importFlags) error {
	data, err := a.ReadFile(file)
	if err != nil {
		return err
	}
	if data = plainText(data); len(bytes.TrimSpace(data)) == 0 {
		return fmt.Errorf("%s: the file is empty", file)
	}
	if isMachine(data) {
		return a.importMachine(file, f)
	}
	c, err := a.surveyed(file, data, f)
	if errors.Is(err, survey.ErrUnknown) {
		if err = a.importMachine(file, f); errors.Is(err, smi.ErrNoTable) {
			err = fmt.Errorf("%w, no XML, and %w", err, survey.ErrUnknown)
		}
		return err
	}
	if err != nil {
		return err
	}
	return a.deliverCluster(file, &c, f.out)
}

// surveyed makes a cluster of a network's description. Notes go to stderr.
func (a *App) surveyed(file string, data []byte, f *importFlags) (emu.Cluster, error) {
	s, err := survey.Read(data)
	if err != nil {
		return emu.Cluster{}, fmt.Errorf("%s: %w", file, err)
	}
	c, err := s.Cluster(f.options(file))
	for _, n := range s.Notes {
		fmt.Fprintf(a.Stderr, "%s: %v\n", file, n)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", file, err)
	}
	return c, err
}

// importMachine makes a cluster file with a node of each machine in a file.
func (a *App) importMachine(file string, f *importFlags) error {
	in, err := a.readMachines(file)
	if err != nil {
		return err
	}
	if f.system != "" {
		return fmt.Errorf("--system: %s says itself what its machines are; leave it out", file)
	}
	c := machineCluster(machineName(file), in)
	return a.deliverCluster(file, &c, f.out)
}

func machineCluster(name string, in *machine.Import) emu.Cluster {
	c := emu.Cluster{Name: name, Machines: in.Machines}
	for i := range in.Machines {
		c.Groups = append(c.Groups, emu.Group{Count: 1, Machine: in.Machines[i].Name})
	}
	return c
}

func (a *App) deliverCluster(file string, c *emu.Cluster, out string) error {
	text := c.YAML()
	if _, err := emu.LoadCluster("the cluster file made of it", text, known()); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return a.deliver(text, out)
}

// isMachine reports whether a text is of a kind that tells of machines: a cluster
// file, XML that begins as NCCL's does, or a table of nvidia-smi.
func isMachine(data []byte) bool {
	data = plainText(data)
	if isCluster(data) {
		return true
	}
	if !isXML(data) {
		return systemTag.Match(data)
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // its names are ASCII
	for {
		t, err := d.Token()
		if err != nil {
			return true // says so itself
		}
		if e, ok := t.(xml.StartElement); ok {
			return e.Name.Local != "platform" && e.Name.Local != "experiment"
		}
	}
}

// options are what the catalog and the flags add to a network's description.
func (f *importFlags) options(file string) survey.Options {
	o := survey.Options{Name: machineName(file), System: f.system, Default: defaultSystem, Rate: f.rate, Known: known()}
	for _, l := range catalog.Links() {
		o.Links = append(o.Links, survey.KnownLink{Name: l.Name, Rate: l.Wire})
	}
	return o
}
