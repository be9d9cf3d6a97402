package data

import (
	"context"
	"math"

	"gorbm/rbm"
)

// Standard is the value of Options.Binarize and Set.Binarize for real values that are standardised, column
// by column, for Gaussian visible units. Set.Grey has (value − mean)/deviation, and X has ones for values
// above the mean.
const Standard = "standard"

// raw is the scaling of real values, which leaves them as they are.
var raw = scaling{rule: "raw", given: scales{asIs}}

// loadReal reads a source again as real values, after its values were found not to be in [0,1]. If that
// fails too, it returns the first error, cause.
func loadReal(ctx context.Context, spec string, opt Options, cause error) ([]*Set, error) {
	opt.Binarize = Standard
	sets, err := load(ctx, spec, opt)
	if err != nil {
		return nil, cause
	}
	if sets[0].counts() { // as in bytes of pictures, whose scale the user must give
		return nil, cause
	}
	for _, s := range sets {
		s.Found = true
	}
	return sets, nil
}

// counts reports whether all values are whole and none is negative, in a set that is not standardised yet.
func (s *Set) counts() bool {
	for r := range s.Grey.Rows {
		for j, v := range s.Grey.Row(r) {
			x := float64(v)
			if s.origin != nil {
				x += s.origin[j]
			}
			if x < 0 || x != math.Trunc(x) {
				return false
			}
		}
	}
	return true
}

// canBeReal reports whether values that are not in [0,1] may be read as real values.
func (o Options) canBeReal() bool {
	return o.Real && (o.Binarize == Threshold || o.Binarize == None) && (o.Categorical == "" || o.Categorical == "auto") && o.Levels == 0 && o.Numbers == "" && o.scaling().rule == "auto"
}

// standardise standardises sets, the first of which is the training set. The sets have grey values, or bits
// only. If Means is nil, means and deviations are those of the training rows.
func (o Options) standardise(sets []*Set) error {
	first, mean, deviation := sets[0], o.Means, o.Deviations
	switch {
	case first.Schema != nil && first.Means != nil: // a table, which its reader has standardised
		return nil
	case first.Groups != nil:
		return specErrorf("%s holds categories alone, which cannot be standardised; leave Gaussian units and standardising out", first.Name)
	}
	if mean == nil {
		mean, deviation = first.moments(o.counted(first.Len(), first.Weights))
	}
	for _, s := range sets {
		if len(mean) != s.X.Cols || len(deviation) != s.X.Cols {
			return formatErrorf("%s: rows of %d inputs, where the model's scale has %d; give the columns that it was trained on", s.Name, s.X.Cols, len(mean))
		}
		s.widen()
		s.Means, s.Deviations, s.Binarize = mean, deviation, Standard
		s.Groups = []rbm.Group{{Kind: rbm.Gaussian, Units: s.X.Cols}}
		clear(s.X.Words)
		for r := range s.Len() {
			row := s.Grey.Row(r)
			for j, v := range row {
				x := float64(v) - mean[j]
				if s.origin != nil {
					x += s.origin[j]
				}
				if deviation[j] > 0 {
					x /= deviation[j]
				}
				row[j] = float32(x)
				s.X.Set(r, j, x > 0)
			}
		}
		s.origin = nil
	}
	return nil
}

// widen sets Grey to the bits of a set without grey values.
func (s *Set) widen() {
	if s.Grey.Rows == 0 {
		grey := rbm.NewMatrix(s.X.Rows, s.X.Cols)
		s.Visible(grey.Values(), RowNumbers(0, s.Len()), 0)
		s.Grey = grey
	}
}

// moments returns the mean and standard deviation of each column over the rows, which have these weights.
// The deviation of a constant column is 0.
func (s *Set) moments(weights []float64) (mean, deviation []float64) {
	s.widen()
	n, cols, first := 0.0, s.X.Cols, []float32(nil)
	for r, w := range weights {
		if n += w; w > 0 && first == nil {
			first = s.Grey.Row(r)
		}
	}
	mean, deviation = make([]float64, cols), make([]float64, cols)
	for r, w := range weights {
		part := n / w // weight times value may be infinite
		for j, v := range s.Grey.Row(r) {
			mean[j] += float64(v) / part
		}
	}
	for r, w := range weights {
		part := n / w
		for j, v := range s.Grey.Row(r) {
			d := float64(v) - mean[j]
			deviation[j] += float64(d*d) / part
		}
	}
	for j := range mean {
		// A variance within the rounding of the sums means that the column is constant. Different float32
		// values have a larger variance.
		if size := math.Abs(float64(first[j])); deviation[j] <= float64(0x1p-44*size*size) {
			mean[j], deviation[j] = float64(first[j]), 0
		}
		deviation[j] = math.Sqrt(deviation[j])
		if s.origin != nil {
			mean[j] += s.origin[j]
		}
	}
	return mean, deviation
}

// kept returns what is stored for v, the value of column j, until the scale is known. For real values that
// is v minus the value in the first row. float32 holds this difference precisely even if values are large
// and close to each other.
func (b *binarizer) kept(j int, v float64) float32 {
	if b.mode != Standard {
		return float32(v)
	}
	if j == len(b.origin) {
		b.origin = append(b.origin, v)
	}
	return float32(v - b.origin[j])
}

// LogScale returns the log density of a standardised row minus its log density in the units of the data.
// This is Σ log deviation over the columns that are not constant and whose cell is known. It is 0 if the
// set is not standardised.
func (s *Set) LogScale(row int32) float64 {
	sum := 0.0
	for i, d := range s.Deviations {
		if d > 0 && !(s.Missing.Rows > 0 && s.Missing.Get(int(row), i)) {
			sum += rbm.Log(d)
		}
	}
	return sum
}

// Unscale overwrites rows of standardised inputs with values in the units of the data, mean + deviation·x.
// Constant columns get their constant. If mean is nil it does nothing.
func Unscale(rows rbm.Matrix, mean, deviation []float64) {
	if mean == nil {
		return
	}
	for r := range rows.Rows {
		row := rows.Row(r)
		for j, x := range row {
			row[j] = float32(mean[j] + float64(deviation[j]*float64(x)))
		}
	}
}
