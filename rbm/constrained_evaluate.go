package rbm

import (
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// eachHidden sums out the hidden units given each of n rows of preactivations, in float64
// throughout. at returns those of row i, padded with −Inf to a multiple of vec.Wide, and under a
// constraint how many units differ from its reference. use gets log Z of the units and, if mean is
// set, their means. They are nil where the constraint leaves the row no state. Slices are valid
// until the next call.
func (e *evaluation) eachHidden(b *rowBlock, n int, mean bool, at func(i int) (z []float64, active int), use func(i int, logZ float64, mean []float64)) {
	m := e.m
	b.on, b.off = grown(b.on, vec.RoundUp(m.Hidden())), grown(b.off, vec.RoundUp(m.Hidden()))
	means := b.on[:m.Hidden()]
	if m.Constraint == nil {
		for i := range n {
			z, _ := at(i)
			if mean {
				vec.Chances(means, b.off, z[:m.Hidden()])
				use(i, 0, means)
			} else {
				use(i, m.hidden.logZ(z, &m.hidden.dist), nil)
			}
		}
		return
	}
	reference := m.Constraint.HiddenReference(m)
	m.eachConditional(n, mean, func(c *bernoulli.Conditional, l, i int) {
		z, active := at(i)
		copy(c.LogOdds[l], z)
		c.Active[l] = active
	}, func(c *bernoulli.Conditional, l, i int, weight float64) {
		if !mean || !c.Possible(l) {
			use(i, weight+c.LogSum(l), nil)
			return
		}
		for k := range means {
			if means[k] = c.Mean[k][l]; reference != nil && reference[k] == 1 {
				means[k] = 1 - means[k]
			}
		}
		use(i, 0, means)
	})
}

// eachConditional solves the distribution of the hidden units under a constraint for each of n
// rows, bernoulli.Rows at a time. set writes to lane l of c, for row i, the log-odds of the
// hidden units being on and how many of them differ from the reference. use is called with the
// solved distribution and the log weight of the reference. Before it, c computes means if mean is
// set.
func (m *RBM) eachConditional(n int, mean bool, set func(c *bernoulli.Conditional, l, i int), use func(c *bernoulli.Conditional, l, i int, weight float64)) {
	c := bernoulli.Get(m.Hidden())
	defer c.Put()
	for first := 0; first < n; first += bernoulli.Rows {
		c.Resize(m.Hidden())
		lanes := min(bernoulli.Rows, n-first)
		var weight [bernoulli.Rows]float64
		for l := range lanes {
			set(c, l, first+l)
			weight[l] = m.fromReference(c.LogOdds[l])
		}
		c.Solve()
		if mean {
			c.Forward(true, nil)
		}
		for l := range lanes {
			use(c, l, first+l, weight[l])
		}
	}
}
