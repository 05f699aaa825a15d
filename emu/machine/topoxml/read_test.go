package topoxml

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/railyard/railyard/emu/machine"
	"github.com/railyard/railyard/emu/machine/smi"
)

// The files under testdata hold small topology files, good and bad, and what is
// made of them: notes, then cells and an export. -rewrite writes them anew.
func TestRead(t *testing.T) {
	datadriven.Walk(t, "testdata/read", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in, err := Read("box", []byte(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			var b strings.Builder
			for _, n := range in.Notes {
				fmt.Fprintln(&b, n)
			}
			for i := range in.Machines {
				m := &in.Machines[i]
				roundTrip(t, m)
				switch d.Cmd {
				case "matrix":
					table, _, _ := strings.Cut(smi.Matrix(m), "\nLegend")
					b.WriteString(strings.ReplaceAll(table, "\t", "  "))
				case "export":
					b.Write(Write(m))
				case "notes":
				default:
					d.Fatalf(t, "unknown command %q", d.Cmd)
				}
			}
			return strings.ReplaceAll(b.String(), " \n", "\n")
		})
	})
}

// Files made to cost time or memory are refused for what they are, or read at
// their size.
func TestHostile(t *testing.T) {
	const open, end = `<system version="1"><cpu numaid="0">`, `</cpu></system>`
	gpu := func(i int, inside string) string {
		return fmt.Sprintf(`<pci busid="0:%x:%x.0" class="0x0302"><gpu dev="%d" rank="%d">%s</gpu></pci>`, i/32, i%32, i, i, inside)
	}
	var links strings.Builder
	for i := range 25_000 {
		fmt.Fprintf(&links, `<nvlink target="%x:0:0.0" count="1" tclass="0x068000"/>`, i)
	}
	for _, c := range []struct{ name, file, says string }{
		{"empty", "", "no XML element"},
		{"text", "GPU0 X", "no XML element"},
		{"large", strings.Repeat(" ", maxBytes+1), "larger than"},
		{"deep", open + strings.Repeat(`<pci busid="0:0:0.0">`, 50_000), "nested more than"},
		{"elements", open + strings.Repeat("<x/>", maxElements) + end, "more than 65536 elements"},
		{"attributes", "<system " + strings.Repeat(`a="" `, 1000) + "/>", "attributes"},
		{"long attribute", `<system version="` + strings.Repeat("9", 1<<20) + `"><cpu/></system>`, "no GPU"},
		{"entities", `<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><system/>`, "document types"},
		{"entity", `<system version="&a;"/>`, "not XML"},
		{"cut", `<system version="1"><cpu>`, "not XML"},
		{"two", open + gpu(0, "") + end + "<system/>", "has no <cpu>"},
		{"systems", strings.Repeat(open+gpu(0, "")+end, maxSystems+1), "topologies in one file"},
		{"declaration", `<!ENTITY a "aaaa"><system/>`, "document types"},
		{"count", open + gpu(0, `<nvlink target="0:0:1.0" count="1000000000" tclass="0x0302"/>`) +
			gpu(1, `<nvlink target="0:0:0.0" count="1000000000" tclass="0x0302"/>`) + end, "nvlinks[0].count: 1000000000"},
		{"sum", open + gpu(0, strings.Repeat(`<nvlink target="1:0:1.0" count="2147483647" tclass="0x0680"/>`, 100)) + end, "nvlinks[0].count"},
		{"planes", open + gpu(0, links.String()) + end, "NVLink switches"},
		{"cpus", "<system>" + strings.Repeat("<cpu/>", 2000) + "</system>", "<cpu> elements"},
		{"mask", `<system version="1"><cpu affinity="` + strings.Repeat("ffffffff,", 10_000) + `0">` + gpu(0, "") + end, ""},
		{"digits", `<system version="1"><cpu affinity="` + strings.Repeat("f", 500_000) + `" numaid="` + strings.Repeat("1,", 250_000) + `">` + gpu(0, "") + end, ""},
		{"clones", open + strings.Repeat(gpu(0, ""), 2000) + end, "gpus: has 2000 entries"},
		{"bridges", open + strings.Repeat(`<pci busid="0:1:0.0" class="0x060400"/>`, 10_000) + gpu(0, "") + end, "bridges"},
		{"speeds", open + `<pci busid="0:9:0.0" class="0x02"><nic><net speed="9223372036854775807" latency="9e99" guid="x"/></nic></pci>` + gpu(0, "") + end, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := Read("box", []byte(c.file))
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says == "":
				roundTrip(t, &in.Machines[0])
			case err == nil || !strings.Contains(err.Error(), c.says):
				t.Errorf("error is %.200v, want %q in it", err, c.says)
			case len(err.Error()) > 500:
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

// Two hosts with the same bus ids, fused by host_hash, stay apart, and many
// more nodes than NCCL's 256 are fine (report 55).
func TestManyHosts(t *testing.T) {
	const hosts = 40
	var b strings.Builder
	b.WriteString(`<system version="1">`)
	for h := range hosts {
		fmt.Fprintf(&b, `<cpu numaid="0" host_hash="0x%x">`, h)
		for i := range 122 / 2 {
			fmt.Fprintf(&b, `<pci busid="0:%x:0.0" class="0x060400"><pci busid="1:%x:0.0" class="0x030200"/></pci>`, i, i)
		}
		b.WriteString("</cpu>")
	}
	b.WriteString("</system>")
	in, err := Read("box", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Machines) != hosts {
		t.Fatalf("%d machines", len(in.Machines))
	}
	for i, m := range in.Machines {
		if want := fmt.Sprintf("box-%d", i); m.Name != want || m.Domain != "box" || len(m.GPUs) != 61 || m.GPUs[3].BusID != "0001:03:00.0" {
			t.Fatalf("machine %d is %s in %s with %d GPUs, GPU3 at %s", i, m.Name, m.Domain, len(m.GPUs), m.GPUs[3].BusID)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64"><pci busid="0:1:0.0" class="0x060400" link_speed="8 GT/s" link_width="16"><pci busid="0:2:0.0" class="0x030200"><gpu dev="0" sm="90" rank="0" gdr="1"><nvlink target="0:9:0.0" count="4" tclass="0x068000"/><c2c bw="44712" count="5"/></gpu></pci><pci busid="0:3:0.0" class="0x020000"><nic><net name="mlx5_0" dev="0" speed="400000" port="1" latency="0.5" guid="0x1" maxconn="1" gdr="1" coll="1"/></nic></pci></pci><nic><net name="eth0"/></nic></cpu></system>`,
		`<system version="2"><cpu host_hash="1"><pci busid="0:1:0.0" class="0x120000"><gpu gcn="gfx942" sm="304"><xgmi target="0:2:0.0" count="1" tclass="0x120000"/></gpu></pci></cpu><cpu host_hash="2"><pci busid="0:1:0.0" class="0x03"/></cpu></system>`,
		`<?xml version="1.0" encoding="latin1"?><!DOCTYPE system SYSTEM "x"><all><system version="1"><cpu numaid="4294967295" affinity="0-3"><pci busid="1:2" class="0x30200" link_speed="32GT/s" link_width="x16"><gpu gdr="false"><nvlink target="fffffff:ffff:ff" count="2"/><nvlink target="1:3:0.0" count="2"/></gpu></pci><pci busid="1:3:0.0" class="0x068000"/></cpu></system><system version="1" railyard_name="a"><cpu><pci busid="0:0:0.0" class="0x03"/></cpu></system></all>`,
		`<graphs version="1"/>`, `<system><group/></system>`, "<system", "<!-- -->",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Read("fuzz", data)
		if err != nil {
			return
		}
		for i := range in.Machines {
			m := &in.Machines[i]
			if err := m.Validate(); err != nil {
				t.Fatalf("read, but not valid: %v", err)
			}
			roundTrip(t, m)
			for _, a := range m.Devices() {
				if d := m.Distance(a, machine.Device{}); d != m.Distance(machine.Device{}, a) {
					t.Fatalf("%v is %v from GPU0, but not the reverse", a, d)
				}
			}
		}
	})
}
