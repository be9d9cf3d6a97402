package bernoulli

import "gorbm/rbm/internal/vec"

// A Tilt computes the partition functions of the rows of a Conditional after their odds are multiplied
// by given factors and their numbers of active units are changed. A Tilt takes one pass of the recursion,
// with the shift of the Conditional and without exponentials. Call Set before Times.
type Tilt struct {
	Shift [Rows]float64 // t of each row

	p, q  []vec.Quad
	total vec.Quad // b_0(K)
	b     [2][]vec.Quad
}

// Set copies the distributions of c. Call it after c.Solve.
func (t *Tilt) Set(c *Conditional) {
	t.p, t.q = append(t.p[:0], c.p[:c.units]...), append(t.q[:0], c.q[:c.units]...)
	t.total, t.Shift = c.total, c.Shift
}

// Times returns, for each row l with factors[l] ≠ nil,
//
//	e_k(x·f) / e_K(x) · e^((K−k)·t)
//
// where x are the odds of the row in the Conditional, f = factors[l], K the number of active units in
// the Conditional, and k = active[l], which must lie in 0 … the number of units. All terms are
// positive, so the result has the rounding errors of a sum, unless terms underflow or overflow: the
// caller must check that. Results of other rows are undefined.
func (t *Tilt) Times(factors *[Rows][]float64, active *[Rows]int) (x vec.Quad) {
	units := len(t.p)
	least, most := units, 0
	for l, f := range factors {
		if f != nil {
			least, most = min(least, active[l]), max(most, active[l])
		}
	}
	if least > most {
		return x
	}
	width := most + 2
	src, dst := grown(t.b[0], width)[:width], grown(t.b[1], width)[:width]
	clear(src) // each step reads one element more than the step before has written
	clear(dst)
	src[1] = vec.Quad{1, 1, 1, 1}
	var p vec.Quad
	for j := units - 1; j >= 0; j-- {
		p = t.p[j]
		for l, f := range factors {
			if f != nil {
				p[l] = float64(p[l] * f[j])
			}
		}
		lo, hi := max(0, least-j), min(most, units-j)
		vec.Spread(dst[lo+1:hi+2], src[lo:], &p, &t.q[j])
		src, dst = dst, src
	}
	t.b = [2][]vec.Quad{src, dst}
	for l, f := range factors {
		if f != nil {
			x[l] = src[active[l]+1][l] / t.total[l]
		}
	}
	return x
}
