package cli

import (
	"encoding/csv"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// record is a row of a CSV file: a struct that is also written as JSON. Columns
// have the names that its fields have there; what is neither text nor a number,
// nor a list of texts, is left out. Where rows of several types stand in one file
// each has a kind, and columns that it lacks are empty.
type record struct {
	kind string
	of   any
}

// records returns like rows without a kind.
func records[T any](rows []T) []record {
	var all []record
	for i := range rows {
		all = append(all, record{of: rows[i]})
	}
	return all
}

// writeCSV writes records below a line of the columns' names.
func writeCSV(w io.Writer, rows []record) error {
	var names []string
	cells := make([]map[string]string, len(rows))
	for i, r := range rows {
		cells[i] = map[string]string{}
		add := func(name, cell string) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
			cells[i][name] = cell
		}
		if r.kind != "" {
			add("kind", r.kind)
		}
		eachField(reflect.ValueOf(r.of), add)
	}
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	for _, c := range cells {
		line := make([]string, len(names))
		for i, name := range names {
			line[i] = c[name]
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func eachField(v reflect.Value, add func(name, cell string)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			eachField(v.Field(i), add)
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		cell, ok := cellOf(v.Field(i))
		switch {
		case ok && options == "omitempty" && v.Field(i).IsZero():
			add(name, "")
		case ok:
			add(name, cell)
		}
	}
}

// cellOf returns a value as a cell, numbers without a unit: their columns name it.
func cellOf(v reflect.Value) (string, bool) {
	switch v.Kind() {
	case reflect.String:
		return v.String(), true
	case reflect.Int, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), true
	case reflect.Slice:
		list, ok := v.Interface().([]string)
		return strings.Join(list, " "), ok
	}
	return "", false
}
