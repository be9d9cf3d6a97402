package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gorbm/data"
	"gorbm/rbm"
)

// maxRows is the limit of data.NewBatches.
const maxRows = math.MaxInt32

// readRows returns the rows of a request: the array x, or data, indices and indptr of a sparse
// array in CSR; and y, if the model has classes. Rows of zeros and ones are kept as bits.
func readRows(f frame, inputs, classes int) (*data.Set, error) {
	s := &data.Set{Name: "the rows", Binarize: data.Binary}
	var rows int
	var each func(add func(r, i int, x float32) error) error
	x, dense, err := f.of("x", "<f4", -1, inputs)
	switch {
	case err != nil:
		return nil, err
	case dense:
		rows = x.Shape[0]
		values := x.floats()
		each = func(add func(r, i int, x float32) error) error {
			for at, v := range values {
				if v != 0 {
					if err := add(at/inputs, at%inputs, v); err != nil {
						return err
					}
				}
			}
			return nil
		}
	default:
		if rows, each, err = readCSR(f, inputs); err != nil {
			return nil, err
		}
	}
	if rows == 0 || rows > maxRows {
		return nil, fmt.Errorf("there are %d rows; it takes 1 to %d", rows, maxRows)
	}
	s.X = rbm.NewBits(rows, inputs)
	s.Height, s.Width = data.NearSquare(inputs)
	grey := false
	if err := each(func(r, i int, x float32) error {
		if !(x >= 0 && x <= 1) {
			return fmt.Errorf("row %d, column %d: %g is not in [0,1]", r, i, x)
		}
		grey = grey || x > 0 && x < 1
		s.X.Set(r, i, x >= 0.5)
		return nil
	}); err != nil {
		return nil, err
	}
	if grey {
		s.Binarize = data.None
		s.Grey = rbm.NewMatrix(rows, inputs)
		_ = each(func(r, i int, x float32) error { s.Grey.Row(r)[i] = x; return nil }) // passed above
	}
	if classes == 0 {
		return s, nil
	}
	y, ok, err := f.of("y", "<i4", rows)
	if err != nil || !ok {
		return nil, errors.Join(err, errors.New("a model with classes needs the array y"))
	}
	s.Y = y.ints()
	for r, y := range s.Y {
		if y < data.NoClass || int(y) >= classes {
			return nil, fmt.Errorf("row %d: class %d is out of range", r, y)
		}
	}
	for k := range classes {
		s.Classes = append(s.Classes, strconv.Itoa(k))
	}
	return s, nil
}

// readCSR returns the number of rows of a sparse array, and what visits its elements.
func readCSR(f frame, inputs int) (rows int, each func(add func(r, i int, x float32) error) error, err error) {
	ends, ok, err := f.of("indptr", "<i4", -1)
	values, okValues, err2 := f.of("data", "<f4", -1)
	if err := errors.Join(err, err2); err != nil {
		return 0, nil, err
	}
	if !ok || !okValues || len(ends.data) == 0 {
		return 0, nil, errors.New("the request has no rows: neither x nor data, indices and indptr")
	}
	columns, ok, err := f.of("indices", "<i4", values.Shape[0])
	if err != nil || !ok {
		return 0, nil, errors.Join(err, errors.New("a sparse array needs its indices"))
	}
	to, of, x := ends.ints(), columns.ints(), values.floats()
	for r, end := range to {
		if end < 0 || int(end) > len(x) || r > 0 && end < to[r-1] {
			return 0, nil, errors.New("indptr of a sparse array must rise from 0 to the number of elements")
		}
	}
	return len(to) - 1, func(add func(r, i int, x float32) error) error {
		for r := range len(to) - 1 {
			for at := to[r]; at < to[r+1]; at++ {
				if i := int(of[at]); i < 0 || i >= inputs {
					return fmt.Errorf("row %d: column %d of a sparse array is out of range", r, i)
				}
				if x[at] != 0 {
					if err := add(r, int(of[at]), x[at]); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}, nil
}

// A shape is the part of a header that says what the model is.
type shape struct {
	Inputs  int `json:"inputs"`
	Hidden  int `json:"hidden"`
	Classes int `json:"classes"` // 0: no label
}

const maxUnits = 1 << 24

func (s shape) check() error {
	if s.Inputs < 1 || s.Hidden < 1 || s.Classes < 0 || s.Inputs+s.Classes > maxUnits || s.Hidden > maxUnits {
		return fmt.Errorf("a model of %d inputs, %d classes and %d hidden units; it takes 1 to %d units in each layer", s.Inputs, s.Classes, s.Hidden, maxUnits)
	}
	return nil
}

// readModel returns the model of a request, and whether it has one: weights [visible, hidden]
// and both biases.
func readModel(f frame, s shape) (*rbm.RBM, bool, error) {
	if err := s.check(); err != nil {
		return nil, false, err
	}
	visible := s.Inputs + s.Classes
	w, ok, err := f.of("weights", "<f4", visible, s.Hidden)
	b, okB, errB := f.of("visible_bias", "<f4", visible)
	c, okC, errC := f.of("hidden_bias", "<f4", s.Hidden)
	if err := errors.Join(err, errB, errC); err != nil || !ok || !okB || !okC {
		return nil, false, err
	}
	m := rbm.New(visible, s.Hidden, s.Classes, rbm.Softmax)
	m.SetWeights(rbm.Matrix{Rows: visible, Cols: s.Hidden, Data: w.floats()})
	copy(m.VisibleBias, b.floats())
	copy(m.HiddenBias, c.floats())
	return m, true, m.CheckFinite()
}

// modelArrays are the parameters of m as readModel reads them.
func modelArrays(m *rbm.RBM) []array {
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	return []array{floatArray("weights", w.Data, w.Rows, w.Cols),
		floatArray("visible_bias", m.VisibleBias, m.Visible()), floatArray("hidden_bias", m.HiddenBias, m.Hidden())}
}
