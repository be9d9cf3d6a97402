package rundir

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"gorbm/rbm/atomicfile"
)

// tableDigits is the number of significant digits of the values in a table.
const tableDigits = 10

// A Table is a file such as metrics.csv that grows by rows: a header, then rows whose first value is the
// step. After Add has returned, its row survives the end of the process. After Sync has returned, all rows
// survive a failure of the machine. Rows that could not be written are kept, and are written with the next
// row.
type Table struct {
	appender
	cols int
	rows int
}

// metricsText is what errors call the contents of a table.
const metricsText = "metrics"

// NewTable makes the table with the given name and columns.
func (f *Folder) NewTable(name string, columns []string) (*Table, error) {
	file, err := f.openFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, fmt.Errorf("cannot write the metrics: %w", err)
	}
	t := &Table{appender: appender{file: file, what: metricsText}, cols: len(columns)}
	t.header(columns)
	return t, t.flush()
}

// ContinueTable opens the table of a run that is resumed after step. It keeps the rows up to step and
// removes later rows. Columns that are not among columns are removed too, because earlier versions had more.
// It is an error if the table lacks a column, or has another order.
func (f *Folder) ContinueTable(name string, columns []string, step int) (*Table, error) {
	path := f.Path(name)
	text, err := f.Read(name, maxTable)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the metrics: %w", err)
	}
	was, rows, err := parseTable(path, text)
	if err != nil {
		return nil, fmt.Errorf("cannot continue the metrics: %w", err)
	}
	var kept []int
	for i, name := range was {
		if slices.Contains(columns, name) {
			kept = append(kept, i)
		}
	}
	if !slices.EqualFunc(kept, columns, func(i int, name string) bool { return was[i] == name }) {
		return nil, fmt.Errorf("cannot continue the metrics: %s has columns %v, not %v", path, was, columns)
	}
	for i, row := range rows {
		if row[0] > float64(step) {
			rows = rows[:i]
			break
		}
	}
	t := &Table{appender: appender{what: metricsText}, cols: len(columns)}
	t.header(columns)
	for _, row := range rows {
		line := make([]float64, len(kept))
		for k, i := range kept {
			line[k] = row[i]
		}
		t.appendRow(line)
	}
	if err := atomicfile.WriteBytes(path, t.pending.Bytes()); err != nil {
		return nil, err
	}
	t.size = int64(t.pending.Len())
	t.pending.Reset()
	if t.file, err = f.openFile(name, os.O_WRONLY); err != nil {
		return nil, fmt.Errorf("cannot continue the metrics: %w", err)
	}
	return t, nil
}

// header appends the names of the columns to the pending bytes.
func (t *Table) header(columns []string) {
	w := csv.NewWriter(&t.pending)
	_ = w.Write(columns) // writing to a buffer cannot fail
	w.Flush()
}

// Rows returns the number of rows, without the header.
func (t *Table) Rows() int { return t.rows }

// Sync writes all rows to the disk.
func (t *Table) Sync() error {
	if err := t.flush(); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return fmt.Errorf("cannot write the metrics: %w", err)
	}
	return nil
}

// Add appends a row. It panics unless there is one value for each column.
func (t *Table) Add(values []float64) error {
	t.appendRow(values)
	return t.flush()
}

func (t *Table) appendRow(values []float64) {
	if len(values) != t.cols {
		panic("rundir: a row of another width than the table")
	}
	line := t.pending.AvailableBuffer()
	for i, v := range values {
		if i > 0 {
			line = append(line, ',')
		}
		line = strconv.AppendFloat(line, v, 'g', tableDigits, 64)
	}
	t.pending.Write(append(line, '\n'))
	t.rows++
}

// maxTable is the largest size of a table that is read, in bytes: more than ten million rows.
const maxTable = 1 << 32

// ReadTable reads a table such as metrics.csv: the names of its columns and its rows. A last line without a
// line end was cut short and is left out.
func ReadTable(path string) (columns []string, rows [][]float64, err error) {
	text, err := atomicfile.Read(path, maxTable)
	if err != nil {
		return nil, nil, err
	}
	return parseTable(path, text)
}

// parseTable is ReadTable, given the file's text.
func parseTable(path string, text []byte) (columns []string, rows [][]float64, err error) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	in := csv.NewReader(bytes.NewReader(text))
	in.FieldsPerRecord = -1
	columns, err = in.Read()
	switch {
	case err == io.EOF:
		return nil, nil, fmt.Errorf("%s is empty", path)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	case slices.Contains(columns, ""):
		return nil, nil, fmt.Errorf("%s: a column has no name", path)
	}
	in.ReuseRecord = true // saves an allocation for each row
	for line := 2; ; line++ {
		r, err := in.Read()
		if err == io.EOF {
			return columns, rows, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(r) != len(columns) {
			return nil, nil, fmt.Errorf("%s: line %d has %d values for %d columns", path, line, len(r), len(columns))
		}
		row := make([]float64, len(r))
		for i, field := range r {
			if row[i], err = strconv.ParseFloat(field, 64); err != nil {
				return nil, nil, fmt.Errorf("%s: line %d: %q is not a number", path, line, field)
			}
		}
		rows = append(rows, row)
	}
}
