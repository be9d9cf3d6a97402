package exact

import (
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
)

// A constrainedWalk visits states of the listed layer in one goroutine. It holds the current state.
type constrainedWalk struct {
	a      []float64       // preactivations of the summed layer
	active []int           // active listed units, ascending
	linear float64         // sum of the biases of the active listed units
	layer  bernoulli.Layer // distribution of the summed layer if the constraint applies to it
	mean   []float64       // means of the summed layer
	off    []float64       // 1 − mean of the binary units of the summed layer if the constraint does not apply to them
	logw   []float64       // log weights of the states of a block
}

func (c *constrainedStates) newWalk() *constrainedWalk {
	w := &constrainedWalk{a: make([]float64, c.other), active: make([]int, 0, c.units),
		mean: make([]float64, c.other), off: make([]float64, c.soft), logw: make([]float64, 0, 1<<blockBits)}
	w.layer.Binary, w.layer.Group = c.soft, c.other-c.soft
	return w
}

// flip switches listed unit l on if sign is 1, or off if sign is −1.
func (c *constrainedStates) flip(w *constrainedWalk, l int, sign float64) {
	w.linear += float64(sign * c.bias[l])
	for s, x := range c.rows[l] {
		w.a[s] += float64(sign * x)
	}
}

// each visits the states of block b, in colexicographic order of the active
// units.
func (c *constrainedStates) each(w *constrainedWalk, b int, visit func(s shell)) {
	block := c.ranges[b]
	s := c.shells[block.shell]
	copy(w.a, c.base)
	w.linear = 0
	if s.class >= 0 {
		y := c.units + s.class
		w.linear += c.bias[y]
		for i, x := range c.rows[y] {
			w.a[i] += x
		}
	}
	// State number n follows from n = Σ_i C(u_i,i), where u_i is its i-th lowest active unit. From the
	// highest i on, u_i is the largest u with C(u,i) ≤ the rest of n (Knuth, TAOCP 4A, 7.2.1.3, th. L).
	w.active = w.active[:s.active]
	n, u := block.first, c.units-1
	for i := s.active; i > 0; i-- {
		for boundedBinomial(u, i) > n {
			u--
		}
		n -= boundedBinomial(u, i)
		w.active[i-1] = u
		c.flip(w, u, 1)
		u--
	}
	for i := range block.states {
		visit(s)
		if i == block.states-1 {
			return
		}
		// The lowest active unit that can move up by one does so. The active units below it move to the lowest
		// units.
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

// logWeight returns log Σ exp(−E) over the summed layer, given the current state. If mean
// is not nil, it overwrites mean with the means of that layer.
func (c *constrainedStates) logWeight(w *constrainedWalk, s shell, mean []float64) float64 {
	if c.bound {
		return w.layer.LogWeight(w.linear, w.a, s.rest, mean)
	}
	total := vec.SoftplusSum(w.a[:c.soft])
	label := 0.0
	if c.soft < c.other {
		label = vec.LogSumExp(w.a[c.soft:])
		total += label
	}
	if mean != nil {
		vec.Chances(mean[:c.soft], w.off, w.a[:c.soft])
		for i, x := range w.a[c.soft:] {
			mean[c.soft+i] = vec.Exp(x - label)
		}
	}
	return w.linear + total
}

func (c *constrainedStates) logBlock(g, b int) float64 {
	w := c.walks[g]
	w.logw = w.logw[:0]
	c.each(w, b, func(s shell) { w.logw = append(w.logw, c.logWeight(w, s, nil)) })
	return vec.LogSumExp(w.logw)
}

func (c *constrainedStates) newSums() *sums {
	return &sums{listed: make([]float64, len(c.bias)), summed: make([]float64, c.other), cross: c.newRows(len(c.bias))}
}

// addBlocks adds the moments of blocks lo … hi−1 to s. Each state contributes to its active
// listed units.
func (c *constrainedStates) addBlocks(g, lo, hi int, s *sums, logZ float64) {
	w := c.walks[g]
	for b := lo; b < hi; b++ {
		c.each(w, b, func(sh shell) {
			p := vec.Exp(c.logWeight(w, sh, w.mean) - logZ)
			for i, x := range w.mean {
				w.mean[i] = float64(p * x)
				s.summed[i] += w.mean[i]
			}
			for _, l := range w.active {
				s.put(l, p, w.mean)
			}
			if sh.class >= 0 {
				s.put(c.units+sh.class, p, w.mean)
			}
		})
	}
}

// put adds the contribution of a state of weight p to the moments of listed unit l. mean has p times
// the means of the summed layer.
func (s *sums) put(l int, p float64, mean []float64) {
	s.listed[l] += p
	for i, x := range mean {
		s.cross[l][i] += x
	}
}
