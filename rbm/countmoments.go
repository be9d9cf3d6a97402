package rbm

import "gorbm/rbm/internal/vec"

// newCountedEnumeration is NewEnumeration under a constraint.
func newCountedEnumeration(m *RBM, limit int) (*Enumeration, error) {
	c, err := newCounted(m, limit)
	if err != nil {
		return nil, err
	}
	return c.enumeration(), nil
}

func (c *countedStates) enumeration() *Enumeration {
	e := &Enumeration{m: c.m, counted: c}
	e.walks = make([]*countedWalk, min(len(c.blocks), logGroups))
	for i := range e.walks {
		e.walks[i] = c.newWalk()
	}
	e.logLoop.Body, e.sumLoop.Body = e.countedLogPart, e.countedSumPart
	return e
}

// countedLogPart sums the blocks of group g.
func (e *Enumeration) countedLogPart(g int) {
	c := e.counted
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

// countedMoments overwrites dst with the moments, given log Z.
func (e *Enumeration) countedMoments(dst *Moments) {
	c := e.counted
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

// countedSumPart adds up the moments of the blocks of group g. A listed unit is
// added where it is active; one that is on at the reference has what is then
// missing.
func (e *Enumeration) countedSumPart(g int) {
	c, s := e.counted, e.groups[g]
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
