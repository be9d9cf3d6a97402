package exact

import (
	"gorbm/rbm"
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// A constrainedWalk is what one goroutine needs to go through blocks.
type constrainedWalk struct {
	a      []float64
	active []int // listed units that differ from the reference, ascending
	linear float64
	layer  bernoulli.Layer // the law of the summed layer where the constraint binds it
	mean   []float64       // of the summed layer
	off    []float64       // of its binary units where they are free: 1 − mean
	logw   []float64       // of a block
}

func (c *constrainedStates) newWalk() *constrainedWalk {
	w := &constrainedWalk{a: make([]float64, c.other), active: make([]int, 0, c.units),
		mean: make([]float64, c.other), off: make([]float64, c.soft), logw: make([]float64, 0, 1<<blockBits)}
	k := c.m.Constraint
	w.layer.Binary, w.layer.Reference = c.soft, k.HiddenReference(c.m)
	if c.hidden && c.bound {
		w.layer.Reference = k.VisibleReference(c.m)
		for y := range c.other - c.soft { // the label
			w.layer.Distance = append(w.layer.Distance, k.ClassDistance(c.m, y))
		}
	}
	return w
}

// flip activates listed unit l, or with sign −1 takes that back.
func (c *constrainedStates) flip(w *constrainedWalk, l int, sign float64) {
	sign *= c.sign[l]
	w.linear += float64(sign * c.bias[l])
	for s, x := range c.rows[l] {
		w.a[s] += float64(sign * x)
	}
}

// each visits the states of block b, in colexicographic order of the active
// units.
func (c *constrainedStates) each(w *constrainedWalk, b shellBlock, visit func(s shell)) {
	s := c.shells[b.shell]
	copy(w.a, c.base)
	w.linear = c.linear
	if s.class >= 0 {
		y := c.units + s.class
		w.linear += c.bias[y]
		for i, x := range c.rows[y] {
			w.a[i] += x
		}
	}
	// The state of number n has as its i-th active unit, from the last, the
	// largest u with C(u,i) ≤ what is left of n (Knuth, TAOCP 4A, 7.2.1.3, th. L).
	w.active = w.active[:s.active]
	n, u := b.first, c.units-1
	for i := s.active; i > 0; i-- {
		for boundedBinomial(u, i) > n {
			u--
		}
		n -= boundedBinomial(u, i)
		w.active[i-1] = u
		c.flip(w, u, 1)
		u--
	}
	for i := range b.states {
		visit(s)
		if i == b.states-1 {
			return
		}
		// The first active unit that has room moves up; those before it go to
		// the bottom.
		for j := range w.active {
			if to := w.active[j] + 1; j+1 == len(w.active) || to < w.active[j+1] {
				c.flip(w, w.active[j], -1)
				c.flip(w, to, 1)
				w.active[j] = to
				break
			}
			if w.active[j] != j {
				c.flip(w, w.active[j], -1)
				c.flip(w, j, 1)
				w.active[j] = j
			}
		}
	}
}

// logWeight returns log Σ exp(−E) over the summed layer at the walk's state, and
// with mean overwrites w.mean with the means of the layer.
func (c *constrainedStates) logWeight(w *constrainedWalk, s shell, mean bool) float64 {
	switch {
	case !c.bound:
		return w.linear + c.free(w, mean)
	case mean:
		return w.layer.LogWeight(w.linear, w.a, s.rest, w.mean)
	}
	return w.layer.LogWeight(w.linear, w.a, s.rest, nil)
}

// free sums the summed layer where nothing binds it.
func (c *constrainedStates) free(w *constrainedWalk, mean bool) float64 {
	total := vec.SoftplusSum(w.a[:c.soft])
	label := 0.0
	if c.soft < c.other {
		label = vec.LogSumExp(w.a[c.soft:])
		total += label
	}
	if mean {
		vec.Chances(w.mean[:c.soft], w.off, w.a[:c.soft])
		for i, x := range w.a[c.soft:] {
			w.mean[c.soft+i] = vec.Exp(x - label)
		}
	}
	return total
}

// logBlock sums block b.
func (c *constrainedStates) logBlock(w *constrainedWalk, b int) {
	logw := w.logw[:0]
	c.each(w, c.blocks[b], func(s shell) { logw = append(logw, c.logWeight(w, s, false)) })
	c.logs[b] = vec.LogSumExp(logw)
}

// constrainedLogPart sums the blocks of group g.
func (e *Enumeration) constrainedLogPart(g int) {
	c := e.constrained
	n, groups := len(c.blocks), len(e.walks)
	for b := g * n / groups; b < (g+1)*n/groups; b++ {
		if e.ctx.Err() != nil {
			return
		}
		c.logBlock(e.walks[g], b)
		if d := e.done.Add(1); e.progress != nil {
			e.progress(float64(d) / float64(n))
		}
	}
}

// constrainedMoments overwrites dst with the moments, given log Z.
func (e *Enumeration) constrainedMoments(dst *rbm.Moments) {
	c := e.constrained
	groups := min(len(c.blocks), momentGroups)
	for len(e.groups) < groups {
		s := &sums{listed: make([]float64, len(c.bias)), summed: make([]float64, c.other), cross: make([][]float64, len(c.bias))}
		for l := range s.cross {
			s.cross[l] = make([]float64, c.other)
		}
		e.groups = append(e.groups, s)
	}
	e.sumLoop.Run(groups, e.cost())
	total := e.groups[0]
	for _, s := range e.groups[1:groups] {
		total.add(s)
	}
	e.hidden, e.other, e.soft = c.hidden, c.other, c.other
	e.store(dst, total)
}

// constrainedSumPart adds up the moments of the blocks of group g. A listed unit is
// added where it is active; one that is on at the reference has what is then
// missing.
func (e *Enumeration) constrainedSumPart(g int) {
	c, s := e.constrained, e.groups[g]
	s.reset()
	w := e.walks[g]
	n, groups := len(c.blocks), min(len(c.blocks), momentGroups)
	for b := g * n / groups; b < (g+1)*n/groups; b++ {
		c.each(w, c.blocks[b], func(sh shell) {
			p := vec.Exp(c.logWeight(w, sh, true) - e.logz)
			for i, x := range w.mean {
				w.mean[i] = float64(p * x)
				s.summed[i] += w.mean[i]
			}
			s.weight += p
			for _, l := range w.active {
				s.put(l, p, w.mean)
			}
			if sh.class >= 0 {
				s.put(c.units+sh.class, p, w.mean)
			}
		})
	}
	for l, sign := range c.sign[:c.units] {
		if sign > 0 {
			continue
		}
		s.listed[l] = s.weight - s.listed[l]
		for i, x := range s.summed {
			s.cross[l][i] = x - s.cross[l][i]
		}
	}
	s.weight = 0
}

// put adds a state of weight p, and the means so weighted, to listed unit l.
func (s *sums) put(l int, p float64, mean []float64) {
	s.listed[l] += p
	for i, x := range mean {
		s.cross[l][i] += x
	}
}
