package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/npz"
)

// given has the rows of -clamp.
type given struct {
	queries []sample.Query // a query for each row
	open    []int          // indices of rows with missing values
	labels  []string       // label of each row, "" if it is missing; nil if the file has no labels
}

// maxCells is the largest number of values in the file of -clamp.
const maxCells = 1 << 27

// readClamp reads the file of -clamp. class is the value of -class, or rbm.Free.
func (p *plan) readClamp(ctx context.Context, class int) (*given, error) {
	var g *given
	var err error
	switch ext := strings.ToLower(filepath.Ext(p.clamp)); ext {
	case ".csv":
		if p.schema != nil && p.schema.Alphabet == "" {
			return p.clampTable(ctx, class)
		}
		g, err = p.clampCSV(ctx)
	case ".npz", ".npy":
		g, err = p.clampArrays(ext == ".npy")
	default:
		return nil, cli.Usagef("-clamp is %q; it must end in .csv, .npz or .npy", p.clamp)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("-clamp: %s does not exist", p.clamp)
	case err != nil:
		return nil, fmt.Errorf("-clamp: %s: %w", p.clamp, err)
	case len(g.queries) == 0:
		return nil, fmt.Errorf("-clamp: %s: no rows; write one per line", p.clamp)
	case g.labels != nil && p.m.Classes() == 0:
		return nil, fmt.Errorf("-clamp: %s has labels, but %s has none; leave the column out", p.clamp, p.model.Path)
	case g.labels != nil && p.flags.Given("class"):
		return nil, cli.Usagef("-class and the labels of %s both give the class; leave one of them out", p.clamp)
	}
	for r := range g.queries {
		q := &g.queries[r]
		if q.Class = class; g.labels != nil && g.labels[r] != "" {
			if q.Class = slices.Index(p.classes, g.labels[r]); q.Class < 0 {
				return nil, fmt.Errorf("-clamp: %s: row %d has the label %.40q; the classes are %s", p.clamp, r, g.labels[r], strings.Join(p.classes, ", "))
			}
		}
	}
	return g, p.findHoles(g)
}

// findHoles sets g.open, and adds inputs that follow from the others in softmax groups of complete rows.
func (p *plan) findHoles(g *given) error {
	for r := range g.queries {
		q := &g.queries[r]
		_, err := p.m.Given(q.Inputs, q.Class)
		if errors.Is(err, rbm.ErrAllGiven) {
			q.Inputs, err = p.m.FillGroups(q.Inputs)
		} else {
			g.open = append(g.open, r)
		}
		if err != nil {
			return fmt.Errorf("-clamp: %s: row %d: %w", p.clamp, r, err)
		}
	}
	if len(g.open) == 0 {
		return fmt.Errorf("-clamp: %s: all rows are complete; leave cells empty to have them filled in", p.clamp)
	}
	return nil
}

// addComplete returns a sheet with all rows of -clamp. It adds the complete rows to the samples s, which are of the rows
// with missing values. Each complete row appears as often as a row has samples.
func (p *plan) addComplete(s sample.Sheet) sample.Sheet {
	n, drawn := p.settings.Samples, s.Values.Dense()
	rows := n * len(p.given.queries)
	all := sample.Sheet{Means: rbm.NewMatrix(rows, drawn.Cols), Values: rbm.NewValues(rows, drawn.Cols, p.m.Real()), Class: make([]int32, rows), Draws: s.Draws}
	from := 0
	for to := range rows {
		q := p.given.queries[to/n]
		mean, values, class := q.Inputs, q.Inputs, int32(q.Class)
		if open := p.given.open; from/n < len(open) && open[from/n] == to/n {
			mean, values, class = s.Means.Row(from), drawn.Row(from), s.Class[from]
			from++
		}
		copy(all.Means.Row(to), mean)
		all.Class[to] = class
		for i, v := range values {
			all.Values.Put(to, i, v)
		}
	}
	return all
}

// clampTable reads a table with missing cells. class is as in readClamp.
func (p *plan) clampTable(ctx context.Context, class int) (*given, error) {
	set, err := p.loadTable(ctx, p.clamp, p.m, p.about, p.schema)
	if err != nil {
		return nil, fmt.Errorf("-clamp: %w", err)
	}
	if set.Y != nil && p.flags.Given("class") {
		return nil, cli.Usagef("-class and the labels of %s both give the class; leave one of them out", p.clamp)
	}
	g, rows := &given{}, set.Rows(data.RowNumbers(0, set.Len()), 0)
	for r := range set.Len() {
		q := sample.Query{Inputs: make([]float32, set.X.Cols), Class: class}
		for i := range q.Inputs {
			if q.Inputs[i] = rows.At(r, i); set.Missing.Rows > 0 && set.Missing.Get(r, i) {
				q.Inputs[i] = rbm.FreeInput
			}
		}
		if set.Y != nil && set.Y[r] != data.NoClass {
			q.Class = int(set.Y[r])
		}
		g.queries = append(g.queries, q)
	}
	return g, p.findHoles(g)
}

// put appends a value v to the inputs of a row. NaN is a missing value, and the spin −1 becomes 0. Values of real
// units are in the data's units, and put standardises them.
func (p *plan) put(row []float32, v float64) ([]float32, error) {
	switch i := len(row); {
	case math.IsNaN(v):
		return append(row, rbm.FreeInput), nil
	case math.IsInf(v, 0):
	case p.about.Deviations != nil && p.isReal(i):
		x := v - p.about.Means[i]
		if d := p.about.Deviations[i]; d > 0 {
			x /= d
		}
		return append(row, float32(x)), nil
	case p.isReal(i):
		return append(row, float32(v)), nil
	}
	switch {
	case v == -1:
		return append(row, 0), nil
	case !(v >= 0 && v <= 1):
		return nil, fmt.Errorf("%v is not in [0,1]; missing values are NaN", v)
	case v >= 0.5:
		return append(row, 1), nil
	}
	return append(row, 0), nil
}

// isReal reports whether input i is a real unit.
func (p *plan) isReal(i int) bool {
	for _, g := range p.m.Groups() {
		if i < g.First+g.Units {
			return g.Real()
		}
	}
	return false
}

// clampCSV reads rows of values, after an optional header. Empty cells are missing values. If
// there is one column more than there are inputs, the last column has the labels.
func (p *plan) clampCSV(ctx context.Context) (*given, error) {
	f, _, err := atomicfile.Open(p.clamp)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(data.LimitRows(f))
	in.FieldsPerRecord, in.TrimLeadingSpace, in.ReuseRecord = -1, true, true
	inputs := p.m.Inputs()
	g := &given{}
	for cells := 0; ; {
		fields, err := in.Read()
		if err == io.EOF {
			return g, nil
		}
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		if n := len(fields); n != inputs && n != inputs+1 {
			return nil, fmt.Errorf("line %d has %d values; the model has %d inputs, and one more column may hold labels", line, n, inputs)
		}
		labelled := len(fields) == inputs+1
		if g.queries == nil && isHeader(fields[:inputs]) {
			continue
		}
		if len(g.queries) > 0 && labelled != (g.labels != nil) {
			return nil, fmt.Errorf("line %d has %d values, unlike the first row; give all rows the same number", line, len(fields))
		}
		if cells += len(fields); cells > maxCells {
			return nil, fmt.Errorf("more than %d values; split the file", maxCells)
		}
		var row []float32
		for i, text := range fields[:inputs] {
			v := math.NaN()
			if text = strings.TrimSpace(text); text != "" {
				if v, err = data.ParseNumber(text); err != nil {
					return nil, fmt.Errorf("line %d, column %d: %.40q is not a number; missing values are NaN or empty", line, i+1, text)
				}
			}
			if row, err = p.put(row, v); err != nil {
				return nil, fmt.Errorf("line %d, column %d: %w", line, i+1, err)
			}
		}
		g.queries = append(g.queries, sample.Query{Inputs: row})
		if labelled {
			label := strings.TrimSpace(fields[inputs])
			if strings.EqualFold(label, "nan") {
				label = ""
			}
			g.labels = append(g.labels, label)
		}
	}
}

// isHeader reports whether fields are names of columns: no field is a number or empty.
func isHeader(fields []string) bool {
	return !slices.ContainsFunc(fields, func(s string) bool {
		_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		return err == nil || strings.TrimSpace(s) == ""
	})
}

// clampArrays reads the array x, examples × inputs or examples × height × width, and the
// array y if there is one. If single is set, the file is an .npy with x only.
func (p *plan) clampArrays(single bool) (*given, error) {
	f, size, err := atomicfile.Open(p.clamp)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := npz.Single(f, size, "x")
	if !single {
		if a, err = npz.Open(f, size); err != nil {
			return nil, err
		}
	}
	x, err := a.Array("x")
	if err != nil {
		return nil, err
	}
	defer x.Close()
	cols := int64(1)
	for _, d := range x.Shape[min(1, len(x.Shape)):] {
		cols *= d
	}
	inputs := p.m.Inputs()
	switch {
	case len(x.Shape) < 2 || x.IsText():
		return nil, x.Errorf("give numbers, examples × inputs")
	case cols != int64(inputs):
		return nil, x.Errorf("rows have %d values; the model has %d inputs", cols, inputs)
	case x.Elements() > maxCells:
		return nil, x.Errorf("more than %d values; save less", maxCells)
	}
	g := &given{queries: make([]sample.Query, x.Shape[0])}
	err = x.Rows(int(x.Shape[0]), inputs, func(i int, values []float64) error {
		for j, v := range values {
			row, err := p.put(g.queries[i].Inputs, v)
			if err != nil {
				return x.Errorf("row %d, value %d: %w", i, j, err)
			}
			g.queries[i].Inputs = row
		}
		return nil
	})
	if err != nil || !a.Has("y") {
		return g, err
	}
	return g, readLabels(a, g)
}

// readLabels reads the array y: text or whole numbers, where an empty text or NaN is a
// missing label.
func readLabels(a *npz.Archive, g *given) error {
	y, err := a.Array("y")
	if err != nil {
		return err
	}
	defer y.Close()
	if len(y.Shape) != 1 || int(y.Shape[0]) != len(g.queries) {
		return y.Errorf("shape %v; x has %d rows, so give %d labels", y.Shape, len(g.queries), len(g.queries))
	}
	g.labels = make([]string, len(g.queries))
	for r := range g.labels {
		b, err := y.Next(1)
		if err != nil {
			return err
		}
		label, ok := y.Text(b)
		switch missing := y.Kind == 'f' && label == "NaN" || y.IsText() && label == ""; {
		case missing:
		case !ok:
			return y.Errorf("row %d is no class; give whole numbers or text, and NaN or an empty text for a missing label", r)
		default:
			g.labels[r] = label
		}
	}
	return y.End()
}
