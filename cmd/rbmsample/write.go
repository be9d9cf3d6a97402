package main

import (
	"fmt"
	"image"
	"io"
	"strconv"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/sample"
	"gorbm/rbm"
	"gorbm/rbm/atomicfile"
	"gorbm/rbm/npz"
	"gorbm/train/plots"
)

// values returns the samples as grey means or as zeros and ones.
func (p *plan) values(s sample.Sheet) rbm.Matrix {
	if p.means {
		return s.Means
	}
	x := rbm.NewMatrix(s.Bits.Rows, s.Bits.Cols)
	for r := range x.Rows {
		s.Bits.Each(r, func(i int) { x.Row(r)[i] = 1 })
	}
	return x
}

// write writes the file of -out.
func (p *plan) write(s sample.Sheet, r *result) error {
	var write func(w io.Writer) error
	switch x := p.values(s); p.out[len(p.out)-4:] {
	case ".npz", ".NPZ":
		write = func(w io.Writer) error { return npz.Write(w, p.arrays(x, s)) }
	case ".csv", ".CSV":
		write = cli.WriteCSV(p.lines(x, s))
	default:
		write = func(w io.Writer) error { return p.draw(w, x, s, r) }
	}
	return atomicfile.Write(p.out, write)
}

// arrays returns the arrays of an .npz.
func (p *plan) arrays(x rbm.Matrix, s sample.Sheet) []npz.Named {
	inputs := npz.Named{Name: "x", Shape: []int{x.Rows, x.Cols}, Data: x.Data}
	if !p.means {
		bits := make([]uint8, len(x.Data))
		for i, v := range x.Data {
			bits[i] = uint8(v)
		}
		inputs.Data = bits
	}
	all := []npz.Named{inputs}
	if p.m.Classes() > 0 {
		words, numbers, whole := make([]string, x.Rows), make([]int32, x.Rows), true
		for r, y := range s.Class {
			words[r] = p.classes[y]
			n, err := strconv.ParseInt(words[r], 10, 32)
			numbers[r] = int32(n)
			whole = whole && err == nil && strconv.FormatInt(n, 10) == words[r]
		}
		if y := (npz.Named{Name: "y", Data: words}); whole {
			y.Data = numbers
			all = append(all, y)
		} else {
			all = append(all, y)
		}
	}
	if p.given != nil {
		rows := make([]int32, x.Rows)
		for r := range rows {
			rows[r] = int32(r / p.settings.Samples)
		}
		all = append(all, npz.Named{Name: "row", Data: rows})
	}
	return all
}

// lines returns the lines of a .csv. Its columns are x0, x1, …, row, y.
func (p *plan) lines(x rbm.Matrix, s sample.Sheet) [][]string {
	var head []string
	for i := range x.Cols {
		head = append(head, fmt.Sprintf("x%d", i))
	}
	if p.given != nil {
		head = append(head, "row")
	}
	if p.m.Classes() > 0 {
		head = append(head, "y")
	}
	lines := [][]string{head}
	for r := range x.Rows {
		line := make([]string, 0, len(head))
		for _, v := range x.Row(r) {
			line = append(line, strconv.FormatFloat(float64(v), 'g', 6, 32))
		}
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

// perLine is the number of pictures in a line of a single law.
const perLine = 10

// draw writes a sheet: a line for each law, or of a single one lines of ten. Of -clamp
// the first picture of a line is what is given, and given inputs are marked in all.
func (p *plan) draw(w io.Writer, x rbm.Matrix, s sample.Sheet, r *result) error {
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
		img, err := plots.Caption(plots.Tiles(x, height, width, columns, plots.Ink), names, s.Caption(r.nearest.Classes))
		if err != nil {
			return err
		}
		return p.encode(w, img)
	}
	columns++
	all := rbm.NewMatrix(len(p.queries)*columns, x.Cols)
	for i, q := range p.queries {
		for k := range columns {
			to := all.Row(i*columns + k)
			if k > 0 {
				copy(to, x.Row(i*p.settings.Samples+k-1))
			}
			for j, v := range q.Inputs {
				switch {
				case v != rbm.Free:
					to[j] = plots.Given(float32(v))
				case k == 0:
					to[j] = plots.Hole
				}
			}
		}
		names = append(names, p.label(i))
	}
	img, err := plots.Caption(plots.Tiles(all, height, width, columns, plots.MarkedInk), names, s.Caption(r.nearest.Classes))
	if err != nil {
		return err
	}
	return p.encode(w, img)
}

// encode writes a sheet in the format of -out.
func (p *plan) encode(w io.Writer, sheet image.Image) error {
	format, _ := plots.FormatOf(p.out)
	return plots.Sheet(sheet).Write(w, format)
}

// label is what stands beside a line of the sheet of -clamp: the row, so that it is not
// taken for a class, and the class if it is given.
func (p *plan) label(i int) string {
	text := "row " + strconv.Itoa(i)
	if y := p.queries[i].Class; y != rbm.Free {
		text += ": " + p.classes[y]
	}
	return text
}
