package data

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode"

	"gorbm/data/grammar"
	"gorbm/rbm/memory"
)

// A frame has the columns of a text after one pass over its rows, with facts about each.
type frame struct {
	path    string
	kind    string   // HeaderYes, HeaderNo or HeaderNumbers
	names   []string // of all columns of the file; c1, c2, … without a header
	roles   []role
	columns []*column // the inputs
	label   *column   // nil: none
	weights []float64 // nil: none
	counted []float64 // weights of the rows in means and levels: see Options.counted
	weigher string    // name of the column of weights; "": none
	rows    int
	lines   lineIndex
	numbers []int32 // numbers of the rows in the file; nil: none is left out
	zeros   int     // rows of weight 0
	notes   []string
	unused  []string // names of columns that a model lacks
}

// A lineIndex has the line of each row of a file. Most rows have the line after that of the row before.
type lineIndex struct{ rows, offsets []int } // from rows[i] on, row r is in line r + offsets[i]

func (x *lineIndex) add(row, line int) {
	if n := len(x.offsets); n == 0 || x.offsets[n-1] != line-row {
		x.rows, x.offsets = append(x.rows, row), append(x.offsets, line-row)
	}
}

func (x *lineIndex) of(row int) int {
	at, found := slices.BinarySearch(x.rows, row)
	if !found {
		at--
	}
	return row + x.offsets[at]
}

// A role says what a column of the file is for.
type role uint8

const (
	input role = iota
	ignored
	labels
	weight
)

// readFrame reads the rows of a text.
func readFrame(t *text, opt Options) (*frame, error) {
	r, err := newRecords(t, opt)
	if err != nil {
		return nil, err
	}
	f := &frame{path: t.path, notes: r.notes}
	if err := f.readHeader(r, opt); err != nil {
		return nil, err
	}
	var given []float64 // weights of a file
	if opt.Weights != "" && f.weigher == "" {
		given, err = opt.rowWeights()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, noWeights(opt.Weights, f.path, f.inputs())
		case err != nil:
			return nil, err
		}
	}
	missing := opt.missing()
	f.columns = make([]*column, 0, len(f.names))
	byFile := make([]*column, len(f.names))
	for j, name := range f.names {
		keep := opt.kept(name)
		if f.roles[j] == labels {
			keep = maxTableLevels
		}
		if f.roles[j] == ignored {
			continue
		}
		byFile[j] = newColumn(name, j, keep, missing)
		byFile[j].asked = opt.isCategorical(name)
		switch f.roles[j] {
		case input:
			f.columns = append(f.columns, byFile[j])
		case labels:
			f.label = byFile[j]
			f.label.missing = nil
		}
	}
	if why := checkShape(0, int64(len(f.columns))); why != "" {
		return nil, formatErrorf("%s:1: %s; split the file", f.path, why)
	}
	for row := 0; ; row++ {
		cells, line, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := f.add(cells, line, row, byFile, given); err != nil {
			return nil, err
		}
	}
	if n := f.rows + f.zeros; given != nil && len(given) != n {
		return nil, formatErrorf("%s holds %d weights, and %s %d rows; give one a row", opt.Weights, len(given), f.path, n)
	}
	switch n := f.rows; {
	case n == 0 && f.zeros > 0:
		return nil, noWeight(f.path, f.zeros, 0)
	case n == 0:
		return nil, formatErrorf("%s: no examples; write one a row", f.path)
	case f.zeros > 0:
		f.notes = append(f.notes, fmt.Sprintf("%d of %d rows have weight 0 and are left out", f.zeros, n+f.zeros))
	default:
		f.numbers = nil
	}
	sum := 0.0
	for _, w := range f.weights {
		sum += w
	}
	if math.IsInf(sum, 0) {
		return nil, noWeight(f.path, f.rows+f.zeros, sum)
	}
	f.counted = opt.counted(f.rows, f.weights)
	for _, c := range f.columns {
		c.finish()
	}
	return f, nil
}

// add adds a row, unless its weight is 0.
func (f *frame) add(cells []string, line, row int, byFile []*column, given []float64) error {
	w := 1.0
	if f.weigher != "" {
		at := slices.Index(f.roles, weight)
		why := ""
		if w, why = parseWeight(cells[at]); why != "" {
			return formatErrorf("%s:%d: column %d (%s): %s", f.path, line, at+1, quote(f.weigher), why)
		}
	} else if row < len(given) {
		w = given[row]
	}
	if w == 0 {
		f.zeros++
		return nil
	}
	if f.weigher != "" || given != nil {
		f.weights = append(f.weights, w)
		f.numbers = append(f.numbers, int32(row))
	}
	n := f.rows
	if n == maxRows {
		return formatErrorf("%s: more than the %d rows that are allowed; split the file", f.path, maxRows)
	}
	// Before slices double: is there memory for them, their copies and what is not collected yet?
	if n&(n-1) == 0 && n >= 1<<10 {
		size := 12 * len(f.weights)
		for _, c := range byFile {
			if c != nil {
				size += len(c.cells)
			}
		}
		if err := memory.Check(fmt.Sprintf("%s, after %d rows,", f.path, n), 6*float64(size)); err != nil {
			return formatErrorf("%w; split the file", err)
		}
	}
	f.lines.add(n, line)
	f.rows++
	for j, c := range byFile {
		if c == nil || f.roles[j] == weight {
			continue
		}
		cell := cells[j]
		if len(cell) != 1 {
			cell = strings.TrimSpace(cell)
		}
		if c.add(cell); len(cell) > maxLabel {
			if c == f.label {
				return f.wrong(c, n, "a label of %d bytes; is it a column of labels?", len(cell))
			}
			return f.wrong(c, n, "a word of %d bytes", len(cell))
		}
	}
	return nil
}

// readHeader decides whether the first record names the columns, and finds the columns that the options
// name.
func (f *frame) readHeader(r *records, opt Options) error {
	rows, err := r.peek()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return formatErrorf("%s: no examples; write one a row", f.path)
	}
	first := rows[0].cells
	width := len(first)
	if why := checkShape(0, int64(width)); why != "" {
		return formatErrorf("%s:%d: %s; split the file", f.path, rows[0].line, why)
	}
	at := func(name string) int {
		return slices.IndexFunc(first, func(cell string) bool { return strings.TrimSpace(cell) == name })
	}
	named := r.names != nil
	if named {
		first = r.names
	}
	for _, name := range opt.columnNames() {
		named = named || opt.Header != HeaderNo && at(name) >= 0 && width > 1
	}
	switch {
	case named:
		f.kind = HeaderYes
	case opt.Header == HeaderYes || opt.Header == HeaderNo:
		f.kind = opt.Header
	default:
		l := firstLine{path: f.path, cells: first, inputs: width}
		for _, row := range rows[1:] {
			l.rows = append(l.rows, row.cells)
		}
		if opt.LabelColumn == "last" && width > 1 {
			l.inputs--
		}
		note := ""
		if f.kind, note, err = l.kind(); err != nil {
			return err
		}
		if note != "" {
			f.notes = append(f.notes, note)
		}
	}
	f.names, f.roles = make([]string, width), make([]role, width)
	for j := range f.names {
		if f.names[j] = fmt.Sprintf("c%d", j+1); f.kind != HeaderNo {
			f.names[j] = strings.TrimSpace(first[j])
		}
	}
	if f.kind != HeaderNo && r.names == nil {
		r.sample = r.sample[1:]
	}
	return f.findColumns(rows[0].line, opt)
}

// columnNames returns the names of columns that the options have.
func (o Options) columnNames() (names []string) {
	names = append(names, ParseNames(o.Ignore)...)
	if !slices.Contains([]string{"auto", "first", "last", "none", ""}, o.LabelColumn) {
		names = append(names, o.LabelColumn)
	}
	if o.Categorical != "auto" && o.Categorical != "all" {
		names = append(names, ParseNames(o.Categorical)...)
	}
	if o.Weights != "" {
		names = append(names, o.Weights)
	}
	if o.KnownLabel != "" {
		names = append(names, o.KnownLabel)
	}
	names = append(names, o.Columns...)
	if o.Schema != nil {
		for i := range o.Schema.Columns {
			names = append(names, o.Schema.Columns[i].Name)
		}
		names = append(names, o.Schema.Label)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// findColumns gives the columns their roles.
func (f *frame) findColumns(line int, opt Options) error {
	hint := "its first line is " + someNames(f.names)
	if f.kind == HeaderNo {
		hint = fmt.Sprintf("its first line is a row, so that the columns are c1 to c%d", len(f.names))
	}
	for _, name := range ParseNames(opt.Ignore) {
		found := name == "none"
		for j := range f.names {
			if f.names[j] == name {
				f.roles[j], found = ignored, true
			}
		}
		if !found && !opt.IgnoreKnown {
			return specErrorf("%s has no column %s to ignore%s", f.path, quote(name), grammar.DidYouMeanOr(name, f.names, hint))
		}
	}
	if !slices.Contains(f.roles, input) {
		return specErrorf("%s: all columns are ignored; leave one of them", f.path)
	}
	if at := slices.Index(f.names, opt.Weights); opt.Weights != "" && at >= 0 && len(f.names) > 1 && f.kind != HeaderNo {
		f.roles[at], f.weigher = weight, opt.Weights
	}
	var inputs []int
	for j, role := range f.roles {
		if role == input {
			inputs = append(inputs, j)
		}
	}
	if len(inputs) == 0 {
		return formatErrorf("%s:%d: the weights are the only column; put the inputs before it", f.path, line)
	}
	first, last, at := inputs[0], inputs[len(inputs)-1], -1
	known := opt.KnownLabel
	if opt.Schema != nil {
		if known = opt.Schema.Label; known == "" && opt.LabelColumn == "auto" {
			opt.LabelColumn = "none"
		}
	}
	find := func(name string) int {
		return slices.IndexFunc(f.names, func(n string) bool { return n == name })
	}
	switch opt.LabelColumn {
	case "none":
	case "first":
		at = first
	case "last":
		at = last
	case "auto", "":
		switch {
		case known != "" && find(known) >= 0:
			at = find(known)
		case f.kind != HeaderNo && isLabelName(f.names[last]):
			at = last
		case f.kind != HeaderNo && opt.Schema == nil && isLabelName(f.names[first]):
			return formatErrorf("%s:%d: the labels, %s, are in the first column; say so by -label-column first", f.path, line, quote(f.names[first]))
		}
	default:
		if at = find(opt.LabelColumn); at < 0 {
			return formatErrorf("%s:%d: no column is named %s, for the labels%s", f.path, line, quote(opt.LabelColumn), grammar.DidYouMeanOr(opt.LabelColumn, f.names, strings.Replace(hint, "its", "the", 1)))
		}
		if slices.Contains(f.names[at+1:], opt.LabelColumn) {
			return formatErrorf("%s:%d: two columns are named %s; give them different names", f.path, line, quote(opt.LabelColumn))
		}
	}
	if at >= 0 && f.roles[at] == input {
		if f.roles[at] = labels; len(inputs) == 1 {
			return formatErrorf("%s:%d: the labels are the only column; put the inputs before it", f.path, line)
		}
	}
	return nil
}

// inputs returns the names of the columns of inputs.
func (f *frame) inputs() (names []string) {
	for j, role := range f.roles {
		if role == input {
			names = append(names, f.names[j])
		}
	}
	return names
}

// columnName names a column for a message, by its number in the file and by the header.
func (f *frame) columnName(c *column) string {
	name := fmt.Sprintf("column %d", c.at+1)
	if f.kind != HeaderNo {
		name += " (" + quote(c.name) + ")"
	}
	return name
}

// wrong returns an error about the cell of a column in a row. It names the file, the line and the column.
func (f *frame) wrong(c *column, row int, format string, args ...any) error {
	line := f.lines.of(row)
	return formatErrorf("%s:%d: %s: %s", f.path, line, f.columnName(c), fmt.Sprintf(format, args...))
}

// columnError returns an error about a whole column.
func (f *frame) columnError(c *column, format string, args ...any) error {
	return formatErrorf("%s: %s %s", f.path, f.columnName(c), fmt.Sprintf(format, args...))
}

// givenName returns name as it is written in a value of -ignore or another flag that lists names.
func givenName(name string) string {
	name = JoinNames(name)
	if strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.", r)
	}) {
		return "'" + name + "'"
	}
	return name
}

// leaveOut returns the advice to leave out a column.
func leaveOut(c *column) string {
	if c.name == "" {
		return "leave it out"
	}
	return "leave it out by -ignore " + givenName(c.name)
}

// kept returns the largest number of different numbers of a column whose words are kept, as they may become
// the names of levels.
func (o Options) kept(name string) int {
	switch {
	case o.Schema != nil:
		for i := range o.Schema.Columns {
			if c := &o.Schema.Columns[i]; c.Name == name && c.Number == nil && c.Edges == nil {
				return maxTableLevels
			}
		}
	case o.isCategorical(name):
		return maxTableLevels
	}
	return o.cut()
}

// isCategorical reports whether Options.Categorical names a column.
func (o Options) isCategorical(name string) bool {
	return o.Categorical == "all" || o.Categorical != "auto" && slices.Contains(ParseNames(o.Categorical), name)
}

// missing returns whether a word means that a value is missing, by Options.Missing alone; nil: none does.
func (o Options) missing() func(w word) bool {
	names := ParseNames(o.Missing)
	if len(names) == 0 {
		return nil
	}
	var values []float64
	for _, name := range names {
		if v, ok := number(name); ok {
			values = append(values, v)
		}
	}
	return func(w word) bool {
		return w.text != "" && slices.Contains(names, w.text) || !math.IsNaN(w.value) && slices.Contains(values, w.value)
	}
}
