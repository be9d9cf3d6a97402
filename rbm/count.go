package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// Under a constraint the hidden units are not independent given the visible
// ones, so what is wanted of them is taken row by row once all preactivations
// are there.

// termCost is what a term of the recursion takes, in multiply-adds of a pass.
const termCost = 32

// runCount takes from the preactivations of an up pass what l asks for.
func (l *layers) runCount() {
	c := l.m.Constraint
	k := min(c.Active, l.m.Hidden())
	if c.On == AllUnits {
		k = l.m.Hidden() / 2 // at most; it differs from row to row
	}
	l.count.Run(ceilDiv(l.v.Rows, bernoulli.Rows), termCost*l.v.Rows*l.m.Hidden()*min(k+1, l.m.Hidden()-k+1))
}

// countPart takes what is wanted of four rows.
func (l *layers) countPart(i int) {
	c := bernoulli.Get(l.m.Hidden())
	defer c.Put()
	lo := i * bernoulli.Rows
	n := min(bernoulli.Rows, l.v.Rows-lo)
	for r := range n {
		c.Active[r] = l.m.Constraint.activeHidden(l.m, l.v.Row(lo+r))
	}
	if l.rise != nil {
		l.countRise(c, lo, n)
	}
	// At β = 1 one law serves for means and draws.
	one := true
	for r := range n {
		one = one && l.rowBeta(lo+r) == 1
	}
	var stream *vec.Stream
	if l.draw {
		stream = &l.stream
		for r := range n {
			c.Number[r] = uint32(l.first + lo + r)
		}
	}
	if l.mean.Rows > 0 {
		for r := range n {
			l.logOdds(c.LogOdds[r], lo+r, 1)
		}
		c.Solve()
		if one {
			c.Forward(true, stream)
		} else {
			c.Forward(true, nil)
		}
		for r := range n {
			l.m.storeMean(l.mean.Row(lo+r), c, r)
		}
	}
	if !l.draw {
		return
	}
	if l.mean.Rows == 0 || !one {
		if l.rise == nil { // else the law at the row's β is there
			c.Resize(l.m.Hidden()) // bits of draws do not hang on whether means were wanted
			for r := range n {
				l.logOdds(c.LogOdds[r], lo+r, l.rowBeta(lo+r))
				c.Active[r] = l.m.Constraint.activeHidden(l.m, l.v.Row(lo+r))
			}
			c.Solve()
		}
		c.Forward(false, stream)
	}
	for r := range n {
		l.m.storeDrawn(l.h.Row(lo+r), c, r)
		if l.energy != nil {
			l.countEnergy(lo + r)
		}
	}
}

// rowBeta returns the inverse temperature of row r.
func (l *layers) rowBeta(r int) float32 {
	if l.beta == nil {
		return 1
	}
	return l.beta[r]
}

// act returns the preactivations of panel k of row r.
func (l *layers) act(k, r int) *[vec.Block]float32 {
	return (*[vec.Block]float32)(l.acts[(k*l.v.Rows+r)*vec.Block:])
}

// logOdds overwrites dst with the log-odds, at beta on the path from the base,
// that the hidden units of row r differ from the reference.
func (l *layers) logOdds(dst []float64, r int, beta float32) {
	base := l.base.hidden()
	b := float64(beta)
	for k := range vec.Blocks(len(dst)) {
		x := dst[k*vec.Block : min((k+1)*vec.Block, len(dst))]
		for j, a := range l.act(k, r)[:len(x)] {
			x[j] = float64(b * float64(a))
		}
		if base == nil || beta == 1 {
			continue
		}
		for j, a := range base[k*vec.Block:][:len(x)] {
			x[j] += float64((1 - b) * float64(a))
		}
	}
	l.m.fromReference(dst)
}

// fromReference turns log-odds of hidden units being on into those of their
// differing from the constraint's reference, and returns the log weight of the
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
		for j := range dst {
			dst[j] = float32(math.NaN())
		}
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

// storeDrawn overwrites dst with the hidden units that c drew of row l.
func (m *RBM) storeDrawn(dst []uint64, c *bernoulli.Conditional, l int) {
	copy(dst, c.Drawn[l])
	for j, on := range m.Constraint.HiddenReference(m) {
		dst[j/vec.Block] ^= uint64(on) << (j % vec.Block)
	}
}

// countEnergy takes the parts of row r's energy.
func (l *layers) countEnergy(r int) {
	panels := vec.Blocks(l.m.Hidden())
	for k, w := range l.h.Row(r) {
		l.partial[r*panels+k] = -maskedSum(l.act(k, r)[:], w)
	}
}

// countRise takes what four rows gain from one place on a path to another, and
// leaves the law at the second.
func (l *layers) countRise(c *bernoulli.Conditional, lo, n int) {
	s := l.rise
	for r := range n {
		s.shell[lo+r] = -l.pathOdds(c.LogOdds[r], lo+r, s.from)
	}
	c.Solve()
	for r := range n {
		s.shell[lo+r] -= c.LogSum(r)
	}
	for r := range n {
		s.shell[lo+r] += l.pathOdds(c.LogOdds[r], lo+r, s.to)
	}
	c.Solve()
	for r := range n {
		s.shell[lo+r] += c.LogSum(r)
	}
}

// pathOdds overwrites dst with the log-odds at beta that the hidden units of
// row r differ from the reference, and returns the log weight of the latter.
func (l *layers) pathOdds(dst []float64, r int, beta float64) float64 {
	for k := range vec.Blocks(len(dst)) {
		x := dst[k*vec.Block : min((k+1)*vec.Block, len(dst))]
		bias := l.rise.bias[k*vec.Block:]
		for j, a := range l.act(k, r)[:len(x)] {
			x[j] = float64(beta*float64(a)) + float64((1-beta)*float64(bias[j]))
		}
	}
	return l.m.fromReference(dst)
}
