package main

import (
	"context"
	"math"
	"slices"

	"gorbm/cmd/cli"
	"gorbm/data"
	"gorbm/negphase/logz"
	"gorbm/rbm"
	"gorbm/rbm/modelfile"
	"gorbm/train"
)

// examples are rows of a data set as visible states of a model.
type examples struct {
	bars  *cli.Flags // makes progress bars
	m     *rbm.RBM
	set   *data.Set
	index []int32    // indices of the rows in set
	n     int        // number of rows
	v     rbm.Values // the rows; label units are 0 if the data have no labels

	gapErr []float64 // standard errors of the sums over missing cells, from sumGaps; 0: exact
}

// fitSet is like cli.FitSet, but also checks that the constraint of m allows every row.
func fitSet(m *rbm.RBM, set *data.Set, path string, about modelfile.About) (*data.Set, error) {
	set, err := cli.FitSet(m, set, path, about)
	if err == nil {
		err = train.Allows(m, set)
	}
	return set, err
}

// newExamples returns the rows index of set as visible states of m.
func newExamples(bars *cli.Flags, m *rbm.RBM, set *data.Set, index []int32) *examples {
	x := &examples{bars: bars, m: m, set: set, index: index, n: len(index), v: set.NewRows(len(index), m.Classes())}
	x.fill()
	return x
}

// fill sets v to the rows.
func (x *examples) fill() {
	if x.m.Classes() == 0 || x.labelled() {
		x.set.Visible(x.v, x.index, x.m.Classes())
		return
	}
	x.set.Inputs(x.v, x.index)
}

// labelled reports whether v has the labels of the rows.
func (x *examples) labelled() bool { return x.m.Classes() > 0 && x.set.Y != nil }

// likely reports whether rows have a likelihood. Only rows without labels in a model with
// Bernoulli labels have none, because there are too many label states to sum over.
func (x *examples) likely() bool {
	return x.m.Classes() == 0 || x.set.Y != nil || x.m.LabelKind() == rbm.Softmax
}

// grey reports whether the rows are grey values of binary units, which have a score instead of a
// likelihood.
func (x *examples) grey() bool { return x.v.IsReal() && !x.m.Real() }

// likelihoodName returns the name of −F − log Z.
func (x *examples) likelihoodName() string {
	switch {
	case x.grey():
		return "score −F − log Z"
	case x.labelled():
		return "log p(x,y)"
	case x.m.Classes() > 0:
		return "log p(x)"
	}
	return "log-likelihood"
}

// chunk is the number of rows between two checks of the context.
const chunk = 256

// eachChunk calls f(lo, hi) for successive chunks lo … hi−1 of the rows, with a progress bar.
func (x *examples) eachChunk(ctx context.Context, what string, f func(lo, hi int)) error {
	bar := x.bars.NewProgress(what, "rows", int64(x.n))
	defer bar.Done()
	for lo := 0; lo < x.n; lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, x.n)
		f(lo, hi)
		bar.Set(int64(hi), "")
	}
	return nil
}

// freeEnergies returns the free energy F of each row, with the label summed out if the rows
// have none. It overwrites logp, rows × classes, with log p(y|x) unless logp is nil. what is
// the text of the progress bar.
func (x *examples) freeEnergies(ctx context.Context, what string, logp []float64) ([]float64, error) {
	free, classes := make([]float64, x.n), x.m.Classes()
	bare := classes > 0 && !x.labelled()
	if bare && logp == nil {
		logp = make([]float64, x.n*classes)
	}
	return free, x.eachChunk(ctx, what, func(lo, hi int) {
		if classes > 0 && logp != nil {
			x.m.ClassLogProb(logp[lo*classes:hi*classes], x.v.Slice(lo, hi))
		}
		if bare {
			x.sumOutLabels(free[lo:hi], logp[lo*classes:hi*classes], lo)
		} else {
			x.m.FreeEnergy(free[lo:hi], x.v.Slice(lo, hi))
		}
		x.rescale(free, 1, lo, hi)
	})
}

// rescale adds sign · set.LogScale to elements lo … hi−1 of rows if the model has real units. Then densities
// are in the data's units.
func (x *examples) rescale(rows []float64, sign float64, lo, hi int) {
	if !x.m.Real() {
		return
	}
	for r := lo; r < hi; r++ {
		rows[r] += float64(sign * x.set.LogScale(x.index[r]))
	}
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of the rows from lo
// on, which have no labels. It computes this as F(x,y) + log p(y|x) for one class y.
// For Bernoulli labels, where the sum has too many terms, F is NaN.
func (x *examples) sumOutLabels(free, logp []float64, lo int) {
	if !x.likely() {
		for i := range free {
			free[i] = math.NaN()
		}
		return
	}
	class := func(i int) int {
		if x.m.Constraint == nil {
			return 0
		}
		return train.Likeliest(logp[i*x.m.Classes() : (i+1)*x.m.Classes()]) // the constraint may exclude others
	}
	for i := range free {
		x.v.Set(lo+i, x.m.Inputs()+class(i), true)
	}
	x.m.FreeEnergy(free, x.v.Slice(lo, lo+len(free)))
	for i := range free {
		y := class(i)
		free[i] += logp[i*x.m.Classes()+y]
		x.v.Set(lo+i, x.m.Inputs()+y, false)
	}
}

// states returns the rows as binary states, without labels if bare is set. Grey values
// become bits by a threshold, because only states of the model bound its log Z.
func (x *examples) states(bare bool) *examples {
	bare = bare && x.labelled()
	if !x.v.IsReal() && !bare {
		return x
	}
	states := *x
	if bare {
		set := *x.set
		set.Y, states.set = nil, &set
	}
	states.v = rbm.NewBits(x.n, x.m.Visible())
	states.fill()
	return &states
}

// lowerBound returns a lower bound of log Z from the distinct rows of parts, or −Inf if it
// is not finite.
func lowerBound(ctx context.Context, parts []*examples) (float64, error) {
	if parts[0].m.Real() { // a density is no lower bound of Z
		return math.Inf(-1), nil
	}
	var free []float64
	v := rbm.NewBits(0, parts[0].m.Visible())
	// An input without a label represents the states with all labels, including those of
	// rows with a label.
	bare := slices.ContainsFunc(parts, func(p *examples) bool { return !p.labelled() })
	for _, part := range parts {
		part = part.states(bare)
		f, err := part.freeEnergies(ctx, "lower bound", nil)
		if err != nil {
			return 0, err
		}
		free = append(free, f...)
		v.Words, v.Rows = append(v.Words, part.v.Words...), v.Rows+part.n
	}
	bound := logz.LowerBound(free, v)
	if math.IsNaN(bound) || math.IsInf(bound, 0) {
		return math.Inf(-1), nil
	}
	return bound, nil
}
