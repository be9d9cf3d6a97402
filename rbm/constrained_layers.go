package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// Under a constraint the hidden units are not independent given the visible
// ones: their distribution is the conditional Bernoulli distribution. So means, draws and energies
// are computed row by row, after the preactivations of all panels.

// recursionCost is the cost of a term of that distribution's recursion, in multiply-adds.
const recursionCost = 32

// runConstrained computes means, gains, draws and energies from the
// preactivations of an up pass.
func (p *pass) runConstrained() {
	hidden := p.m.Hidden()
	k := min(p.m.Constraint.Active, hidden)
	if p.m.Constraint.On == AllUnits {
		k = hidden / 2 // the most costly; k differs from row to row
	}
	p.constrained.Run(ceilDiv(p.v.Rows, bernoulli.Rows), recursionCost*p.v.Rows*hidden*min(k+1, hidden-k+1))
}

// constrainedPart computes the i-th bernoulli.Rows rows.
func (p *pass) constrainedPart(i int) {
	c := bernoulli.Get(p.m.Hidden())
	defer c.Put()
	lo := i * bernoulli.Rows
	n := min(bernoulli.Rows, p.v.Rows-lo)
	one := true // all rows are at β = 1, where one distribution serves for means and draws
	for l := range n {
		one = one && p.rowBeta(lo+l) == 1
		c.Active[l] = p.m.Constraint.activeHidden(p.v, lo+l)
		c.Number[l] = uint32(p.first + lo + l)
	}
	if p.gain != nil {
		p.constrainedGain(c, lo, n)
	}
	var stream *vec.Stream
	if p.draw {
		stream = &p.stream
	}
	if p.mean.Rows > 0 {
		for l := range n {
			p.logOdds(c.LogOdds[l], lo+l, 1, nil)
		}
		c.Solve()
		if one {
			c.Forward(true, stream)
		} else {
			c.Forward(true, nil)
		}
		for l := range n {
			p.m.storeMean(p.mean.Row(lo+l), c, l)
		}
	}
	if !p.draw {
		return
	}
	if p.mean.Rows == 0 || !one {
		if p.gain == nil { // else c holds the distribution at the row's β
			for l := range n {
				p.logOdds(c.LogOdds[l], lo+l, float64(p.rowBeta(lo+l)), p.base.hidden().Field)
				c.Shift[l] = math.NaN() // no guess, so that draws are identical whether or not means were computed
			}
			c.Solve()
		}
		c.Forward(false, stream)
	}
	for r := lo; r < lo+n; r++ {
		p.m.storeDrawn(p.h.Row(r), c, r-lo)
		if p.energy != nil {
			x, _ := p.partials(r)
			for k := range p.h.Stride {
				vec.MaskedSums(x[vec.Blocks(p.m.Visible())+k:], 1, p.act(k, r)[:], vec.Block, p.h.Row(r)[k:], 1, 1)
			}
		}
	}
}

// logOdds overwrites dst with the log-odds that the hidden units of row r differ
// from the reference, at beta on the path from base, their biases at β = 0 (nil:
// zeros). It returns the log weight of the reference.
func (p *pass) logOdds(dst []float64, r int, beta float64, base []float32) float64 {
	for k := range vec.Blocks(len(dst)) {
		x := dst[k*vec.Block : min((k+1)*vec.Block, len(dst))]
		for j, a := range p.act(k, r)[:len(x)] {
			x[j] = float64(beta * float64(a))
		}
		if base == nil || beta == 1 {
			continue
		}
		for j, a := range base[k*vec.Block:][:len(x)] {
			x[j] += float64((1 - beta) * float64(a))
		}
	}
	return p.m.fromReference(dst)
}

// fromReference turns log-odds of hidden units being on into log-odds of their
// differing from the constraint's reference. It returns the log weight of the
// reference itself.
func (m *RBM) fromReference(s []float64) (weight float64) {
	for j, c := range m.Constraint.HiddenReference(m) {
		if c == 1 {
			weight += s[j]
			s[j] = -s[j]
		}
	}
	return weight
}

// storeMean overwrites dst with the means of the hidden units of row l of c.
func (m *RBM) storeMean(dst []float32, c *bernoulli.Conditional, l int) {
	if !c.Possible(l) {
		fill(dst, float32(math.NaN()))
		return
	}
	for j := range dst {
		dst[j] = float32(c.Mean[j][l])
	}
	for j, on := range m.Constraint.HiddenReference(m) {
		if on == 1 {
			dst[j] = float32(1 - c.Mean[j][l])
		}
	}
}

// storeDrawn overwrites dst with the hidden units that c has drawn for row l.
func (m *RBM) storeDrawn(dst []uint64, c *bernoulli.Conditional, l int) {
	copy(dst, c.Drawn[l])
	for j, on := range m.Constraint.HiddenReference(m) {
		dst[j/vec.Block] ^= uint64(on) << (j % vec.Block)
	}
}

// constrainedGain computes the gains of n rows from lo on, between two points on
// a path. It leaves the distribution at the second one in c.
func (p *pass) constrainedGain(c *bernoulli.Conditional, lo, n int) {
	g := p.gain
	gains := g.sum[lo : lo+n] // of the first panel; the others gain nothing
	clear(gains)
	fill(g.product, 1)
	for i, beta := range [2]float64{g.from, g.to} {
		sign := float64(2*i - 1)
		for l := range gains {
			gains[l] += float64(sign * p.logOdds(c.LogOdds[l], lo+l, beta, g.bias))
		}
		c.Solve()
		for l := range gains {
			gains[l] += float64(sign * c.LogSum(l))
		}
	}
}

// constrainedVisibleMean is VisibleMean under a constraint on all units. h fixes
// how many visible units are active.
func (m *RBM) constrainedVisibleMean(dst Matrix, h Values) {
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	reference, distances := m.Constraint.HiddenReference(m), m.Constraint.ClassDistances(m)
	parallel.Do(ceilDiv(h.Rows, blockRows), func(part int) {
		law := bernoulli.Layer{Binary: m.binary(), Reference: m.Constraint.VisibleReference(m), Distance: distances}
		a, mean := make([]float64, m.Visible()), make([]float64, m.Visible())
		for r := part * blockRows; r < min((part+1)*blockRows, h.Rows); r++ {
			active := m.Constraint.Active
			for j := range m.Hidden() {
				if h.Get(r, j) != (reference != nil && reference[j] == 1) {
					active--
				}
			}
			for i := range a {
				a[i] = float64(m.VisibleBias[i])
				row := weights.Row(i)
				h.Each(r, func(j int) { a[i] += float64(row[j]) })
			}
			if math.IsInf(law.LogWeight(0, a, active, mean), -1) {
				fill(mean, math.NaN())
			}
			for i, p := range mean {
				dst.Row(r)[i] = float32(p)
			}
		}
	})
}
