package cli

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"gorbm/negphase"
	"gorbm/rbm/finitejson"
)

// A RecordField is a value with its names in JSON and in text.
type RecordField struct {
	Key   string // in JSON, and head of a column in CSV files; "": the field is in text only
	Label string // in text, at the beginning of a line or the head of a column; "": a field with a key is in JSON only
	Value any    // in JSON and CSV files; nil: no value
	Text  string // the value in text
}

// A Record is the result of a command: fields in the order in which its JSON, text and tables
// show them.
type Record []RecordField

// Add appends a value for JSON and CSV files only. JSON omits a nil pointer, slice or map, and
// writes NaN and infinite numbers as null.
func (r *Record) Add(key string, value any) { r.Show(key, "", value, "") }

// AddSome is like Add, but omits zeros, false and "" as well.
func (r *Record) AddSome(key string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		r.Add(key, value)
	}
}

// Show is like Add, for a value that also appears in text, as label and text.
func (r *Record) Show(key, label string, value any, text string) {
	if v := reflect.ValueOf(value); v.IsValid() {
		switch v.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if v.IsNil() {
				value = nil
			}
		}
	}
	*r = append(*r, RecordField{key, label, value, text})
}

// AddFigures appends the figures that an estimator derives from its counts.
func (r *Record) AddFigures(figures []negphase.Figure) {
	for _, f := range figures {
		r.Add(f.Key, Known(f.Value))
	}
}

// Say appends a field that is only in text.
func (r *Record) Say(label, text string) { r.Show("", label, nil, text) }

// Get returns the value of a key, or nil. "outer.inner" is the key inner of the record under
// outer.
func (r Record) Get(path string) any {
	key, rest, within := strings.Cut(path, ".")
	for _, f := range r {
		if f.Key != key {
			continue
		}
		if inner, ok := f.Value.(Record); within && ok {
			return inner.Get(rest)
		} else if !within {
			return f.Value
		}
	}
	return nil
}

// MarshalJSON writes the fields that have a key and a value as an object.
func (r Record) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	sep := byte('{')
	for _, f := range r {
		if f.Key == "" || f.Value == nil {
			continue
		}
		b.WriteByte(sep)
		sep = ','
		key, _ := finitejson.Marshal(f.Key)
		b.Write(append(key, ':'))
		if err := finitejson.Write(&b, f.Value, ""); err != nil { // leaves <, > and & unescaped: the caller decides whether to escape them
			return nil, fmt.Errorf("%s: %w", f.Key, err)
		}
	}
	if sep == '{' {
		b.WriteByte(sep)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Print writes each field that has a text as a line: the label, padded to width columns, and the
// text, or the text alone if there is neither label nor key.
func (r Record) Print(w io.Writer, width int) {
	for _, f := range r {
		switch {
		case f.Text == "":
		case f.Label != "":
			fmt.Fprintf(w, "%-*s %s\n", width, f.Label, f.Text)
		case f.Key == "":
			fmt.Fprintln(w, f.Text)
		}
	}
}

// Table returns the text fields of records with the same labels as a table: a line of labels,
// then a line of texts for each record.
func Table(records []Record) [][]string {
	table := [][]string{nil}
	for i, r := range records {
		var row []string
		for _, f := range r {
			if f.Label == "" && f.Key != "" {
				continue
			}
			if row = append(row, f.Text); i == 0 {
				table[0] = append(table[0], f.Label)
			}
		}
		table = append(table, row)
	}
	return table
}

// Lines returns the fields with a label as a table of two columns, what and value.
func (r Record) Lines() [][]string {
	lines := [][]string{{"what", "value"}}
	for _, f := range r {
		if f.Label != "" {
			lines = append(lines, []string{f.Label, f.Text})
		}
	}
	return lines
}

// PrintTable writes a table with columns aligned right, or the first aligned left if firstLeft is set.
func PrintTable(w io.Writer, table [][]string, firstLeft bool) error {
	width := 0
	for _, line := range table {
		if firstLeft {
			width = max(width, utf8.RuneCountInString(line[0]))
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, line := range table {
		fmt.Fprintf(t, "%-*s\t", width, line[0])
		for _, cell := range line[1:] {
			fmt.Fprintf(t, "%s\t", cell)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// Columns returns the values of records as the lines of a CSV file, numbers to the given number of
// significant digits. columns are keys, by default all keys of the first record. HEAD=PATH is a column headed
// HEAD with the values of Get(PATH). A value that is missing or not finite is an empty cell.
func Columns(records []Record, digits int, columns ...string) [][]string {
	lines := [][]string{nil}
	if columns == nil {
		for _, f := range records[0] {
			if f.Key != "" {
				columns = append(columns, f.Key)
			}
		}
	}
	paths := make([]string, len(columns))
	for i, c := range columns {
		head, path, named := strings.Cut(c, "=")
		if paths[i] = head; named {
			paths[i] = path
		}
		lines[0] = append(lines[0], head)
	}
	for _, r := range records {
		var line []string
		for _, path := range paths {
			line = append(line, csvCell(r.Get(path), digits))
		}
		lines = append(lines, line)
	}
	return lines
}

func csvCell(value any, digits int) string {
	if list, ok := value.([]string); ok {
		return strings.Join(list, "; ")
	}
	v := reflect.ValueOf(value)
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return ""
	case v.Kind() == reflect.Float64:
		if !Finite(v.Float()) {
			return ""
		}
		return strconv.FormatFloat(v.Float(), 'g', digits, 64)
	}
	return fmt.Sprint(v.Interface())
}
