package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// This file implements the interface conditional for a Constraint. The units of a layer then have the
// conditional Bernoulli distribution and are not independent. Means, draws and energies of a
// row need the preactivations of all hidden units at once, not of one panel of them.

// recursionCost is the cost of a term of the recursion of package bernoulli, in multiply-adds.
const recursionCost = 32

func (c *Constraint) panel(*pass, *units.Block, []float32, int, int, int) {}

func (c *Constraint) startFree(*pass) {}

// layer computes means, gains (see wholeGain), draws and energies.
func (c *Constraint) layer(p *pass) {
	hidden := p.m.Hidden()
	k := min(c.Active, hidden)
	if c.On == AllUnits {
		k = hidden / 2 // upper limit of the cost; k differs from row to row
	}
	p.whole.Run(ceilDiv(p.v.Rows, bernoulli.Rows), recursionCost*p.v.Rows*hidden*min(k+1, hidden-k+1))
}

// wholeRows computes the results of a pass for block i of its rows. A block has bernoulli.Rows rows.
func (p *pass) wholeRows(i int) {
	c := bernoulli.Get(p.m.Hidden())
	defer c.Put()
	lo := i * bernoulli.Rows
	n := min(bernoulli.Rows, p.v.Rows-lo)
	one := true // whether all rows are at β = 1, so that means and draws use the same distribution
	for l := range n {
		one = one && p.rowBeta(lo+l) == 1
		c.Active[l] = p.m.Constraint.activeHidden(p.v, lo+l)
		c.Number[l] = uint32(p.first + lo + l)
	}
	if p.gain != nil {
		p.wholeGain(c, lo, n)
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
			mean := p.mean.Row(lo + l)
			for j := range mean {
				mean[j] = float32(c.Mean[j][l])
			}
			if !c.Possible(l) {
				fill(mean, float32(math.NaN()))
			}
		}
	}
	if !p.draw {
		return
	}
	if p.mean.Rows == 0 || !one {
		if p.gain == nil { // else wholeGain has left the distribution at the row's β in c
			for l := range n {
				p.logOdds(c.LogOdds[l], lo+l, float64(p.rowBeta(lo+l)), p.base.hidden().Field)
				c.Shift[l] = math.NaN() // no initial guess, so that draws are identical with and without means
			}
			c.Solve()
		}
		c.Forward(false, stream)
	}
	for r := lo; r < lo+n; r++ {
		copy(p.h.Row(r), c.Drawn[r-lo])
		if p.energy != nil {
			x, _ := p.partials(r)
			for k := range p.h.Stride {
				vec.MaskedSums(x[vec.Blocks(p.m.Visible())+k:], 1, p.act(k, r)[:], vec.Block, p.h.Row(r)[k:], 1, 1)
			}
		}
	}
}

// logOdds overwrites dst with the log-odds of the hidden units of row r at inverse temperature beta.
// base has their biases at β = 0 (nil: zeros).
func (p *pass) logOdds(dst []float64, r int, beta float64, base []float32) {
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
}

// wholeGain computes, for n rows from lo on, the increase of log Z between two inverse temperatures. It
// leaves the distribution at the second temperature in c.
func (p *pass) wholeGain(c *bernoulli.Conditional, lo, n int) {
	g := p.gain
	gains := g.sum[lo : lo+n] // the first panel has the whole increase; the others stay 0
	clear(gains)
	fill(g.product, 1)
	for i, beta := range [2]float64{g.from, g.to} {
		sign := float64(2*i - 1)
		for l := range gains {
			p.logOdds(c.LogOdds[l], lo+l, beta, g.bias)
		}
		c.Solve()
		for l := range gains {
			gains[l] += float64(sign * c.LogZ(l))
		}
	}
}

func (c *Constraint) sumOut(e *evaluation, b *rowBlock, n int, mean bool, rows summedRows) {
	b.on = grown(b.on, vec.RoundUp(e.m.Hidden()))
	means := b.on[:e.m.Hidden()]
	c.each(e.m, n, mean, func(d *bernoulli.Conditional, l, i int) {
		z, active := rows.row(e, b, i)
		copy(d.LogOdds[l], z)
		d.Active[l] = active
	}, func(d *bernoulli.Conditional, l, i int) {
		if !mean || !d.Possible(l) {
			rows.put(e, b, i, d.LogZ(l), nil)
			return
		}
		for k := range means {
			means[k] = d.Mean[k][l]
		}
		rows.put(e, b, i, 0, means)
	})
}

// each computes the distribution of the hidden units for each of n rows, bernoulli.Rows at a time. For row i,
// the function set must write the log-odds of the hidden units and the number of active ones to lane l of d.
// Then each calls use, with the distribution in the same lane. Means are computed only if mean is true.
func (c *Constraint) each(m *RBM, n int, mean bool, set, use func(d *bernoulli.Conditional, l, i int)) {
	for first := 0; first < n; first += bernoulli.Rows {
		d := bernoulli.Get(m.Hidden())
		lanes := min(bernoulli.Rows, n-first)
		for l := range lanes {
			set(d, l, first+l)
		}
		d.Solve()
		if mean {
			d.Forward(true, nil)
		}
		for l := range lanes {
			use(d, l, first+l)
		}
		d.Put()
	}
}

func (c *Constraint) classLogProbs(e *evaluation, dst []float64, b *rowBlock) {
	classes := e.m.Classes()
	b.dst = dst
	c.sumOut(e, b, len(dst), false, classWeights{})
	b.dst = nil
	for r := range b.n {
		normalise(dst[r*classes : (r+1)*classes])
	}
}

// sample draws hidden units given the visible rows of b.
func (c *Constraint) sample(m *RBM, dst Values, b Batch, key Key, first int) {
	m.checkInput(b.V)
	for r := range b.V.Rows {
		if k := c.activeHidden(b.V, r); k < 0 || k > m.Hidden() {
			panic("rbm: HiddenSample given a row of probability zero")
		}
	}
	m.drawGiven(dst, b.V, key, first)
}

// visibleMean computes the visible means. Under a constraint on all units, the number of active
// hidden units in a row of h determines that of the visible units.
func (c *Constraint) visibleMean(m *RBM, dst Matrix, h Values) {
	if c.On == HiddenUnits {
		independent{}.visibleMean(m, dst, h)
		return
	}
	weights := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(weights)
	parallel.Do(ceilDiv(h.Rows, blockRows), func(part int) {
		layer := bernoulli.Layer{Binary: m.binary(), Group: m.Visible() - m.binary()}
		a, mean := make([]float64, m.Visible()), make([]float64, m.Visible())
		for r := part * blockRows; r < min((part+1)*blockRows, h.Rows); r++ {
			active := c.Active - h.countIn(r, 0, h.Cols)
			for i := range a {
				a[i] = float64(m.VisibleBias[i])
				row := weights.Row(i)
				h.Each(r, func(j int) { a[i] += float64(row[j]) })
			}
			if math.IsInf(layer.LogWeight(0, a, active, mean), -1) {
				fill(mean, math.NaN())
			}
			for i, p := range mean {
				dst.Row(r)[i] = float32(p)
			}
		}
	})
}

func (c *Constraint) randomize(m *RBM, h Values, key Key) {
	(*Base)(nil).Draw(m, NewBits(h.Rows, m.Visible()), h, key)
}

// base converts a base of m to the arguments of LogWeight: a layer and the log-odds a of its units. The
// layer has the units under the constraint, visible ones first; a softmax label is the group of
// the layer. free has the biases of the other units, which are independent.
func (c *Constraint) base(b *Base, m *RBM) (layer bernoulli.Layer, a, free []float64) {
	binary := m.binary()
	free, a = widen(b.VisibleBias[:binary]), widen(b.HiddenBias)
	if c.On == AllUnits {
		free, a = nil, append(free, a...)
	}
	layer.Binary = len(a)
	if m.softmaxLabel() {
		a = append(a, widen(b.VisibleBias[binary:])...)
		layer.Group, layer.Apart = m.Classes(), c.On == HiddenUnits
	}
	return layer, a, free
}

func (c *Constraint) logZ(b *Base, m *RBM) float64 {
	layer, a, free := c.base(b, m)
	return layer.LogWeight(vec.SoftplusSum(free), a, c.Active, nil)
}

// draw draws the class first, then the independent units, then the units under the constraint.
func (c *Constraint) draw(b *Base, m *RBM, v, h Values, key Key) {
	layer, a, free := c.base(b, m)
	layer.LogWeight(0, a, c.Active, nil)
	logs := layer.GroupWeights()
	binary := m.binary()
	label := key.Child(2)
	pick := make([]int, v.Rows) // the class of each row
	total := vec.LogSumExp(logs)
	for r := range v.Rows {
		clearFrom(v.Row(r), 0)
		u := label.Uniform(uint64(r))
		for pick[r] = 0; pick[r] < len(logs)-1; pick[r]++ {
			if u -= Exp(logs[pick[r]] - total); u < 0 {
				break
			}
		}
		for len(logs) > 0 && math.IsInf(logs[pick[r]], -1) { // rounding may have passed the last possible class
			pick[r]--
		}
	}
	if len(free) > 0 {
		layer, fields := newLayer(Group{Kind: Bernoulli, Units: binary}), b.visible()
		scratch, block := make([]float32, vec.Block+binary), new(units.Block)
		for r := range v.Rows {
			layer.draw(v, r, &fields, scratch, block, key.Child(0).stream())
		}
	}
	for r := range v.Rows {
		if len(logs) > 0 {
			clearFrom(v.Row(r), binary)
			v.Set(r, binary+pick[r], true)
		}
	}
	stream := key.Child(1).stream()
	first := layer.Binary - m.Hidden() // number of visible units under the constraint
	parallel.Do(ceilDiv(v.Rows, bernoulli.Rows), func(part int) {
		d := bernoulli.Get(layer.Binary)
		defer d.Put()
		lo := part * bernoulli.Rows
		n := min(bernoulli.Rows, v.Rows-lo)
		for l := range n {
			copy(d.LogOdds[l], a)
			d.Active[l], d.Number[l] = c.Active, uint32(lo+l)
			if layer.Group > 0 && !layer.Apart {
				d.Active[l]--
			}
		}
		d.Solve()
		d.Forward(false, &stream)
		for l := range n {
			for j := range layer.Binary {
				on := d.Drawn[l][j/vec.Block]>>(j%vec.Block)&1 != 0
				if j < first {
					v.Set(lo+l, j, on)
				} else {
					h.Set(lo+l, j-first, on)
				}
			}
		}
	})
}
