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

// readRows returns the rows of a request for a model of shape o. They are the array x, or the arrays
// data, indices and indptr of a sparse matrix in CSR format. If the model has classes, the array y has
// the labels. Rows of zeros and ones are stored as bits. Rows for real units must be standardised and
// in x; the optional array constant has 1 for columns with a single value.
func readRows(f frame, o shape) (*data.Set, error) {
	inputs, classes := o.Inputs, o.Classes
	s := &data.Set{Name: "the rows", Binarize: data.Binary, Groups: o.inputs}
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
	grey := o.real()
	if err := each(func(r, i int, x float32) error {
		if o.real() {
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
		if o.real() {
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

// A shape is the part of a header that describes the units of the model.
type shape struct {
	Inputs  int    `json:"inputs"`
	Hidden  int    `json:"hidden"`
	Classes int    `json:"classes"` // 0: no label
	Groups  string `json:"groups"`  // groups of the inputs, as RBM.GroupsText writes them; "": binary units

	inputs []rbm.Group // parsed Groups
}

const maxUnits = 1 << 24

// read sets o from a header.
func (o *shape) read(f frame) error {
	if err := json.Unmarshal(f.header, o); err != nil {
		return err
	}
	if o.Inputs < 1 || o.Hidden < 1 || o.Classes < 0 || o.Inputs+o.Classes > maxUnits || o.Hidden > maxUnits {
		return fmt.Errorf("a model of %d inputs, %d classes and %d hidden units; each layer must have 1 to %d units", o.Inputs, o.Classes, o.Hidden, maxUnits)
	}
	if o.Groups == "" {
		return nil
	}
	groups, err := rbm.ParseGroups(o.Groups)
	if err != nil {
		return err
	}
	left := o.Inputs
	for _, g := range groups {
		left -= min(g.Units, left+1) // left does not fall below −1, so it cannot overflow
		if left < 0 || g.Label {
			break
		}
	}
	if left != 0 || groups[len(groups)-1].Label {
		return fmt.Errorf("the groups %.60q do not have %d inputs", o.Groups, o.Inputs)
	}
	o.inputs = groups
	return nil
}

// real reports whether some inputs are real units.
func (o shape) real() bool {
	return slices.ContainsFunc(o.inputs, func(g rbm.Group) bool { return g.Kind == rbm.Gaussian })
}

// model returns a model of the shape, with all parameters zero.
func (o shape) model() *rbm.RBM {
	groups := slices.Clone(o.inputs)
	if groups == nil {
		groups = []rbm.Group{{Kind: rbm.Bernoulli, Units: o.Inputs}}
	}
	if o.Classes > 0 {
		groups = append(groups, rbm.Group{Kind: rbm.Softmax, Units: o.Classes, Label: true})
	}
	return rbm.NewGroups(o.Hidden, groups...)
}

// readModel returns the model of a request, and whether the request has one. Its arrays are weights
// [visible, hidden], both biases and other parameters of the units, such as visible_precision.
func readModel(f frame, o shape) (*rbm.RBM, bool, error) {
	m := o.model()
	w, ok, err := f.array("weights", "<f4", m.Visible(), o.Hidden)
	if err != nil || !ok {
		return nil, false, err
	}
	for _, t := range vectors(m) {
		a, ok, err := f.array(t.Name, "<f4", len(t.Values))
		if err != nil || !ok {
			return nil, false, errors.Join(err, fmt.Errorf("a model needs the array %s", t.Name))
		}
		copy(t.Values, a.floats())
	}
	m.SetWeights(rbm.Matrix{Rows: m.Visible(), Cols: o.Hidden, Data: w.floats()})
	return m, true, cmp.Or(m.CheckFinite(), m.CheckNormalisable())
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
