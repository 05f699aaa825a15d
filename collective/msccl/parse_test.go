package msccl

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/railyard/railyard/collective"
)

// swap is an all-gather of two ranks, the smallest plan with two ends.
const swap = `<algo name="swap" proto="Simple" nchannels="1" nchunksperloop="2" ngpus="2" coll="allgather" inplace="1" outofplace="0" minBytes="0" maxBytes="4096">
  <gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="1" recv="1" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
  <gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">
    <tb id="0" send="0" recv="0" chan="0">
      <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1" cnt="1" depid="-1" deps="-1" hasdep="0"/>
      <step s="1" type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
    </tb>
  </gpu>
</algo>
`

// edited returns swap with the n-th occurrence of a text replaced, from 1; 0
// replaces all.
func edited(t testing.TB, n int, from, to string) string {
	t.Helper()
	parts := strings.Split(swap, from)
	if len(parts) < n+1 || len(parts) < 2 {
		t.Fatalf("%q is not there %d times", from, n)
	}
	if n == 0 {
		return strings.Join(parts, to)
	}
	return strings.Join(parts[:n], from) + to + strings.Join(parts[n:], from)
}

// TestRefused: what is wrong is said with its line, its value and what is
// allowed.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		says       string
	}{
		{"nothing", "", 0, "no <algo>"},
		{"another language", "Traceback (most recent call last):\n  File <x> & y\n", 0, "no <algo>"},
		{"another document", "<html><body/></html>", 0, "no <algo>"},
		{"cut off", swap[:strings.Index(swap, "</gpu>")], 7, "ends inside <gpu>"},
		{"crossed elements", edited(t, 1, "</tb>", "</gpu>"), 6, "</gpu> closes what is not open"},
		{"document type", `<!DOCTYPE a [<!ENTITY b "c">]>` + swap, 1, "declaration"},
		{"entity", edited(t, 1, `name="swap"`, `name="&b;"`), 1, "entity"},
		{"deep", edited(t, 1, `<tb id="0"`, strings.Repeat("<a>", 30)+`<tb id="0"`), 3, "deep"},
		{"text inside", edited(t, 1, "</tb>", "oops</tb>"), 6, `"oops"`},
		{"twice", edited(t, 1, `id="0"`, `id="0" id="1"`), 2, "id twice"},
		{"long value", edited(t, 1, "swap", strings.Repeat("x", 5000)), 1, "5000 bytes"},
		{"many attributes", edited(t, 1, "<gpu ", "<gpu "+many(70)), 2, "attributes"},
		{"ranks without end", edited(t, 1, `ngpus="2"`, `ngpus="1000000000"`), 1, `ngpus "1000000000" must be a whole number from 1 to`},
		{"chunks without end", edited(t, 1, `nchunksperloop="2"`, `nchunksperloop="2147483648"`), 1, "nchunksperloop"},
		{"input without end", edited(t, 1, `i_chunks="1"`, `i_chunks="2147483648"`), 2, "i_chunks"},
		{"scratch of all", edited(t, 0, `s_chunks="0"`, `s_chunks="1048577"`), 2, "s_chunks"},
		{"count without end", edited(t, 1, `cnt="1"`, `cnt="99999999999999999999"`), 4, "cnt"},
		{"count zero", edited(t, 1, `cnt="1"`, `cnt="0"`), 4, "cnt"},
		{"not a number", edited(t, 1, `chan="0"`, `chan="zero"`), 3, `chan "zero" must be a whole number from 0`},
		{"missing", edited(t, 1, `ngpus="2" `, ""), 1, "ngpus is missing"},
		{"unknown coll", edited(t, 1, "allgather", "allgathr"), 1, `coll "allgathr" is unknown; allowed are`},
		{"unknown protocol", edited(t, 1, "Simple", "LL256"), 1, "proto"},
		{"unknown type", edited(t, 1, `type="s"`, `type="send"`), 4, `type "send" is unknown`},
		{"unknown buffer", edited(t, 1, `srcbuf="i"`, `srcbuf="x"`), 4, "srcbuf"},
		{"step out of turn", edited(t, 1, `<step s="1"`, `<step s="2"`), 5, "s 2 where 1 is due"},
		{"too few gpus", edited(t, 1, `ngpus="2"`, `ngpus="3"`), 0, "2 <gpu> elements; ngpus is 3"},
		{"too many gpus", edited(t, 1, `ngpus="2"`, `ngpus="1"`), 3, "send"},
		{"one gpu twice", edited(t, 1, `<gpu id="1"`, `<gpu id="0"`), 8, "gpu 0 is there twice"},
		{"block ids with a gap", edited(t, 1, `<tb id="0"`, `<tb id="1"`), 3, "tb 1 where 0 is due"},
		{"own peer", edited(t, 1, `send="1"`, `send="0"`), 3, "its own rank"},
		{"no peer", edited(t, 1, `send="1"`, `send="-1"`), 4, "without a send peer"},
		{"beyond the input", edited(t, 1, `type="s" srcbuf="i" srcoff="0"`, `type="s" srcbuf="i" srcoff="1"`), 4, "reads 1 chunk from 1 on of the input, which has 1"},
		{"beyond the output", edited(t, 1, `dstoff="1"`, `dstoff="2"`), 5, "writes 1 chunk from 2 on of the output, which has 2"},
		{"inconsistent", edited(t, 1, `o_chunks="2"`, `o_chunks="3"`), 2, "o_chunks 3"},
		{"parts that do not divide", edited(t, 1, `nchunksperloop="2"`, `nchunksperloop="3"`), 0, "does not divide"},
		{"dependency on no block", edited(t, 1, `depid="-1"`, `depid="7"`), 4, "depid 7; the gpu has blocks 0 to 0"},
		{"lengths differ", edited(t, 1, `type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1"`, `type="s" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="2"`), 11, "receives 1 chunk, where gpu 0 tb 0 step 0 sends 2"},
		{"two at one end", edited(t, 1, "    </tb>\n", "    </tb>\n    <tb id=\"1\" send=\"1\" recv=\"-1\" chan=\"0\"/>\n"), 7, "as tb 0 does"},
		{"dangling nops", edited(t, 1, `<step s="0" type="s"`, `<step s="0" type="nop" depid="0" deps="0"/><step s="1" type="s"`), 4, "has none itself"},
		{"two plans", swap + swap, 15, "a second <algo>"},
	} {
		_, err := Parse([]byte(c.text))
		if c.name == "dangling nops" && err != nil && strings.Contains(err.Error(), "is due") {
			_, err = Parse([]byte(strings.Replace(c.text, `s="1" type="r"`, `s="2" type="r"`, 1)))
		}
		var e *Error
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Text, c.says) {
			t.Errorf("%s: %v; want line %d: …%s…", c.name, err, c.line, c.says)
		}
	}
}

func many(n int) (s string) {
	for i := range n {
		s += fmt.Sprintf(`a%d="" `, i)
	}
	return s
}

// TestRead: odd things of real files are read, and said in a note.
func TestRead(t *testing.T) {
	for _, c := range []struct{ name, text, note string }{
		{"as it is", swap, ""},
		{"comments", "<!-- a -->\n" + edited(t, 1, "<step", "<!-- <algo> --><step"), ""},
		{"XML declaration", `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + swap, ""},
		{"verdict of a compiler", swap + "All correct & <done>\n", "line 15: text after </algo> is passed over"},
		{"log text", "INFO: 3 < 4 & so on\n" + swap, "text before <algo> is passed over"},
		{"fractions", edited(t, 0, `chan="0"`, `chan="0.25"`), `chan "0.25" is read as 0`},
		{"unknown element", edited(t, 1, "<step", "<hint/><step"), "<hint> is passed over"},
		{"more attributes", edited(t, 1, "<gpu ", `<gpu colour="red" `), ""},
		{"no layout", edited(t, 1, `inplace="1" outofplace="0"`, ""), "each layout is tried"},
		{"zero channels", edited(t, 1, `nchannels="1"`, `nchannels="0"`), ""},
		{"aliases", edited(t, 0, `i_chunks="1"`, `i_chunks="0"`), ""},
		{"a nop at the end", edited(t, 1, "    </tb>\n", "<step s=\"2\" type=\"nop\" depid=\"0\" deps=\"2\"/></tb>"), ""},
	} {
		f, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if notes := strings.Join(f.Notes, "; "); (c.note == "") != (notes == "") || !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, notes, c.note)
		}
		verdicts, err := f.Judge(AnyRoot)
		if err != nil || len(verdicts) != 1 || !verdicts[0].Right() || !verdicts[0].InPlace {
			t.Errorf("%s: %v, %v", c.name, verdicts, err)
		}
	}
}

// TestLayouts: which layouts a file is meant for.
func TestLayouts(t *testing.T) {
	for attrs, want := range map[string]string{
		`inplace="1"`: "[true]", `inplace="0"`: "[false]",
		`outofplace="1"`: "[false]", `outofplace="0"`: "[true]",
		`inplace="1" outofplace="1"`: "[false true]", `inplace="0" outofplace="1"`: "[false]",
		`inplace="1" outofplace="0"`: "[true]", `inplace="0" outofplace="0"`: "[false]",
		``: "[false true]",
	} { // order: each case alone
		f, err := Parse([]byte(edited(t, 1, `inplace="1" outofplace="0"`, attrs)))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(f.Layouts()); got != want {
			t.Errorf("%q: in place %s, want %s", attrs, got, want)
		}
	}
}

// plan returns an in-place plan of one chunk. A block is written as "send recv:"
// and steps "type srcbuf dstbuf [depid deps hasdep]", with commas between.
func plan(coll string, scratch int, gpus ...[]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<algo name=\"t\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"1\" ngpus=\"%d\" coll=\"%s\" inplace=\"1\">\n", len(gpus), coll)
	for r, tbs := range gpus {
		fmt.Fprintf(&b, "<gpu id=\"%d\" i_chunks=\"1\" o_chunks=\"0\" s_chunks=\"%d\">\n", r, scratch)
		for i, tb := range tbs {
			head, steps, _ := strings.Cut(tb, ":")
			var send, recv int
			fmt.Sscan(head, &send, &recv)
			fmt.Fprintf(&b, "<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"0\">\n", i, send, recv)
			for k, step := range strings.Split(steps, ",") {
				var kind, src, dst string
				dep, at, told := -1, -1, 0
				fmt.Sscan(step, &kind, &src, &dst, &dep, &at, &told)
				fmt.Fprintf(&b, "<step s=\"%d\" type=\"%s\" srcbuf=\"%s\" srcoff=\"0\" dstbuf=\"%s\" dstoff=\"0\" cnt=\"1\" depid=\"%d\" deps=\"%d\" hasdep=\"%d\"/>\n", k, kind, src, dst, dep, at, told)
			}
			b.WriteString("</tb>\n")
		}
		b.WriteString("</gpu>\n")
	}
	b.WriteString("</algo>")
	return b.String()
}

// TestProblems: what is wrong with a plan is said in the file's numbers, with
// the line. What is right in spite of its looks is right.
func TestProblems(t *testing.T) {
	exchange := func(tb ...string) []string { return tb }
	for _, c := range []struct {
		name, text, word, says string
	}{
		{"exchange through scratch", plan("allreduce", 1,
			exchange("1 1:s i i -1 -1 1,r i s -1 -1 1", "-1 -1:re s i 0 1 0"),
			exchange("0 0:s i i -1 -1 1,r i s -1 -1 1", "-1 -1:re s i 0 1 0")), "ok", "in place: ok"},
		{"told by a later step", plan("allreduce", 1,
			exchange("1 1:s i i -1 -1 0,r i s -1 -1 1", "-1 -1:re s i 0 1 0"),
			exchange("0 0:s i i -1 -1 0,r i s -1 -1 1", "-1 -1:re s i 0 0 0")), "ok", "in place: ok"},
		{"never told", plan("allreduce", 1,
			exchange("1 1:s i i -1 -1 0,r i s -1 -1 0", "-1 -1:re s i 0 1 0"),
			exchange("0 0:s i i -1 -1 1,r i s -1 -1 1", "-1 -1:re s i 0 1 0")), "deadlock",
			"rank 0 block 1 step 0 (line 8): rank 0 block 1 step 0 (reduce) waits for block 1 step 0; in all 1 block is stuck, the first rank 0 block 1 step 0 (line 8); it waits for block 0 step 1, which nobody is told of"},
		{"waits for a step that is not there", plan("allreduce", 1,
			exchange("1 1:s i i -1 -1 1,r i s -1 -1 1", "-1 -1:re s i 0 7 0"),
			exchange("0 0:s i i -1 -1 1,r i s -1 -1 1", "-1 -1:re s i 0 1 0")), "deadlock", "it waits for block 0 step 7, and that block has 2 steps"},
		{"both receive first", plan("allreduce", 0, exchange("1 1:rrc i i,s i i"), exchange("0 0:rrc i i,s i i")), "deadlock",
			"waits for a message from rank 1; rank 1 block 0 step 0 (recv-reduce-copy) waits for a message from rank 0; in all 2 blocks are stuck"},
		{"nobody sends", plan("allreduce", 0, exchange("-1 1:rrc i i"), exchange("-1 -1:nop i i")), "deadlock",
			"waits for a message from rank 1, where no block does its part"},
		{"nobody receives", plan("custom", 0, exchange("1 -1:s i i"), exchange("-1 -1:nop i i")), "unpaired",
			"sends message 0 to rank 1 on channel 0, where no block receives it"},
		{"unset scratch", plan("allreduce", 1, exchange("1 1:s s i,rrc i i"), exchange("0 0:s i i,rrc i i")), "unwritten",
			"rank 0 block 0 step 0 (line 4): reads scratch 0, which nothing has written; in all 1 chunk is wrong"},
		{"scratch that does not matter", plan("allreduce", 1, exchange("1 1:s s i,s i i,r i i"), exchange("0 0:r i s,rrc i i,s i i")), "ok", "in place: ok"},
		{"counted twice", plan("allreduce", 0, exchange("1 1:s i i,s i i,r i i"), exchange("0 0:rrc i i,rrc i i,s i i")), "duplicate", "rank 0 would count twice"},
		{"a race", plan("custom", 1, exchange("-1 -1:cpy i s", "-1 -1:cpy s i")), "completes", "but for 2 uses of a chunk the order is left to chance, first rank 0 block"},
		{"reduce to rank 1", plan("reduce", 0, exchange("1 -1:s i i"), exchange("-1 0:rrc i i")), "ok", "in place: ok"},
		{"reduce to nobody", plan("reduce", 0, exchange("1 -1:s i i"), exchange("-1 0:r i i")), "wrong result", "input 0 of ranks 0-1"},
	} {
		f, err := Parse([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		verdicts, err := f.Judge(AnyRoot)
		if err != nil || len(verdicts) != 1 {
			t.Fatalf("%s: %v", c.name, err)
		}
		if v := &verdicts[0]; v.Word(f.Op) != c.word || !strings.Contains(v.Text, c.says) {
			t.Errorf("%s: %s; want %s: …%s…", c.name, v.Text, c.word, c.says)
		}
	}
}

// TestRoot: the root that a file means.
func TestRoot(t *testing.T) {
	for _, c := range []struct {
		text string
		root int
	}{
		{plan("reduce", 0, []string{"1 -1:s i i"}, []string{"-1 0:rrc i i"}), 1},
		{plan("broadcast", 0, []string{"-1 1:r i i"}, []string{"0 -1:s i i"}), 1},
		{strings.Replace(plan("broadcast", 0, []string{"-1 1:r i i"}, []string{"0 -1:s i i"}), `i_chunks="1"`, `i_chunks="0"`, 1), 1},
		{strings.Replace(strings.Replace(plan("", 0, []string{"-1 1:r i o"}, []string{"0 -1:s i i,cpy i o"}), `i_chunks="1"`, `i_chunks="0"`, 1), `coll=""`, "", 1), 1},
	} {
		f, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.Plan(AnyRoot)
		if err != nil || p.Root != c.root {
			t.Errorf("root %d, %v; want %d\n%s", p.Root, err, c.root, c.text)
		}
		if v, err := f.Judge(AnyRoot); err != nil || !v[0].Right() {
			t.Errorf("%s: %v\n%s", v[0].Text, err, c.text)
		}
		if _, err := f.Plan(2); err == nil {
			t.Error("root 2 of 2 ranks passes")
		}
	}
}

// TestCopies: copies come before everything else, and all blocks wait for them.
func TestCopies(t *testing.T) {
	text := strings.Replace(swap, `inplace="1" outofplace="0"`, `inplace="0" outofplace="1"`, 1)
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if v, _ := f.Judge(AnyRoot); v[0].Right() {
		t.Error("out of place nobody stores the own part, and it passes")
	}
	for r, line := range []string{`<gpu id="0" i_chunks="1" o_chunks="2" s_chunks="0">`, `<gpu id="1" i_chunks="1" o_chunks="2" s_chunks="0">`} {
		text = strings.Replace(text, line, fmt.Sprintf("%s<copy i_off=\"0\" o_off=\"%d\"/>", line, r), 1)
	}
	if f, err = Parse([]byte(text)); err != nil {
		t.Fatal(err)
	}
	p, err := f.Plan(AnyRoot)
	if err != nil {
		t.Fatal(err)
	}
	b := p.Rank(1)
	if len(b) != 2 || b[1].Steps[0].Kind != collective.Copy || fmt.Sprint(b[0].Steps[0].Deps) != "[{1 0}]" {
		t.Errorf("blocks %+v", b)
	}
	if v, _ := f.Judge(AnyRoot); !v[0].Right() || v[0].Races > 0 {
		t.Error(v[0].Text)
	}
	if _, err := Parse([]byte(strings.Replace(text, `o_off="1"`, `o_off="2"`, 1))); err == nil || !strings.Contains(err.Error(), "line 8: copies input 0 to output 2") {
		t.Errorf("a copy beyond the output: %v", err)
	}
}

// TestHostile: a file that promises much is refused before memory is taken for
// it: what a parser of XML takes of an honest file of that length is enough.
func TestHostile(t *testing.T) {
	big := strings.NewReplacer(`nchunksperloop="2"`, `nchunksperloop="1048576"`, `i_chunks="1"`, `i_chunks="0"`, `o_chunks="2"`, `o_chunks="0"`).Replace(swap)
	all := strings.Replace(big, `ngpus="2"`, `ngpus="16384"`, 1)
	for name, text := range map[string]string{
		"buffers of all ranks": strings.Replace(all, "</algo>", gpus(2, 16384)+"</algo>", 1),
		"chunks of all steps":  strings.Replace(big, "</tb>", strings.Repeat(`<step type="cpy" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1048576"/>`, 20)+"</tb>", 1),
		"elements":             strings.Replace(swap, "</tb>", strings.Repeat("<a>", 1000)+"</tb>", 1),
	} { // order: each case alone
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse([]byte(text))
		runtime.ReadMemStats(&after)
		used := after.TotalAlloc - before.TotalAlloc
		if err == nil || used > 64<<10+64*uint64(len(text)) {
			t.Errorf("%s: %v; %d bytes for a text of %d", name, err, used, len(text))
		}
	}
}

func gpus(from, to int) string {
	var b strings.Builder
	for r := from; r < to; r++ {
		fmt.Fprintf(&b, "<gpu id=\"%d\"/>", r)
	}
	return b.String()
}

// FuzzParse: whatever the text, Parse ends with a file that can be translated
// and proved, or says why not; nothing panics.
func FuzzParse(f *testing.F) {
	for _, s := range []string{swap, plan("reduce", 1, []string{"1 -1:s i i"}, []string{"-1 0:rrc i i"}),
		plan("custom", 1, []string{"-1 -1:cpy i s", "-1 -1:nop i i 0 0 1,cpy s i 0 0 0"}),
		"log\n" + swap + "text", "<algo", "<algo><gpu/></algo>", "<!DOCTYPE x>", strings.Replace(swap, "<tb", "<copy i_off=\"0\" o_off=\"1\"/><tb", 1)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse(text)
		if err != nil {
			return
		}
		if file.Ranks*file.Chunks > 1<<12 {
			return // right, and slow to prove a thousand times a second
		}
		verdicts, err := file.Judge(AnyRoot)
		if err != nil || len(verdicts) == 0 {
			t.Fatalf("%v, %v", verdicts, err)
		}
	})
}
