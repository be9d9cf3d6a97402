package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// HiddenMeanGivenInputs overwrites dst, v.Rows() × Hidden(), with the hidden means
// given the inputs x alone, the label summed out:
//
//	p(h=1|x) = Σ_y p(y|x) p(h=1|x,e_y)
//
// The label units in v are ignored, so rows give the same bits with and without
// their labels. Both kinds of label have the p(y|x) of ClassLogProb: the sum is
// over the one-hot labels e_y, Classes terms. For Bernoulli labels, whose units
// the model may also switch on several at once or not at all, this is the mean
// given x and that exactly one of them is on, as in the data; the sum over all
// 2^Classes states of the label is not taken. Under a constraint each term is
// that of the constrained model.
//
// A row of dst is NaN where a constraint leaves x no state in any class. Of a
// model without labels it is HiddenMean. Sums are in float64. It panics if the
// shapes differ, or if v is grey and a constraint is on all units.
func (m *RBM) HiddenMeanGivenInputs(dst Matrix, v Input) {
	m.checkInput(v)
	if dst.Rows != v.Rows() || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMeanGivenInputs needs dst of rows × hidden")
	}
	if m.Classes() == 0 {
		m.HiddenMean(dst, v)
		return
	}
	m.judge(func(j *judging) {
		j.v, j.mean, j.units = v, dst, m.Inputs()
		j.labels.set(m)
	}, (*judging).takeInputMeans)
}

// takeInputMeans takes the hidden means of a part's rows, which have no label.
func (j *judging) takeInputMeans(s *judged, lo int) {
	hidden, classes := j.m.Hidden(), j.m.Classes()
	s.logp, s.mean = grown(s.logp, s.n*classes), grown(s.mean, s.n*hidden)
	clear(s.mean)
	if j.m.Constraint != nil {
		j.countInputMeans(s, lo)
	} else {
		j.addInputMeans(s)
	}
	for r := range s.n {
		dst := j.mean.Row(lo + r)
		for k, x := range s.mean[r*hidden:][:hidden] {
			dst[k] = float32(x)
		}
		for _, lp := range s.logp[r*classes:][:classes] {
			if lp != lp { // a parameter is NaN, or no class is possible
				for k := range dst {
					dst[k] = float32(math.NaN())
				}
				break
			}
		}
	}
}

// addInputMeans overwrites s.logp with log p(y|x), and adds to s.mean the means
// of the classes, so weighted.
func (j *judging) addInputMeans(s *judged) {
	hidden, classes := j.m.Hidden(), j.m.Classes()
	n := vec.RoundUp(hidden)
	s.on, s.off, s.weights = grown(s.on, n), grown(s.off, n), grown(s.weights, n)
	for r := range s.n {
		a, logp, mean := s.row(r, hidden), s.logp[r*classes:][:classes], s.mean[r*hidden:][:hidden]
		j.classes(logp, a, s)
		for y, lp := range logp {
			for k, w := range j.labels.rows[y*n:][:hidden] {
				s.weights[k] = a[k] + w
			}
			vec.Chances(s.on[:hidden], s.off, s.weights[:hidden])
			p := vec.Exp(lp)
			for k, q := range s.on[:hidden] {
				mean[k] += float64(p * q)
			}
		}
	}
}
