package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// PseudoLogLikelihood overwrites dst, len v.Rows, with
//
//	Σᵢ log p(vᵢ | v without i)
//
// in nats (Besag 1975): every unit is scored, not one drawn at random. A
// softmax label is one variable, scored by log p(y|x). Weights count as no
// larger than 700 here, beyond which their exponential overflows. It panics if
// the shapes differ. Under a constraint it takes a recursion of O(mK) for each
// unit of each row; a row of probability zero has −Inf.
func (m *RBM) PseudoLogLikelihood(dst []float64, v Bits) {
	m.checkInput(v.Input())
	if len(dst) != v.Rows {
		panic("rbm: PseudoLogLikelihood needs one place of dst a row")
	}
	if m.Constraint != nil {
		m.countPseudoLogLikelihood(dst, v)
		return
	}
	m.judge(func(j *judging) {
		j.v, j.dst = v.Input(), dst
		if m.softmaxLabel() {
			j.units = m.Inputs()
			j.labels.set(m)
		}
		j.size = min(pseudoRows, max(rowBlock, ceilDiv(v.Rows, 4)))
	}, (*judging).takePseudo)
}

// pseudoRows is the largest number of rows of a part: the exponentials of each unit's
// weights, worth some ten rows of the unit, serve all.
const pseudoRows = 64

// pseudoUnits is the number of units that are scored at once.
const pseudoUnits = 4

// A score is what a row has so far.
type score struct {
	flips vec.Scaled // product of 1 + the odds of flipping each unit
	own   float64    // Σ log(off+on) of the row's hidden units
	unit  vec.Scaled // e^−own
}

// takePseudo scores the units that are not a softmax label four at a time.
// Flipping unit i changes F by ∓bᵢ − Σⱼ log((off + on·R)/(off + on)) with on to off
// the odds of hidden unit j and R = exp(∓Wᵢⱼ): all terms are positive.
func (j *judging) takePseudo(s *judged, lo int) {
	m := j.m
	width := vec.RoundUp(m.Hidden())
	s.on, s.off = grown(s.on, s.n*width), grown(s.off, s.n*width)
	for r := range s.n {
		j.dst[lo+r] = 0
		if m.softmaxLabel() {
			j.dst[lo+r] = j.labelScore(s.row(r, m.Hidden()), s, lo+r)
		}
	}
	s.score = grown(s.score, s.n)
	for r := range s.n {
		above, own := vec.Odds(s.on[r*width:][:width], s.off[r*width:][:width], s.row(r, m.Hidden()))
		s.score[r] = score{vec.Scaled{M: 1}, own, vec.ScaledExp(-own)}
		if above != above {
			j.dst[lo+r] = above // the odds hide a NaN
		}
	}
	s.table, s.weights = grown(s.table, 2*pseudoUnits*width), grown(s.weights, width)
	for i := 0; i < j.units; i += pseudoUnits {
		n := min(pseudoUnits, j.units-i)
		largest := 0.0
		for u := range n {
			largest = max(largest, m.widenRow(s.weights, i+u))
			vec.Exps(s.table[2*u*width:][:width], s.weights)
			for k := range s.weights {
				s.weights[k] = -s.weights[k]
			}
			vec.Exps(s.table[(2*u+1)*width:][:width], s.weights)
		}
		if largest != largest {
			for r := range s.n {
				j.dst[lo+r] = largest
			}
			return
		}
		j.scoreUnits(s, lo, i, n, vec.Span(min(largest, 700)))
	}
	for r, p := range s.score {
		j.dst[lo+r] -= vec.LogSplit(p.flips.M, p.flips.E)
	}
}

// labelScore returns log p(y|x) of the label of row r, given the hidden
// preactivations a of its inputs alone, and adds the label's weights to a.
func (j *judging) labelScore(a []float64, s *judged, r int) (score float64) {
	s.logp = grown(s.logp, j.m.Classes())
	j.classes(s.logp, a, s)
	for y, lp := range s.logp {
		if j.v.Bits.Get(r, j.units+y) {
			score += lp
			for k, w := range j.labels.rows[y*len(a):][:len(a)] {
				a[k] += w
			}
		}
	}
	return score
}

// scoreUnits multiplies the score of each row by 1 + the odds of flipping, for
// n units from i on, whose tables of e^±weight are there.
func (j *judging) scoreUnits(s *judged, lo, i, n, span int) {
	width := len(s.weights)
	var up, down [pseudoUnits]float64 // odds of flipping to one, and to zero, by the bias alone
	for u := range n {
		b := float64(j.m.VisibleBias[i+u])
		up[u], down[u] = vec.Exp(b), vec.Exp(-b)
	}
	for r := range s.n {
		var m [pseudoUnits]float64
		var e [pseudoUnits]int64
		var offsets [pseudoUnits]uint32
		bias := up
		for u := range n {
			m[u], offsets[u] = 1, uint32(2*u*width)
			if j.v.Bits.Get(lo+r, i+u) {
				offsets[u] += uint32(width)
				bias[u] = down[u]
			}
		}
		vec.Products(m[:n], e[:n], s.on[r*width:][:width], s.off[r*width:][:width], s.table, offsets[:n], span)
		for u := range n {
			own := &s.score[r]
			if b := float64(j.m.VisibleBias[i+u]); math.Abs(b) <= maxOddsBias {
				timesOnePlus(&own.flips, bias[u]*m[u]*own.unit.M, e[u]+own.unit.E)
			} else {
				if j.v.Bits.Get(lo+r, i+u) {
					b = -b
				}
				j.dst[lo+r] -= vec.Softplus(b + (vec.LogSplit(m[u], e[u]) - own.own))
			}
		}
	}
}

// maxOddsBias is the size of a bias whose exponential, times a number of [1,4),
// is taken as it is.
const maxOddsBias = 300

// timesOnePlus multiplies p by 1 + x·2^e, for x within e^±(maxOddsBias+2).
func timesOnePlus(p *vec.Scaled, x float64, e int64) {
	switch {
	case e < -520: // x·2^e < 2⁻⁸⁴ as e³⁰² < 2⁴³⁶
		return
	case e <= 520:
		x = 1 + float64(x*vec.Power(e))
		e = 0
	} // else x·2^e > 2⁸⁴, beside which 1 is nothing
	p.Times(x)
	p.E += e
}
