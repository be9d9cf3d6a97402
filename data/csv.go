package data

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gorbm/rbm"
)

// labelNames are the names of a last column, in lower case, that say that it
// holds labels.
var labelNames = []string{"y", "label", "class", "target"}

// A csvReader reads a CSV file.
type csvReader struct {
	path   string
	labels string // auto, last or none
	r      *csv.Reader
	header []string // nil if the file has none
	fields int      // columns of each row, with that of the labels
	label  bool     // the last column holds labels

	bin      binarizer
	words    []uint64  // rows so far
	labeller labeller  // labels so far
	between  bool      // some value so far lies between 0 and 1
	grey     []float32 // values so far; for None only
}

// loadCSV reads a file of one example a row: values 0 and 1, or numbers in
// [0,1] that are made binary as Options.Binarize says. A header of words may
// come first, and labels may be in the last column; see Options.LabelColumn.
func loadCSV(f io.ReaderAt, size int64, path string, opt Options) ([]*Set, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 1<<16)
	// Some spreadsheets begin a file with a byte order mark.
	if bom, err := in.Peek(3); err == nil && string(bom) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	c := &csvReader{path: path, labels: opt.LabelColumn, r: csv.NewReader(in), bin: opt.binarizer(streamTrain)}
	c.r.FieldsPerRecord = -1 // rows of unequal length have an error of our own
	c.r.ReuseRecord = true
	c.r.TrimLeadingSpace = true
	for first := true; ; first = false {
		row, err := c.r.Read()
		var parse *csv.ParseError
		switch {
		case err == io.EOF:
			return c.set()
		case errors.As(err, &parse):
			return nil, formatErrorf("%s:%d: byte %d: %w; quotes must enclose a whole field", path, parse.Line, parse.Column, parse.Err)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		header := false
		if first {
			header, err = c.begin(row)
		}
		if err == nil && !header {
			err = c.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
}

// begin reads from the first row the number of columns, whether the row is a
// header, and whether there are labels.
func (c *csvReader) begin(row []string) (header bool, err error) {
	c.fields = len(row)
	last := strings.ToLower(strings.TrimSpace(row[len(row)-1]))
	labelled := slices.Contains(labelNames, last)
	header = labelled
	if !header {
		// A header has words in all columns of inputs. A word among numbers is a
		// mistake.
		inputs := row
		if c.labels == "last" && len(row) > 1 {
			inputs = row[:len(row)-1]
		}
		header = !slices.ContainsFunc(inputs, isNumber)
	}
	if header {
		c.header = slices.Clone(row) // the reader reuses row
		first := strings.ToLower(strings.TrimSpace(row[0]))
		if c.labels == "auto" && !labelled && slices.Contains(labelNames, first) {
			return false, formatErrorf("%s:1: the labels, %s, are in the first column; move them to the last", c.path, quote(row[0]))
		}
	}
	c.label = c.labels == "last" || c.labels == "auto" && labelled
	if c.label && len(row) < 2 {
		return false, formatErrorf("%s:1: the labels' is the only column; put the inputs before it", c.path)
	}
	if why := checkShape(0, int64(len(row))); why != "" {
		return false, formatErrorf("%s:1: %s; split the file", c.path, why)
	}
	return header, nil
}

// isNumber reports whether a field reads as a number, NaN included.
func isNumber(field string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// add adds a row of values.
func (c *csvReader) add(row []string) error {
	if len(row) != c.fields {
		line, _ := c.r.FieldPos(0)
		return formatErrorf("%s:%d: %d columns where the first row has %d; give every row the same number", c.path, line, len(row), c.fields)
	}
	if c.label {
		name := strings.TrimSpace(row[len(row)-1])
		if name == "" {
			return c.wrong(len(row)-1, "the label is missing; name a class")
		}
		if why := c.labeller.add(name); why != "" {
			return c.wrong(len(row)-1, "%s; is it a column of labels?", why)
		}
		row = row[:len(row)-1]
	}
	at := len(c.words)
	stride := (len(row) + 63) / 64
	if at+stride > maxWords || at/stride >= maxRows {
		return formatErrorf("%s: more than the 1 GiB of bits that is allowed; split the file", c.path)
	}
	c.words = slices.Grow(c.words, stride)[:at+stride]
	x := c.words[at:]
	clear(x)
	i := at / stride
	key := c.bin.row(i)
	for j, field := range row {
		v := 0.0
		switch field {
		case "0":
		case "1":
			v = 1
		default:
			var err error
			if v, err = c.value(j, field); err != nil {
				return err
			}
		}
		if c.bin.one(key, j, v) {
			x[j/64] |= 1 << (j % 64)
		}
		c.between = c.between || v != 0 && v != 1
		if c.bin.mode == None {
			c.grey = append(c.grey, float32(v))
		}
	}
	if c.bin.mode == None && c.between {
		if why := checkGrey(i+1, len(row)); why != "" {
			return formatErrorf("%s: %s", c.path, why)
		}
	}
	return nil
}

// value reads a field of column j that is neither "0" nor "1".
func (c *csvReader) value(j int, field string) (float64, error) {
	field = strings.TrimSpace(field)
	v, err := strconv.ParseFloat(field, 64)
	switch {
	case field == "":
		return 0, c.wrong(j, "a value is missing; write 0 or 1, or a number between")
	case err != nil && !errors.Is(err, strconv.ErrRange):
		if j == c.fields-1 {
			return 0, c.wrong(j, "%s is not a number; if the last column holds labels, say so by -label-column last", quote(field))
		}
		return 0, c.wrong(j, "%s is not a number; write 0 or 1, or a number between", quote(field))
	case math.IsNaN(v):
		return 0, c.wrong(j, "%s is not a number in [0,1]; fill in missing values first", quote(field))
	case !(v >= 0 && v <= 1):
		hint := ""
		if j == c.fields-1 {
			hint = ", or if the last column holds labels, say so by -label-column last"
		}
		return 0, c.wrong(j, "%s is outside [0,1]; scale the values to it first%s", quote(field), hint)
	}
	return v, nil
}

// wrong is the error for a field: file, line and column, the column's name if
// there is one, and what is wrong.
func (c *csvReader) wrong(j int, format string, args ...any) error {
	line, _ := c.r.FieldPos(j)
	column := fmt.Sprintf("column %d", j+1)
	if c.header != nil {
		column += " (" + quote(c.header[j]) + ")"
	}
	return formatErrorf("%s:%d: %s: %s", c.path, line, column, fmt.Sprintf(format, args...))
}

// set returns the rows read as a set.
func (c *csvReader) set() ([]*Set, error) {
	cols := c.fields
	if c.label {
		cols--
	}
	stride := (cols + 63) / 64
	if len(c.words) == 0 {
		return nil, formatErrorf("%s: no examples; write one a row", c.path)
	}
	s := &Set{
		Name:     c.path,
		X:        rbm.Bits{Rows: len(c.words) / stride, Cols: cols, Stride: stride, Words: c.words},
		Binarize: Binary,
	}
	if c.between {
		s.Binarize = c.bin.mode
	}
	if c.between && c.bin.mode == None {
		s.Grey = rbm.Matrix{Rows: s.X.Rows, Cols: cols, Data: c.grey}
	}
	s.Height, s.Width = NearSquare(cols)
	if c.label {
		c.labeller.give(s)
	}
	return []*Set{s}, nil
}
