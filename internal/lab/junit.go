package lab

import (
	"encoding/xml"
	"fmt"

	"github.com/railyard/railyard/emu/experiment"
)

// The elements of JUnit's XML, as CI systems read it.
type suites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []suite
}

type suite struct {
	XMLName  xml.Name `xml:"testsuite"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Cases    []testcase
	Output   *output `xml:"system-out"`
}

type testcase struct {
	XMLName   xml.Name `xml:"testcase"`
	ClassName string   `xml:"classname,attr"`
	Name      string   `xml:"name,attr"`
	Failure   *trouble `xml:"failure,omitempty"`
	Error     *trouble `xml:"error,omitempty"`
}

type trouble struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type output struct {
	Text string `xml:",cdata"`
}

// JUnit returns a report as JUnit's XML: a test for each expectation; where there is
// none, for each run.
func JUnit(u *experiment.Setup, r *experiment.Report) []byte {
	s := suite{Name: r.Name, Output: &output{Table(u, r, Complete)}}
	add := func(name string, failure, err *trouble) {
		s.Cases = append(s.Cases, testcase{ClassName: r.Name, Name: name, Failure: failure, Error: err})
		s.Tests++
		if failure != nil {
			s.Failures++
		}
		if err != nil {
			s.Errors++
		}
	}
	for _, j := range r.Expect {
		t := &trouble{Message: "it is " + j.Got, Text: why(r)}
		switch j.State {
		case experiment.Held:
			add(j.Text, nil, nil)
		case experiment.Broken:
			add(j.Text, t, nil)
		default:
			add(j.Text, nil, t)
		}
	}
	for i := range r.Runs {
		if len(r.Expect) > 0 {
			break
		}
		run := &r.Runs[i]
		name := fmt.Sprintf("run %d %s", i, What(&u.Scenario.Phases[i], run))
		t := &trouble{Message: string(run.Verdict), Text: why(r)}
		switch {
		case run.Verdict == experiment.Done:
			add(name, nil, nil)
		case r.Perturbed(): // it is not known what would have come of it
			add(name, nil, t)
		default:
			add(name, t, nil)
		}
	}
	data, err := xml.MarshalIndent(suites{Suites: []suite{s}}, "", "  ")
	if err != nil {
		panic("lab: " + err.Error())
	}
	return append([]byte(xml.Header), append(data, '\n')...)
}

// why lists what failed.
func why(r *experiment.Report) string {
	text := ""
	for i := range r.Runs {
		if f := r.Runs[i].Failure; f != nil {
			text += fmt.Sprintf("run %d: %s: %s\n", i, f.Cause, f.Text)
		}
	}
	return text
}
