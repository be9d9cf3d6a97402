package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gorbm/data"
	"gorbm/rbm"
)

// maxRows is the largest number of rows that data.NewBatches allows.
const maxRows = math.MaxInt32

// readRows returns the rows of a request for the units of m. They are the array x, or the arrays
// data, indices and indptr of a sparse matrix in CSR format. If the model has classes, the array y has
// the labels. Rows of zeros and ones are stored as bits. Rows for real units must be standardised and
// in x; the optional array constant has 1 for columns with a single value.
func readRows(f frame, m *rbm.RBM) (*data.Set, error) {
	inputs, classes := m.Inputs(), m.Classes()
	s := &data.Set{Name: "the rows", Binarize: data.Binary, Groups: groupsOf(m)}
	var rows int
	var each func(add func(r, i int, x float32) error) error
	x, dense, err := f.array("x", "<f4", -1, inputs)
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
		return nil, fmt.Errorf("there are %d rows; the number must lie in 1 … %d", rows, maxRows)
	}
	s.X = rbm.NewBits(rows, inputs)
	s.Height, s.Width = data.NearSquare(inputs)
	grey := m.Real()
	if err := each(func(r, i int, x float32) error {
		if m.Real() {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return fmt.Errorf("row %d, column %d: %g is not finite", r, i, x)
			}
			s.X.Set(r, i, x > 0)
			return nil
		}
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
		if m.Real() {
			constant, ok, err := f.array("constant", "|u1", inputs)
			if err != nil {
				return nil, err
			}
			s.Binarize, s.Means, s.Deviations = data.Standard, make([]float64, inputs), make([]float64, inputs)
			for i := range s.Deviations {
				if !ok || constant.data[i] == 0 {
					s.Deviations[i] = 1
				}
			}
		}
		s.Grey = rbm.NewMatrix(rows, inputs)
		_ = each(func(r, i int, x float32) error { s.Grey.Row(r)[i] = x; return nil }) // each has succeeded above
	}
	if classes == 0 {
		return s, nil
	}
	y, ok, err := f.array("y", "<i4", rows)
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

// groupsOf returns the groups of the inputs of m, or nil if all are bits.
func groupsOf(m *rbm.RBM) []rbm.Group {
	if m.GroupsText() == "" {
		return nil
	}
	groups := m.Groups()
	if _, ok := m.Label(); ok {
		groups = groups[:len(groups)-1]
	}
	return slices.Clone(groups)
}

// readCSR returns the number of rows of a sparse matrix, and a function that calls add for each nonzero
// element.
func readCSR(f frame, inputs int) (rows int, each func(add func(r, i int, x float32) error) error, err error) {
	ends, ok, err := f.array("indptr", "<i4", -1)
	values, okValues, err2 := f.array("data", "<f4", -1)
	if err := errors.Join(err, err2); err != nil {
		return 0, nil, err
	}
	if !ok || !okValues || len(ends.data) == 0 {
		return 0, nil, errors.New("the request has no rows: neither x nor data, indices and indptr")
	}
	columns, ok, err := f.array("indices", "<i4", values.Shape[0])
	if err != nil || !ok {
		return 0, nil, errors.Join(err, errors.New("a sparse array needs its indices"))
	}
	to, cols, x := ends.ints(), columns.ints(), values.floats()
	for r, end := range to {
		if end < 0 || int(end) > len(x) || r > 0 && end < to[r-1] {
			return 0, nil, errors.New("indptr of a sparse array must rise from 0 to the number of elements")
		}
	}
	return len(to) - 1, func(add func(r, i int, x float32) error) error {
		for r := range len(to) - 1 {
			for at := to[r]; at < to[r+1]; at++ {
				if i := int(cols[at]); i < 0 || i >= inputs {
					return fmt.Errorf("row %d: column %d of a sparse array is out of range", r, i)
				}
				if x[at] != 0 {
					if err := add(r, int(cols[at]), x[at]); err != nil {
						return err
					}
				}
			}
		}
		return nil
	}, nil
}

// readShape returns an empty model of the shape in a header.
func readShape(f frame) (*rbm.RBM, error) {
	var s rbm.Shape
	if err := json.Unmarshal(f.header, &s); err != nil {
		return nil, err
	}
	return s.New()
}

// readModel sets m to the model of a request, and reports whether the request has one. Its arrays are weights
// [visible, hidden], both biases and other parameters of the units, such as visible_precision.
func readModel(f frame, m *rbm.RBM) (bool, error) {
	w, ok, err := f.array("weights", "<f4", m.Visible(), m.Hidden())
	if err != nil || !ok {
		return false, err
	}
	for _, t := range vectors(m) {
		a, ok, err := f.array(t.Name, "<f4", len(t.Values))
		if err != nil || !ok {
			return false, errors.Join(err, fmt.Errorf("a model needs the array %s", t.Name))
		}
		copy(t.Values, a.floats())
	}
	m.SetWeights(rbm.Matrix{Rows: m.Visible(), Cols: m.Hidden(), Data: w.floats()})
	return true, cmp.Or(m.CheckFinite(), m.CheckNormalisable())
}

// vectors returns the parameters of m without the weights.
func vectors(m *rbm.RBM) []rbm.Param {
	return append([]rbm.Param{{Name: "visible_bias", Values: m.VisibleBias}, {Name: "hidden_bias", Values: m.HiddenBias}}, m.Params()...)
}

// modelArrays returns the parameters of m, in the format of readModel.
func modelArrays(m *rbm.RBM) []array {
	w := rbm.NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	arrays := []array{floatArray("weights", w.Data, w.Rows, w.Cols)}
	for _, t := range vectors(m) {
		arrays = append(arrays, floatArray(t.Name, t.Values, len(t.Values)))
	}
	return arrays
}
