package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/railyard/railyard/emu"
	"github.com/railyard/railyard/emu/catalog"
	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/topoxml"
	"github.com/railyard/railyard/emu/network/survey"
	"github.com/railyard/railyard/emu/suggest"
)

// topoFlags are those of the topo commands that look at machines; each takes what it
// needs.
type topoFlags struct {
	Common
	out, machine, system string
	preset               *machine.Import // that of --system
}

// presetMachine makes the server that --system names, in place of a file.
func presetMachine(f *topoFlags, args []string) ([]string, error) {
	if len(args) > 0 {
		return nil, fmt.Errorf("--system: %s is a file; give one or the other", suggest.Clip(args[0]))
	}
	s, err := lookupSystem(f.system)
	if err != nil {
		return nil, fmt.Errorf("--system: %w", err)
	}
	f.preset = &machine.Import{Machines: []machine.Machine{s.Machine()}}
	return []string{f.system}, nil
}

func (a *App) topo() *cobra.Command {
	topo := &cobra.Command{Use: "topo", Short: "The hardware as nvidia-smi and NCCL draw it", Args: cobra.ArbitraryArgs, RunE: unknownVerb}
	var f topoFlags
	out := setting{name: "out", arg: "FILE", usage: "write to a file instead of stdout", set: text(&f.out)}
	which := setting{name: "machine", arg: "NAME", usage: "one machine of a file that has several", set: text(&f.machine)}
	preset := setting{name: "system", arg: "NAME", values: known().SystemNames(), usage: "a server of the catalog, in place of a file", set: text(&f.system)}
	topo.AddCommand(
		a.topoImport(),
		a.topoVerb("matrix", "Print what nvidia-smi topo -m prints on a machine", append([]setting{which, preset}, f.Common.settings()...), &f, a.topoMatrix),
		a.topoVerb("export", "Write a machine as a topology file of NCCL or RCCL", []setting{which, out, preset}, &f, a.topoExport),
		a.topoShow(), a.topoPath(), a.topoPerf(), a.topoGraph(),
	)
	return topo
}

// topoVerb returns a command that does one thing with one file.
func (a *App) topoVerb(name, short string, settings []setting, f *topoFlags, do func(file string, in *machine.Import, f *topoFlags) error) *cobra.Command {
	cmd := &cobra.Command{Use: name + " FILE", Short: short,
		Long: short + ".\n\nFILE is what nvidia-smi topo -m printed, a topology file of NCCL or RCCL\n(NCCL_TOPO_DUMP_FILE), or a cluster file with machines; its content tells which.",
		RunE: func(cmd *cobra.Command, args []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			if err == nil && f.system != "" {
				args, err = presetMachine(f, args)
			} else {
				args = a.topoArgs(args)
			}
			if err == nil && len(args) != 1 {
				err = fmt.Errorf("topo %s needs one file: coordinator topo %s FILE", name, name)
			}
			in, reader := f.preset, *a
			if f.Quiet {
				reader.Stderr = io.Discard
			}
			if err == nil && in == nil {
				in, err = reader.readMachines(args[0])
			}
			if err == nil {
				err = do(args[0], in, f)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return nil
		}}
	register(cmd, settings)
	return cmd
}

// readMachines reads a file of any kind that tells of machines, by its content.
// Notes go to stderr.
func (a *App) readMachines(file string) (*machine.Import, error) {
	data, err := a.ReadFile(file)
	if err != nil {
		return nil, err
	}
	data = plainText(data)
	if isCluster(data) {
		return clusterMachines(file, data)
	}
	in, err := describedMachines(machineName(file), data)
	if err != nil {
		if s, other := survey.Read(data); other == nil {
			err = fmt.Errorf("this is %s, a network and no machine; topo import makes a cluster file of it", s.Kind)
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, n := range in.Notes {
		fmt.Fprintf(a.Stderr, "%s: %v\n", file, n)
	}
	return in, nil
}

// isCluster reports whether a text says that it is a cluster file.
func isCluster(data []byte) bool {
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("apiVersion:")) || bytes.HasPrefix(line, []byte("kind:")) {
			return true
		}
	}
	return false
}

func clusterMachines(file string, data []byte) (*machine.Import, error) {
	c, err := emu.LoadCluster(file, data, known())
	if err != nil {
		return nil, err
	}
	in := &machine.Import{Machines: c.Machines}
	for _, g := range c.Groups {
		if g.Machine != "" || slices.Contains(machineNames(in), g.System) {
			continue
		}
		s, err := lookupSystem(g.System)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		in.Machines = append(in.Machines, s.Machine())
	}
	return in, nil
}

// machineName makes a name of a file's name.
func machineName(file string) string {
	base := filepath.Base(file)
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("._-", r) {
			return r
		}
		return '-'
	}, base)
	const most = 50 // leaves room for a number behind it
	if name = strings.TrimLeft(name, "._-"); name == "" {
		return "machine"
	}
	return name[:min(len(name), most)]
}

func (a *App) topoImport() *cobra.Command {
	var f importFlags
	settings := f.settings()
	cmd := &cobra.Command{Use: "import FILE", Short: "Make a cluster file of what another tool says of hardware",
		Long: `Make a cluster file of what another tool says of hardware. FILE is about machines:
what nvidia-smi topo -m, rocm-smi --showtopo or amd-smi topology printed, or a
topology file of NCCL or RCCL (NCCL_TOPO_DUMP_FILE); or about a network: topology.conf and topology.yaml of
Slurm, ibnetdiscover output, a topograph model, a NetQ answer, containerlab and
InfraGraph YAML, .topo of htsim, a topology of SimAI, or XML of Kollaps and SimGrid.
Its content tells which. What it does not say is noted on stderr.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := apply(cmd.Flags(), settings, a.Getenv, map[string]source{})
			args = a.topoArgs(args)
			if err == nil && len(args) != 1 {
				err = errors.New("topo import needs one file: coordinator topo import FILE")
			}
			if err == nil {
				err = a.importFile(args[0], &f)
			}
			if err != nil {
				return &ExitError{ExitUsage, err}
			}
			return nil
		}}
	register(cmd, settings)
	return cmd
}

func (a *App) topoExport(file string, in *machine.Import, f *topoFlags) error {
	chosen, err := choose(file, in, f.machine)
	if err != nil {
		return err
	}
	if len(chosen) > 1 {
		return fmt.Errorf("--machine: %s has %d machines and a topology file holds one; allowed are %s", file, len(chosen), strings.Join(machineNames(in), ", "))
	}
	for _, says := range lostByExport(&chosen[0]) {
		fmt.Fprintf(a.Stderr, "%s: missing: %s\n", file, says)
	}
	return a.deliver(topoxml.Write(&chosen[0]), f.out)
}

// lostByExport says what of a system of the catalog no topology file can: that
// several servers make one domain or slice, and what joins them.
func lostByExport(m *machine.Machine) []string {
	s, err := catalog.LookupSystem(m.Name)
	if err != nil {
		return nil
	}
	var all []string
	switch {
	case s.Board.Domain > 0 && m.Domain == "":
		all = append(all, fmt.Sprintf("nvlink domain: the format tells none of several servers, of which here %d make one; what is read back ends its NVLink with itself, unless its cluster file gives it a domain",
			s.Board.Domain))
	case s.Board.ICI.Chips > 0:
		all = append(all, fmt.Sprintf("slice: the format tells no torus of several hosts; what is read back ends its ICI with itself, so name system: %s in a cluster file instead", s.Name))
	}
	if back := catalog.Like(m); back.Link != s.Link || len(s.Env) > 0 {
		text := fmt.Sprintf("transport: the format does not tell that %s links join servers; what is read back gets %s unless its cluster file says fabric: {link: %s}", s.Link, back.Link, s.Link)
		if back.Link == s.Link {
			text = "transport: the format does not tell what the environment sets for NCCL"
		}
		if len(s.Env) > 0 {
			text += ", and variables of NCCL by --profile " + s.Name
		}
		all = append(all, text)
	}
	return all
}

// choose returns the machine with a name, all of them without one.
func choose(file string, in *machine.Import, name string) ([]machine.Machine, error) {
	if name == "" {
		return in.Machines, nil
	}
	for i, m := range in.Machines {
		if m.Name == name {
			return in.Machines[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("--machine: in %s %s", file, suggest.Unknown(name, machineNames(in)))
}

func machineNames(in *machine.Import) []string {
	var all []string
	for _, m := range in.Machines {
		all = append(all, m.Name)
	}
	return all
}

// deliver writes a result to a file, or to stdout.
func (a *App) deliver(text []byte, out string) error {
	if out == "" {
		_, err := a.Stdout.Write(text)
		return err
	}
	if err := a.WriteFile(out, text); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}
