package rbm

import (
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// A countedWalk is what one goroutine needs to go through blocks.
type countedWalk struct {
	a      []float64
	active []int // listed units that differ from the reference, ascending
	linear float64
	law    bernoulli.Conditional
	ways   []float64 // log weights of a label's states
	mean   []float64 // of the summed layer
	off    []float64 // of its binary units where they are free: 1 − mean
	logw   []float64 // of a block
}

func (c *countedStates) newWalk() *countedWalk {
	return &countedWalk{a: make([]float64, c.other), active: make([]int, 0, c.units),
		ways: make([]float64, c.other-c.soft), mean: make([]float64, c.other), off: make([]float64, c.soft), logw: make([]float64, 0, 1<<blockBits)}
}

// flip activates listed unit l, or with sign −1 takes that back.
func (c *countedStates) flip(w *countedWalk, l int, sign float64) {
	sign *= c.sign[l]
	w.linear += float64(sign * c.bias[l])
	for s, x := range c.rows[l] {
		w.a[s] += float64(sign * x)
	}
}

// each visits the states of block b, in colexicographic order of the active
// units.
func (c *countedStates) each(w *countedWalk, b shellBlock, visit func(s shell)) {
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
func (c *countedStates) logWeight(w *countedWalk, s shell, mean bool) float64 {
	switch {
	case !c.bound:
		return w.linear + c.free(w, mean)
	case c.soft == c.other:
		weight := c.count(w, mean, s.rest)
		return w.linear + weight + w.law.LogSum(0)
	}
	// Beside each class of the label the binary units have one of two numbers of
	// active ones: the label agrees with the reference's in one unit more or less.
	k := c.m.Constraint
	least, most := k.labelRange(c.m)
	weight := c.count(w, mean, s.rest-least, s.rest-most)
	for y := range w.ways {
		l := 0
		if k.classDistance(c.m, y) != least {
			l = 1
		}
		w.ways[y] = w.a[c.soft+y] + w.law.LogSum(l)
	}
	total := vec.LogSumExp(w.ways)
	if mean {
		var part [2]float64
		for y, x := range w.ways {
			p := vec.Exp(x - total)
			w.mean[c.soft+y] = p
			if k.classDistance(c.m, y) == least {
				part[0] += p
			} else {
				part[1] += p
			}
		}
		for i := range c.soft {
			w.mean[i] = 0
			for l, p := range part {
				if p > 0 {
					w.mean[i] += float64(p * c.state(w.law.Mean[i][l], i))
				}
			}
		}
	}
	return w.linear + weight + total
}

// free sums the summed layer where nothing binds it.
func (c *countedStates) free(w *countedWalk, mean bool) float64 {
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

// count prepares the law of the binary summed units, of which so many are
// active in its first rows, and returns the log weight of their reference. With
// mean, w.mean is that of the first row.
func (c *countedStates) count(w *countedWalk, mean bool, active ...int) (weight float64) {
	w.law.Resize(c.soft)
	for l, k := range active {
		w.law.Active[l] = k
		weight = 0
		for i, x := range w.a[:c.soft] {
			if c.summedReference(i) {
				weight += x
				x = -x
			}
			w.law.LogOdds[l][i] = x
		}
	}
	w.law.Solve()
	if mean {
		w.law.Forward(true, nil)
		for i := range c.soft {
			w.mean[i] = c.state(w.law.Mean[i][0], i)
		}
	}
	return weight
}

// state returns the mean of summed unit i from that of its being active.
func (c *countedStates) state(active float64, i int) float64 {
	if c.summedReference(i) {
		return 1 - active
	}
	return active
}

// summedReference returns the reference of binary summed unit i.
func (c *countedStates) summedReference(i int) bool {
	reference := c.m.Constraint.hiddenReference(c.m)
	if c.hidden {
		reference = c.m.Constraint.visibleReference(c.m)
	}
	return reference != nil && reference[i] == 1
}

// logBlock sums block b.
func (c *countedStates) logBlock(w *countedWalk, b int) {
	logw := w.logw[:0]
	c.each(w, c.blocks[b], func(s shell) { logw = append(logw, c.logWeight(w, s, false)) })
	c.logs[b] = vec.LogSumExp(logw)
}
