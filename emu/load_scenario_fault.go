package emu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/railyard/railyard/emu/suggest"
)

// fault reads a fault: its type first, which says what its parameters are.
func (r *scenarioReader) fault(path string, n ast.Node, f *Fault) {
	all, ok := entries(n)
	if !ok || r.known.Faults.Type == nil {
		r.add(n, path, "must be a mapping with at least type and target")
		return
	}
	f.Element, f.Bit = -1, -1
	keys := []key{
		{name: "type", required: true, read: func(path string, n ast.Node) {
			parsedValue(r.reader, &f.Type, r.known.Faults.Type)(path, n)
		}},
		{name: "target", read: func(path string, n ast.Node) { r.text(&f.Target)(path, n) }},
		{name: "name", read: r.text(&f.Name)},
		{name: "step", read: func(path string, n ast.Node) { r.planStep(path, n, f) }},
		{name: "after", read: func(path string, n ast.Node) { r.after(path, n, f) }},
	}
	var params []*ast.MappingValueNode
	for _, e := range all {
		name := e.Key.GetToken().Value
		r.lines[join(path, name)] = line(e.Key)
		switch k := find(keys, name); {
		case k == nil:
			params = append(params, e)
		case name != "after": // once the type is known
			k.read(join(path, name), e.Value)
		default:
			defer k.read(join(path, name), e.Value)
		}
	}
	if f.Type == "" {
		if !r.given(path, "type") {
			_, err := r.known.Faults.Type("")
			r.add(n, path+".type", strings.TrimPrefix(err.Error(), "type: "))
		}
		return
	}
	for _, e := range params {
		name := e.Key.GetToken().Value
		text, ok := value(e.Value)
		if !ok {
			r.add(e.Value, join(path, suggest.Clip(name)), fmt.Sprintf("%s must be a single value", shown(e.Value)))
			continue
		}
		if err := r.known.Faults.Set(f, name, text); err != nil {
			r.add(e.Key, join(path, suggest.Clip(name)), strings.TrimPrefix(err.Error(), suggest.Clip(name)+": "))
		}
	}
}

// after reads after how many operations a fault strikes: "3 ops" or 3.
func (r *scenarioReader) after(path string, n ast.Node, f *Fault) {
	text, ok := value(n)
	digits := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(text), "ops"), "op")
	if _, err := strconv.Atoi(strings.TrimSpace(digits)); !ok || err != nil {
		r.add(n, path, fmt.Sprintf("%s must be a number of operations, such as 3 ops", shown(n)))
		return
	}
	if f.Type == "" {
		return
	}
	if err := r.known.Faults.Set(f, "afterOps", strings.TrimSpace(digits)); err != nil {
		r.add(n, path, err.Error())
	}
}

func (r *scenarioReader) planStep(path string, n ast.Node, f *Fault) {
	f.When.Step = &PlanStep{}
	r.mapping(n, path, []key{
		{name: "op", read: r.from0(&f.When.Step.Op)},
		{name: "rank", read: r.from0(&f.When.Step.Rank)},
		{name: "channel", read: r.from0(&f.When.Step.Channel)},
		{name: "step", required: true, read: r.from0(&f.When.Step.Step)},
	})
}

// expectation reads an entry of expect.
func (r *scenarioReader) expectation(path string, n ast.Node, e *Expectation) {
	keys := []key{
		{name: "run", read: r.from0(&e.Run)},
		{name: "within", read: r.span(&e.Within)},
	}
	wants := map[string]Want{}
	for i := range WantKeys {
		k := &WantKeys[i]
		keys = append(keys, key{name: k.Word, read: func(path string, n ast.Node) {
			text, ok := value(n)
			if k.Word == "detect" && ok && strings.HasPrefix(text, "node") {
				e.Detect = text // a node, not how long
				return
			}
			w, err := k.parse(text)
			if !ok || err != nil {
				r.add(n, path, fmt.Sprintf("%s %v", shown(n), err))
				return
			}
			wants[k.Word] = w
		}})
	}
	r.mapping(n, path, keys)
	given := false
	for _, k := range WantKeys {
		given = given || r.given(path, k.Word)
		if w, ok := wants[k.Word]; ok {
			e.Wants = append(e.Wants, w)
		}
	}
	switch {
	case e.Detect != "" && (r.given(path, "run") || len(e.Wants) > 0):
		r.add(n, path+".detect", fmt.Sprintf("%q goes with within: alone; expect other things in an entry of their own", suggest.Clip(e.Detect)))
	case e.Detect != "" && e.Within == 0 && !r.unread(path+".within"):
		r.add(n, path+".within", "is missing: how soon, such as 1.5s")
	case e.Detect == "" && r.given(path, "within"):
		r.add(n, path+".within", "needs detect: and a node, such as node2")
	case e.Detect == "" && !r.given(path, "run"):
		r.add(n, path+".run", "is missing: which entry of run it is about, counted from 0")
	case e.Detect == "" && !given && !r.unread(path):
		r.add(n, path, "expects nothing: name at least one of verdict, cause, wrong, busbw …")
	}
}

// parse reads what is wanted of a key.
func (k *WantKey) parse(text string) (Want, error) {
	w := Want{Key: k.Word, Relation: "=", OfRun: -1}
	text = strings.TrimSpace(text)
	if k.Kind == WantWord {
		w.Word = text
		if text == "" {
			return w, errors.New("must be a word")
		}
		for _, known := range k.Words {
			if known == text {
				return w, nil
			}
		}
		if k.Words != nil {
			return w, errors.New("is not known; allowed are " + strings.Join(k.Words, ", ") + suggest.Hint(text, k.Words))
		}
		return w, nil
	}
	for _, rel := range []string{">=", "<=", "!=", ">", "<", "="} {
		if rest, ok := strings.CutPrefix(text, rel); ok {
			w.Relation, text = rel, strings.TrimSpace(rest)
			break
		}
	}
	figures, run, ratio := strings.Cut(text, " of run ")
	if ratio {
		var err error
		if w.OfRun, err = strconv.Atoi(strings.TrimSpace(run)); err != nil || w.OfRun < 0 {
			return w, errors.New(`must end in "of run N", counted from 0`)
		}
	}
	low, high, isRange := strings.Cut(figures, "..")
	var err error
	if w.Value, err = k.figure(low, ratio); err == nil && isRange {
		if w.Relation != "=" {
			return w, errors.New("is a range, which stands without < or >")
		}
		w.Relation = ".."
		w.Most, err = k.figure(high, ratio)
		if err == nil && w.Most < w.Value {
			err = errors.New("is a range that ends before it begins")
		}
	}
	return w, err
}

// figure reads a value of the key, or a percentage of another run's.
func (k *WantKey) figure(text string, ratio bool) (int64, error) {
	text = strings.TrimSpace(text)
	if ratio {
		return percentage(text)
	}
	switch k.Kind {
	case WantRate:
		return asInt(parseRate(text))
	case WantDuration:
		return asInt(parseDuration(text))
	case WantBytes:
		return asInt(parseBytes(text))
	default:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < -1 {
			return 0, errors.New(`must be a number such as 24, ">= 24" or 1..3`)
		}
		return v, nil
	}
}
