package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A records reads the records of a text: rows of cells without quotes, with decimal points.
type records struct {
	dialect
	path   string
	ragged bool // records may differ in their number of cells
	limit  *rowLimit
	csv    *csv.Reader
	width  int      // number of cells of each record, from the first
	sample []record // records that peek has read and next has not returned
	failed error    // error after the sample
	cells  []string // cells of the last record, if each character is one
}

type record struct {
	cells []string
	line  int
}

// newRecords finds the dialect of t and goes to its first record.
func newRecords(t *text, opt Options) (*records, error) {
	d, err := t.findDialect(opt)
	if err != nil {
		return nil, err
	}
	r := &records{dialect: d, path: t.path, limit: &rowLimit{r: t.in, comma: byte(d.comma), line: d.skipped, lines: d.skipped}}
	r.csv = csv.NewReader(bufio.NewReaderSize(r.limit, 1<<16))
	r.csv.Comma = d.comma
	r.csv.FieldsPerRecord = -1 // read checks the number of columns
	r.csv.ReuseRecord = true
	r.csv.TrimLeadingSpace = d.comma != '\t' // with tabs it would drop empty fields; with blanks it skips them
	return r, nil
}

// next returns the next record and its line, or io.EOF. The record is valid until the next call.
func (r *records) next() ([]string, int, error) {
	if len(r.sample) > 0 {
		first := r.sample[0]
		r.sample = r.sample[1:]
		return first.cells, first.line, nil
	}
	if r.failed != nil {
		return nil, 0, r.failed
	}
	return r.read()
}

// peekBytes is the number of bytes of cells after which peek stops.
const peekBytes = 1 << 22

// peek returns the first records, at most 1+lookAhead of them. next returns them again, and then the error
// of the record after them, if it has one.
func (r *records) peek() ([]record, error) {
	for size := 0; len(r.sample) <= lookAhead && size < peekBytes; {
		row, line, err := r.read()
		if err != nil && len(r.sample) == 0 && err != io.EOF {
			return nil, err
		}
		if r.failed = err; err != nil {
			break
		}
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = c
			size += len(c)
		}
		r.sample = append(r.sample, record{cells, line})
	}
	return r.sample, nil
}

func (r *records) read() ([]string, int, error) {
	row, err := r.csv.Read()
	var parse *csv.ParseError
	switch {
	case r.limit.err != nil: // takes precedence over the parser's error about the truncated row
		return nil, 0, fmt.Errorf("%s: %w", r.path, r.limit.err)
	case errors.As(err, &parse):
		return nil, 0, formatErrorf("%s:%d: byte %d: %w; quotes must enclose a whole field", r.path, parse.Line+r.skipped, parse.Column, parse.Err)
	case err == io.EOF:
		return nil, 0, err
	case err != nil:
		return nil, 0, idxRead(r.path, err)
	}
	line, _ := r.csv.FieldPos(0)
	line += r.skipped
	for j, field := range row {
		if len(field) == 1 && field[0] < utf8.RuneSelf {
			continue
		}
		if !utf8.ValidString(field) {
			at, _ := r.csv.FieldPos(j)
			return nil, 0, formatErrorf("%s:%d: column %d: %s is not UTF-8; save the file as UTF-8, such as by iconv -f latin1 -t utf-8", r.path, at+r.skipped, j+1, quote(field))
		}
		if r.decimal {
			row[j] = decimalPoint(field)
		}
		if r.single && len(field) > 1 {
			row[j] = field[1 : len(field)-1]
		}
	}
	if r.comma == blank && len(row) == 1 && row[0] == "" {
		return r.read() // a line of blanks
	}
	if r.comma == blank && len(row) > 1 && row[len(row)-1] == "" {
		row = row[:len(row)-1] // blanks at the end of the line
	}
	if r.characters && len(row) == 1 && (r.width != 0 || isNumber(row[0])) {
		r.cells = r.cells[:0]
		for _, c := range strings.TrimSpace(row[0]) {
			r.cells = append(r.cells, string(c))
		}
		row = r.cells
	} else if r.characters && len(row) == 1 {
		return r.read() // the name of the column of bits
	}
	if r.width == 0 {
		r.width = len(row)
	}
	if len(row) != r.width && !r.ragged {
		title := ""
		if r.width == 1 {
			title = fmt.Sprintf("; if line %d is a title, delete it", line-1)
		}
		return nil, 0, formatErrorf("%s:%d: %d columns where the first row has %d; give every row the same number%s", r.path, line, len(row), r.width, title)
	}
	return row, line, nil
}
