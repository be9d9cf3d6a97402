package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"gorbm/data"
	"gorbm/rbm"
	"gorbm/train"
)

// files writes the files that contestants read, when they are first needed.
// After an error, in err, it writes nothing more.
type files struct {
	ctx   context.Context
	dir   string
	set   *data.Set // inputs and labels
	quick bool      // small sizes
	err   error
	reals *files // result of real; nil: not made yet
}

// maxRows is the largest number of rows of a race. p(y|x) is computed for all rows, and no race trains
// on more.
const maxRows = 10000

// newFiles returns files of rows of set in random order. Unlike gorbm, the peers do not shuffle rows, and neighbours in
// MNIST were written by the same person.
func newFiles(ctx context.Context, dir string, set *data.Set, quick bool) *files {
	rows := data.RowNumbers(0, set.Len())
	rbm.NewKey(1).Rand().Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return &files{ctx: ctx, dir: dir, set: set.Take(rows[:min(maxRows, len(rows))]), quick: quick}
}

// make writes a file unless it exists, and returns its path.
func (f *files) make(name string, content func() ([]byte, error)) string {
	path := filepath.Join(f.dir, name)
	if _, err := os.Stat(path); err == nil || f.err != nil {
		return path
	}
	b, err := content()
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	f.err = err
	return path
}

// withInputs returns the data with the given number of inputs per row, by repeating the inputs.
func (f *files) withInputs(inputs int) *data.Set {
	if inputs == f.set.X.Cols {
		return f.set
	}
	s := &data.Set{Name: f.set.Name, X: rbm.NewBits(f.set.Len(), inputs), Y: f.set.Y, Classes: f.set.Classes, Binarize: f.set.Binarize, Groups: f.set.Groups}
	s.Height, s.Width = data.NearSquare(inputs)
	for r := range s.Len() {
		f.set.X.Each(r, func(i int) {
			for ; i < inputs; i += f.set.X.Cols {
				s.X.Set(r, i, true)
			}
		})
	}
	if n := len(f.set.Groups); n > 0 { // all groups have the same size
		s.Groups = nil
		for len(s.Groups)*f.set.Groups[0].Units < inputs {
			s.Groups = append(s.Groups, f.set.Groups[len(s.Groups)%n])
		}
	}
	return s
}

// sequences returns files of one-hot sequences of the generated family, in a folder in f.dir.
func (f *files) sequences() *files {
	set, _, err := data.Load(f.ctx, "sequences", data.Options{})
	if err != nil {
		return &files{err: err}
	}
	dir := filepath.Join(f.dir, "sequences")
	s := newFiles(f.ctx, dir, set, f.quick)
	s.err = os.MkdirAll(dir, 0o700)
	return s
}

// real returns files of the inputs as standardised real numbers, in a folder in f.dir. Deviations count as at least
// leastDeviation, because most pixels are seldom on.
func (f *files) real() *files {
	if f.reals != nil {
		return f.reals
	}
	const leastDeviation = 0.3
	s := &data.Set{Name: f.set.Name, X: rbm.NewBits(f.set.Len(), inputs), Grey: rbm.NewMatrix(f.set.Len(), inputs), Binarize: data.Standard,
		Height: f.set.Height, Width: f.set.Width, Groups: []rbm.Group{{Kind: rbm.Gaussian, Units: inputs}}, Means: make([]float64, inputs), Deviations: make([]float64, inputs)}
	for r := range s.Len() {
		f.set.X.Each(r, func(i int) { s.Means[i] += 1 / float64(s.Len()) })
	}
	for i, p := range s.Means {
		s.Deviations[i] = max(leastDeviation, math.Sqrt(p*(1-p)))
	}
	for r := range s.Len() {
		row := s.Grey.Row(r)
		f.set.X.Each(r, func(i int) { row[i] = 1 })
		for i, x := range row {
			row[i] = float32((float64(x) - s.Means[i]) / s.Deviations[i])
		}
	}
	f.reals = &files{ctx: f.ctx, dir: filepath.Join(f.dir, "real"), set: s, quick: f.quick}
	f.reals.err = os.MkdirAll(f.reals.dir, 0o700)
	return f.reals
}

// rows writes the data with the given number of inputs per row.
func (f *files) rows(inputs int) string {
	return f.make(fmt.Sprintf("rows-%d", inputs), func() ([]byte, error) {
		if s := f.withInputs(inputs); s.Grey.Rows > 0 {
			return binary.Append(nil, binary.LittleEndian, s.Grey.Data)
		}
		return binary.Append(nil, binary.LittleEndian, f.withInputs(inputs).X.Words)
	})
}

// labels writes the class of each row as a byte.
func (f *files) labels() string {
	return f.make("labels", func() ([]byte, error) {
		b := make([]byte, f.set.Len())
		for r, y := range f.set.Y {
			b[r] = byte(y)
		}
		return b, nil
	})
}

// model writes a model of this shape that is trained for the given steps, starting from
// the log-odds of the data. The rate is inversely related to the number of hidden units: at a
// fixed rate the joint change that they make to a visible unit's input would grow, and the unit
// would alternate between always on and always off.
func (f *files) model(visible, hidden, classes, steps int) string {
	return f.make(fmt.Sprintf("model-%d-%d-%d-%d", visible, hidden, classes, steps), func() ([]byte, error) {
		set := f.withInputs(visible - classes)
		m := train.NewModel(set, hidden, classes > 0, rbm.Softmax, 1)
		s := train.PaperSettings("pcd")
		train.SetLogOdds(m, set)
		s.Rate, s.Batch = trainingRate*min(1, 500/float64(hidden)), min(100, set.Len())
		if m.Real() {
			s.Rate /= 10
		}
		s.Negative.Set("chains", s.Batch)
		t, err := train.New(s, set, m)
		if err != nil {
			return nil, err
		}
		if err := t.Run(f.ctx, steps); err != nil {
			return nil, err
		}
		return m.Parameters().AppendTo(nil), nil
	})
}
