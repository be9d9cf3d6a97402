package rbm

import (
	"math"

	"gorbm/rbm/internal/vec"
)

// PseudoLogLikelihood overwrites dst, of length v.Rows, with the log pseudo-likelihood of each row,
//
//	Σᵢ log p(vᵢ | v without i)
//
// in nats (Besag 1975). The sum is over all units, not an estimate from one random unit. A softmax group
// is one variable; its term is the log probability of its state, or 0 if none of its units is on. The term
// of a real unit is its log density. Weights of Bernoulli units are limited to ±700,
// because larger exponentials overflow. It panics if the shapes differ, or if m does not pass CheckSites.
//
// Under a constraint the time for each unit of each row is proportional to hidden units × active hidden units
// at most. The result of a row of probability zero is −Inf.
func (m *RBM) PseudoLogLikelihood(dst []float64, v Values) {
	m.checkStates(v)
	if len(dst) != v.Rows {
		panic("rbm: PseudoLogLikelihood needs one element of dst for each row")
	}
	if err := m.CheckSites(); err != nil {
		panic("rbm: " + err.Error())
	}
	m.given().pseudoLogLikelihood(m, dst, v)
}

const (
	// pseudoRows is the largest number of rows of a block. The exponentials of a unit's weights
	// are computed once for a block and cost as much as about ten rows.
	pseudoRows = 64
	// pseudoUnits is the number of units that are scored together.
	pseudoUnits = 4
	// maxOddsBias is the largest absolute bias b for which scoreUnits computes with e^±b directly; for
	// larger ones it computes with logarithms, which cannot overflow.
	maxOddsBias = 300
	// maxPseudoWeight is the limit of absolute weights.
	maxPseudoWeight = 700
)

// A pseudoScore accumulates the scores of the Bernoulli units of a row. The score of a unit is its term in
// the log pseudo-likelihood.
type pseudoScore struct {
	flips  vec.Scaled // Π (1 + odds of flipping the unit)
	logSum float64    // Σ log(off+on) over the hidden units
	unit   vec.Scaled // e^−logSum
}

// pseudoLogLikelihoods scores the rows of a block. Bernoulli units are scored pseudoUnits at a time. Flipping
// unit i changes the free energy F by
//
//	∓bᵢ − Σⱼ log((off + on·R)/(off + on)),  R = exp(±Wᵢⱼ),
//
// where on/off are the odds of hidden unit j. The upper sign is for a flip from 0 to 1.
func (e *evaluation) pseudoLogLikelihoods(b *rowBlock, first int) {
	m := e.m
	width := vec.RoundUp(m.Hidden())
	b.on, b.off = grown(b.on, b.n*width), grown(b.off, b.n*width)
	dst := e.dst[first : first+b.n]
	for r := range dst {
		dst[r] = 0
		if m.softmaxLabel() {
			dst[r] = e.labelScore(b.row(r, m.Hidden()), b, first+r)
		}
	}
	e.scoreGroups(dst, b, first)
	if m.hidden.isReal {
		e.scoreOneByOne(dst, b, first)
		return
	}
	e.scoreReal(dst, b, first)
	b.score = grown(b.score, b.n)
	for r := range dst {
		above, own := vec.Odds(b.on[r*width:][:width], b.off[r*width:][:width], b.row(r, m.Hidden()))
		b.score[r] = pseudoScore{vec.Scaled{M: 1}, own, vec.ScaledExp(-own)}
		if math.IsNaN(above) { // a preactivation is NaN, which the odds do not show
			dst[r] = above
		}
	}
	b.table, b.weights = grown(b.table, 2*pseudoUnits*width), grown(b.weights, width)
	for _, g := range m.visible.apart {
		if g.Real() {
			continue
		}
		for i, end := g.First, g.First+g.Units; i < end; i += pseudoUnits {
			n := min(pseudoUnits, end-i)
			largest := 0.0
			for u := range n {
				m.widenRow(b.weights, i+u)
				largest = max(largest, vec.LargestSize(b.weights))
				vec.Exps(b.table[2*u*width:][:width], b.weights)
				for k := range b.weights {
					b.weights[k] = -b.weights[k]
				}
				vec.Exps(b.table[(2*u+1)*width:][:width], b.weights)
			}
			if math.IsNaN(largest) {
				fill(dst, largest)
				return
			}
			e.scoreUnits(b, first, i, n, vec.Span(min(largest, maxPseudoWeight)))
		}
	}
	for r, s := range b.score {
		dst[r] -= vec.LogSplit(s.flips.M, s.flips.E)
	}
}

// scoreOneByOne adds the scores of the Bernoulli visible units to dst. It computes log Z of the
// hidden units for every flip, so it works for any kind of hidden units.
func (e *evaluation) scoreOneByOne(dst []float64, b *rowBlock, first int) {
	m := e.m
	b.mean = grown(b.mean, b.n)
	for r := range dst {
		b.mean[r] = m.hidden.logZ(b.row(r, m.Hidden()), &m.hidden.dist)
	}
	b.table, b.weights = grown(b.table, vec.RoundUp(m.Hidden())), grown(b.weights, vec.RoundUp(m.Hidden()))
	for _, g := range m.visible.apart {
		for i := g.First; i < g.First+g.Units; i++ {
			m.widenRow(b.weights, i)
			for r := range dst {
				sign := 1.0
				if e.v.Get(first+r, i) {
					sign = -1
				}
				for k, a := range b.row(r, m.Hidden()) {
					b.table[k] = a + float64(sign*b.weights[k])
				}
				rise := m.hidden.logZ(b.table, &m.hidden.dist) - b.mean[r]
				dst[r] -= vec.Softplus(float64(sign*float64(m.VisibleBias[i])) + rise)
			}
		}
	}
}

// scoreGroups adds the scores of the softmax groups of inputs to dst.
func (e *evaluation) scoreGroups(dst []float64, b *rowBlock, first int) {
	hidden := e.m.Hidden()
	for _, g := range e.m.visible.joint {
		if g.Label {
			continue
		}
		b.group.set(e.m, g)
		b.logp, b.weights = grown(b.logp, g.Units), grown(b.weights, vec.RoundUp(hidden))
		for r := range dst {
			for y := range g.Units {
				if e.v.At(first+r, g.First+y) == 0 {
					continue
				}
				row := b.row(r, hidden)
				for k, w := range b.group.rows[y*len(row):][:len(row)] {
					b.weights[k] = row[k] - w // preactivation without the group
				}
				b.group.logProbs(b.logp, b.weights, b)
				dst[r] += b.logp[y]
			}
		}
	}
}

// Nodes is a grid of equidistant values of a Gaussian visible unit, for integrals by the trapezium rule.
// The hidden units are bits. Given all other visible units, the density of the unit is a mixture of
// Gaussians of equal standard deviation, one for each hidden state. With h standard deviations
// between nodes the relative error of the rule is exp(−2π²/h²) (Trefethen and Weideman, The
// exponentially convergent trapezoidal rule, SIAM Review 2014). Here that is e⁻⁷⁹, and the probability
// beyond the nodes is below 2·10⁻¹⁷.
type Nodes struct {
	Low, Step float64 // the first value and the distance
	N         int     // number of values
}

const (
	nodeSteps      = 2   // number of nodes per standard deviation
	nodeDeviations = 8.5 // standard deviations from the outermost component means to the ends of the grid
	// mostNodes limits the number of nodes if weights are extremely large.
	mostNodes = 1 << 20
)

// Nodes returns the grid of visible unit i, which must be Gaussian.
func (m *RBM) Nodes(i int) Nodes {
	low, high := float64(m.VisibleBias[i]), float64(m.VisibleBias[i])
	for j := range m.Hidden() {
		w := float64(m.Weight(i, j))
		low, high = low+min(w, 0), high+max(w, 0)
	}
	precision := m.visible.dist.Param(0, i)
	deviation := 1 / math.Sqrt(precision)
	beyond := float64(nodeDeviations * deviation)
	n := Nodes{Low: low/precision - beyond, Step: deviation / nodeSteps}
	n.N = int(min(math.Ceil((high/precision+beyond-n.Low)/n.Step), mostNodes))
	return n
}

// scoreReal adds, to dst, the log density of each Gaussian visible unit given all other visible units.
// The hidden units must be bits.
func (e *evaluation) scoreReal(dst []float64, b *rowBlock, first int) {
	m := e.m
	width := vec.RoundUp(m.Hidden())
	b.weights, b.table = grown(b.weights, width), grown(b.table, width)
	for _, g := range m.visible.apart {
		for i := g.First; g.Real() && i < g.First+g.Units; i++ {
			nodes := m.Nodes(i)
			b.logp = grown(b.logp, nodes.N)
			m.widenRow(b.weights, i)
			bias, precision := float64(m.VisibleBias[i]), m.visible.dist.Param(0, i)
			for r := range dst {
				a, own := b.row(r, m.Hidden()), float64(e.v.At(first+r, i))
				logWeight := func(x float64) float64 {
					for k, w := range b.weights {
						b.table[k] = a[k] + float64(w*(x-own))
					}
					return float64(bias*x) - float64(float64(x*x)*precision/2) + m.hidden.logZ(b.table[:m.Hidden()], &m.hidden.dist)
				}
				for k := range b.logp {
					b.logp[k] = logWeight(nodes.Low + float64(float64(k)*nodes.Step))
				}
				dst[r] += logWeight(own) - Log(nodes.Step) - vec.LogSumExp(b.logp)
			}
		}
	}
}

// labelScore returns log p(y|x) of the label of row r. The argument a has the hidden preactivations
// from the inputs alone; labelScore adds the weights of the label to them.
func (e *evaluation) labelScore(a []float64, b *rowBlock, r int) (score float64) {
	b.logp = grown(b.logp, e.m.Classes())
	e.logProbs(b.logp, a, b)
	for y, lp := range b.logp {
		if e.v.At(r, e.units+y) != 0 {
			score += lp
			for k, w := range e.labels.rows[y*len(a):][:len(a)] {
				a[k] += w
			}
		}
	}
	return score
}

// scoreUnits includes n units from i on in the score of each row. b.table must have exp(weight) and
// exp(−weight) of each unit.
func (e *evaluation) scoreUnits(b *rowBlock, first, i, n, span int) {
	width := len(b.weights)
	var up, down [pseudoUnits]float64 // odds of flipping to 1 and to 0 from the bias alone
	for u := range n {
		bias := float64(e.m.VisibleBias[i+u])
		up[u], down[u] = vec.Exp(bias), vec.Exp(-bias)
	}
	for r := range b.n {
		var mantissa [pseudoUnits]float64
		var exponent [pseudoUnits]int64
		var offsets [pseudoUnits]uint32
		odds := up
		for u := range n {
			mantissa[u], offsets[u] = 1, uint32(2*u*width)
			if e.v.At(first+r, i+u) != 0 {
				offsets[u] += uint32(width)
				odds[u] = down[u]
			}
		}
		vec.Products(mantissa[:n], exponent[:n], b.on[r*width:][:width], b.off[r*width:][:width], b.table, offsets[:n], span)
		score := &b.score[r]
		for u := range n {
			bias := float64(e.m.VisibleBias[i+u])
			if math.Abs(bias) <= maxOddsBias {
				timesOnePlus(&score.flips, odds[u]*mantissa[u]*score.unit.M, exponent[u]+score.unit.E)
				continue
			}
			if e.v.At(first+r, i+u) != 0 {
				bias = -bias
			}
			e.dst[first+r] -= vec.Softplus(bias + (vec.LogSplit(mantissa[u], exponent[u]) - score.logSum))
		}
	}
}

// timesOnePlus multiplies p by 1 + x·2^e, for |log x| ≤ maxOddsBias + 2.
func timesOnePlus(p *vec.Scaled, x float64, e int64) {
	switch {
	case e < -520: // x·2^e < 2⁻⁸⁴, because x ≤ exp(302) < 2⁴³⁶
		return
	case e <= 520:
		x = 1 + float64(x*vec.Power(e))
		e = 0
	} // else x·2^e > 2⁸⁴, against which 1 is negligible
	p.Times(x)
	p.E += e
}
