package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"gorbm/negphase"
	"gorbm/rbm/finitejson"
)

// A RecordField is a value with its names.
type RecordField struct {
	Key   string // in JSON and of columns of a CSV file; "" for a field that is for people alone
	Label string // for people: of a line, or at the head of a column; "" leaves out one that has a key
	Value any    // nil if there is none
	Text  string // for people
}

// A Record is what a command has computed: fields in their order, from which its JSON, its
// text and its tables come.
type Record []RecordField

// Add appends a value that is not for people. A nil pointer, slice or map is no value: JSON
// leaves it out. A number that is NaN or infinite is null there.
func (r *Record) Add(key string, value any) { r.Show(key, "", value, "") }

// AddSome is Add, but zeros, false and "" are no values either.
func (r *Record) AddSome(key string, value any) {
	if v := reflect.ValueOf(value); v.IsValid() && !v.IsZero() {
		r.Add(key, value)
	}
}

// Show is Add of a value that people read as text under a label.
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

// AddFigures appends what the counts of an estimator give.
func (r *Record) AddFigures(figures []negphase.Figure) {
	for _, f := range figures {
		r.Add(f.Key, Known(f.Value, !math.IsNaN(f.Value)))
	}
}

// Say appends a text for people alone.
func (r *Record) Say(label, text string) { r.Show("", label, nil, text) }

// Get returns a value by its key, and those of records within by keys with dots between
// them. It is nil if there is none.
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

// MarshalJSON writes an object of the fields that have a key and a value.
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
		if err := finitejson.Write(&b, f.Value, ""); err != nil { // <, > and & stay, as the caller decides on them
			return nil, fmt.Errorf("%s: %w", f.Key, err)
		}
	}
	if sep == '{' {
		b.WriteByte(sep)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Print writes the fields for people, a line each: the label, on width columns, and the text,
// or the text alone. Those without a text have no line.
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

// Table returns the fields for people of records with the same labels: the head, and a row of
// texts for each.
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

// Lines returns the fields for people as a table of two columns, what and value.
func (r Record) Lines() [][]string {
	lines := [][]string{{"what", "value"}}
	for _, f := range r {
		if f.Label != "" {
			lines = append(lines, []string{f.Label, f.Text})
		}
	}
	return lines
}

// PrintTable writes a table with its columns on the right, or the first on the left.
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

// Columns returns the values of records under the keys columns as the lines of a CSV file, with this
// number of digits. Without columns it takes the keys of the first record. HEAD=PATH heads a column
// HEAD and takes it from a record within. A value that is missing or not finite is empty.
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
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return ""
		}
		return strconv.FormatFloat(v.Float(), 'g', digits, 64)
	}
	return fmt.Sprint(v.Interface())
}
