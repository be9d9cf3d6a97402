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
	bars  *cli.Flags // of the progress bars
	m     *rbm.RBM
	set   *data.Set
	index []int32    // of the rows in set
	n     int        // of rows
	v     rbm.Values // the rows; label units are empty if the data have no labels

	gapErr []float64 // standard errors of the sums over missing cells, by sumGaps; 0: enumerated
}

// fitSet is cli.FitSet, but the constraint of m must allow every row too.
func fitSet(m *rbm.RBM, set *data.Set, path string, about modelfile.About) (*data.Set, error) {
	set, err := cli.FitSet(m, set, path, about)
	if err == nil {
		err = train.Allows(m, set)
	}
	return set, err
}

// newExamples returns these rows of set as visible states of m.
func newExamples(bars *cli.Flags, m *rbm.RBM, set *data.Set, index []int32) *examples {
	x := &examples{bars: bars, m: m, set: set, index: index, n: len(index), v: set.NewRows(len(index), m.Classes())}
	x.fill()
	return x
}

// fill sets v to the rows, as grey values or as bits.
func (x *examples) fill() {
	if x.m.Classes() == 0 || x.labelled() {
		x.set.Visible(x.v, x.index, x.m.Classes())
		return
	}
	x.set.Inputs(x.v, x.index)
}

// labelled reports whether the rows have their labels in v.
func (x *examples) labelled() bool { return x.m.Classes() > 0 && x.set.Y != nil }

// likely reports whether rows have a likelihood. Only rows without labels under
// Bernoulli labels have none: the sum over all label states is out of reach.
func (x *examples) likely() bool {
	return x.m.Classes() == 0 || x.set.Y != nil || x.m.LabelKind() == rbm.Softmax
}

// grey reports whether the rows are grey values of binary units, which have a score in place of a
// likelihood.
func (x *examples) grey() bool { return x.v.IsReal() && !x.m.Real() }

// likelihoodName names the mean of −F − log Z; with labels it says whether it is log p(x) or log p(x,y).
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

// eachChunk calls f for one part of the rows after the other, with a progress
// bar.
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

// freeEnergies returns F of each row. It overwrites logp, rows × classes, with
// log p(y|x), unless it is nil.
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

// rescale adds sign times Set.LogScale to rows lo … hi−1 if the model has real units: densities are then in the data's own
// units.
func (x *examples) rescale(rows []float64, sign float64, lo, hi int) {
	if !x.m.Real() {
		return
	}
	for r := lo; r < hi; r++ {
		rows[r] += float64(sign * x.set.LogScale(x.index[r]))
	}
}

// sumOutLabels overwrites free with F(x) = −log Σ_y exp(−F(x,y)) of the rows
// from lo on, which have no labels. It takes one class y and adds log p(y|x) to
// F(x,y). Bernoulli labels have too many states for that: their F is NaN.
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
		return train.Likeliest(logp[i*x.m.Classes() : (i+1)*x.m.Classes()]) // others may be impossible
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

// states returns the rows as binary states, with bare those of the inputs alone.
// Grey values are turned to bits by a threshold, because only states of the model
// bound its log Z.
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

// lowerBound returns a lower bound of log Z, from the distinct rows of parts;
// −Inf if that is beyond float64.
func lowerBound(ctx context.Context, parts []*examples) (float64, error) {
	if parts[0].m.Real() { // densities bound nothing
		return math.Inf(-1), nil
	}
	var free []float64
	v := rbm.NewBits(0, parts[0].m.Visible())
	// Inputs without a label stand for the states of all labels, those of rows
	// with labels among them.
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
