package main

import (
	"cmp"
	"fmt"
	"image"
	"io"
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
	"gorbm/train/plots"
)

// values returns the means or the samples, as -means chooses, on the scale of the model's units.
func (p *plan) values(s sample.Sheet) rbm.Matrix {
	if p.means {
		return s.Means
	}
	return s.Values.Dense()
}

// spins is the value of modelfile.About.Scale for data of −1 and +1.
const spins = "spins"

// inData converts samples or means to the units of the data. It overwrites and returns x.
func (p *plan) inData(x rbm.Matrix) rbm.Matrix {
	data.Unscale(x, p.about.Means, p.about.Deviations)
	if p.about.Scale == spins {
		for i, v := range x.Data {
			x.Data[i] = 2*v - 1
		}
	}
	return x
}

// write writes the file of -out.
func (p *plan) write(s sample.Sheet, r *result) error {
	if p.given != nil && len(p.given.open) < len(p.given.queries) {
		s = p.addComplete(s)
	}
	var write func(w io.Writer) error
	switch strings.ToLower(filepath.Ext(p.out)) {
	case ".npz":
		write = func(w io.Writer) error { return npz.Write(w, p.arrays(s)) }
	case ".fasta":
		write = func(w io.Writer) error { return p.schema.WriteFASTA(w, s.Values) }
	case ".csv":
		write = cli.WriteCSV(p.rows(s))
	case ".tsv":
		write = cli.WriteSeparated(p.rows(s), '\t')
	default:
		img, err := p.draw(p.values(s), s, r)
		if err != nil {
			return err
		}
		return cli.WritePicture(p.out, plots.Sheet(img))
	}
	return atomicfile.Write(p.out, write)
}

// arrays returns the arrays of an .npz.
func (p *plan) arrays(s sample.Sheet) []npz.Named {
	shape := []int{s.Values.Rows, s.Values.Cols}
	if p.about.Pictures {
		shape = []int{s.Values.Rows, p.about.Height, p.about.Width}
	}
	x := p.inData(s.Values.Dense())
	inputs := npz.Named{Name: "x", Shape: shape, Data: x.Data}
	switch {
	case p.m.Real():
	case p.about.Scale == spins:
		inputs.Data = whole[int8](x.Data)
	default:
		inputs.Data = whole[uint8](x.Data)
	}
	all := []npz.Named{inputs}
	if p.means {
		all = append(all, npz.Named{Name: "means", Shape: shape, Data: p.inData(s.Means).Data})
	}
	if p.m.Classes() > 0 {
		all = append(all, npz.Named{Name: "y", Data: cli.ClassLabels(s.Class, p.classes)})
	}
	if p.given != nil {
		rows := make([]int32, s.Values.Rows)
		for r := range rows {
			rows[r] = int32(r / p.settings.Samples)
		}
		all = append(all, npz.Named{Name: "row", Data: rows})
	}
	return all
}

// whole converts whole numbers to bytes.
func whole[T int8 | uint8](x []float32) []T {
	b := make([]T, len(x))
	for i, v := range x {
		b[i] = T(v)
	}
	return b
}

// rows returns the lines of a .csv or .tsv. The columns have the names of the data's columns, or x0, x1, ….
// With -clamp the column row follows. If the model has classes, the last column has the label, under its name
// in the training data.
func (p *plan) rows(s sample.Sheet) [][]string {
	var head []string
	var values func(r int) []string
	label := p.about.LabelColumn
	if p.schema != nil { // words
		for _, c := range p.schema.Columns {
			head = append(head, c.Name)
		}
		label = cmp.Or(p.schema.Label, "label")
		values = func(r int) []string { return p.schema.Words(s.Values, r) }
	} else {
		x := p.inData(p.values(s))
		if head = slices.Clone(p.about.Columns); len(head) != x.Cols {
			head = nil
			for i := range x.Cols {
				head = append(head, fmt.Sprintf("x%d", i))
			}
		}
		if slices.Contains([]string{"", "auto", "first", "last", "none"}, label) {
			label = "y"
		}
		values = func(r int) (line []string) {
			for _, v := range x.Row(r) {
				line = append(line, strconv.FormatFloat(float64(v), 'g', 6, 32))
			}
			return line
		}
	}
	if p.given != nil {
		head = append(head, "row")
	}
	if p.m.Classes() > 0 {
		head = append(head, label)
	}
	lines := [][]string{head}
	for r := range s.Values.Rows {
		line := values(r)
		if p.given != nil {
			line = append(line, strconv.Itoa(r/p.settings.Samples))
		}
		if p.m.Classes() > 0 {
			line = append(line, p.classes[s.Class[r]])
		}
		lines = append(lines, line)
	}
	return lines
}

// perLine is the number of pictures in a line if there is only one query.
const perLine = 10

// draw returns a sheet of pictures with a line for each query, or lines of perLine pictures for
// a single query. With -clamp the first picture of a line shows the given inputs, which are
// marked in all pictures.
func (p *plan) draw(x rbm.Matrix, s sample.Sheet, r *result) (image.Image, error) {
	height, width := p.about.Height, p.about.Width
	if height*width != p.m.Inputs() {
		height, width = data.NearSquare(p.m.Inputs())
	}
	var names []string
	columns := p.settings.Samples
	if p.given == nil {
		if len(p.queries) == 1 {
			columns = min(perLine, columns)
		} else {
			names = p.classes
		}
		return plots.Caption(plots.Tiles(x, height, width, columns, plots.InkOf(p.m)), names, cli.SamplesCaption(s, r.nearest.Classes))
	}
	columns++
	all := rbm.NewMatrix(len(p.given.queries)*columns, x.Cols)
	for i, q := range p.given.queries {
		for k := range columns {
			to := all.Row(i*columns + k)
			if k > 0 {
				copy(to, x.Row(i*p.settings.Samples+k-1))
			}
			for j, v := range q.Inputs {
				switch {
				case v != rbm.FreeInput:
					to[j] = plots.Given(v)
				case k == 0:
					to[j] = plots.Hole
				}
			}
		}
		names = append(names, p.label(i))
	}
	return plots.Caption(plots.Tiles(all, height, width, columns, plots.MarkedInk), names, cli.SamplesCaption(s, r.nearest.Classes))
}

// label returns the text left of a line of the sheet of -clamp: the row, and the class if it
// is given.
func (p *plan) label(i int) string {
	text := "row " + strconv.Itoa(i)
	if y := p.given.queries[i].Class; y != rbm.Free {
		text += ": " + p.classes[y]
	}
	return text
}
