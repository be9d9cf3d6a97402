package rbm

import (
	"math"
	"sync"

	"gorbm/rbm/internal/vec"
)

// A conditional is the law of up to four rows of units, each row independent
// units of log-odds s given that so many of them are on: the conditional
// Bernoulli law
//
//	p(y) = exp(Σ sⱼyⱼ) / e_K(exp s)   where Σ yⱼ = K,
//
// e_K the elementary symmetric polynomial. A shift of all s by t leaves it as
// it is, so t is chosen such that independent units of log-odds s−t have K on
// in the mean. The law b_j(r) that r of the units from j on are on then comes
// by a recursion over units in which no number is large or negative and what
// counts is not small (Chen & Liu, Statistica Sinica 7, 1997, for the law and
// its uses): marginals and draws in O(mK), with the errors of a sum of positive
// terms. Rows go four at a time because the recursion is the same for all.
type conditional struct {
	units int
	on    [lanes]int       // K of each row; below 0 or above units: no state
	s     [lanes][]float64 // log-odds

	tilt        [lanes]float64 // t; before solve a guess at it, or NaN
	p, q        []vec.Quad     // 1/(1+e^(t−s)) and 1/(1+e^(s−t))
	total       vec.Quad       // b_0(K)
	least, most int            // K over the rows

	// b_j for j = n·size … (n+1)·size, n the block that is there; each has
	// width elements, of which element r+1 is b_j(r) and element 0 is zero.
	table       []vec.Quad
	ends        []vec.Quad // b_j at the ends of blocks
	size, width int
	front       []vec.Quad // front[r]: probability that r units are still to come on

	mean  []vec.Quad       // marginals, where forward took them
	drawn [lanes][]uint64  // states, where it drew them
	left  [lanes]int       // units still to come on
	row   [lanes]uint32    // number of the row's draws
	u     [lanes]blockOf32 // uniforms
	x     [2][]float32     // log-odds and means in float32
	y     [3][]float64     // log-odds and what odds takes from them
}

type blockOf32 = [vec.Block]float32

// lanes is the number of rows of a conditional.
const lanes = len(vec.Quad{})

// tableBytes is the size of a table that is worth keeping whole: half of a
// second-level cache of 1 MiB. Larger ones are made block by block, twice.
const tableBytes = 1 << 19

var conditionalPool = sync.Pool{New: func() any { return new(conditional) }}

// grow makes room for rows of so many units; all rows have no state until on
// and s say otherwise.
func (c *conditional) grow(units int) {
	c.units = units
	if len(c.p) < units {
		c.p, c.q, c.mean = make([]vec.Quad, units), make([]vec.Quad, units), make([]vec.Quad, units)
		for l := range lanes {
			c.s[l] = make([]float64, units)
			c.drawn[l] = make([]uint64, vec.Blocks(units))
		}
		for i := range c.y {
			c.y[i] = make([]float64, units)
		}
		for i := range c.x {
			c.x[i] = make([]float32, vec.Blocks(units)*vec.Block)
		}
	}
	for l := range lanes {
		c.s[l] = c.s[l][:cap(c.s[l])][:units]
		c.on[l] = -1
		c.tilt[l] = math.NaN()
	}
}

// possible reports whether row l has a state.
func (c *conditional) possible(l int) bool { return c.on[l] >= 0 && c.on[l] <= c.units }

// solve prepares what follows: the odds of every row and b_0 … b_size.
func (c *conditional) solve() {
	c.least, c.most = c.units, 0
	for l, k := range c.on {
		if !c.possible(l) {
			c.odds(l, 0)
			continue
		}
		c.least, c.most = min(c.least, k), max(c.most, k)
		c.odds(l, k)
	}
	c.least = min(c.least, c.most) // no row may have a state
	c.width = c.most + 2
	c.size = max(1, c.units)
	if bytes := (c.units + 1) * c.width * 8 * lanes; bytes > tableBytes {
		c.size = max(16, int(math.Sqrt(float64(c.units)))) // least room for blocks and ends together
	}
	blocks := max(1, ceilDiv(c.units, c.size))
	if n := (c.size + 1) * c.width; len(c.table) < n {
		c.table = make([]vec.Quad, n)
	}
	if n := blocks * c.width; len(c.ends) < n {
		c.ends = make([]vec.Quad, n)
	}
	if len(c.front) < c.width {
		c.front = make([]vec.Quad, c.width)
	}
	for n := blocks - 1; n >= 0; n-- {
		c.fill(n)
		if n > 0 {
			copy(c.ends[(n-1)*c.width:n*c.width], c.table)
		}
	}
	for l := range lanes {
		c.total[l] = 1
		if c.possible(l) {
			c.total[l] = c.table[c.on[l]+1][l]
		}
	}
}

// odds takes the probabilities of row l, of whose units k are on.
func (c *conditional) odds(l, k int) {
	if k == 0 || k == c.units {
		p := 0.0
		if k > 0 {
			p = 1
		}
		for j := range c.units {
			c.p[j][l], c.q[j][l] = p, 1-p
		}
		return
	}
	t := c.shift(c.s[l], k, c.tilt[l])
	c.tilt[l] = t
	y, p, q := c.y[0][:c.units], c.y[1][:c.units], c.y[2][:c.units]
	for j, s := range c.s[l] {
		y[j] = s - t
	}
	vec.Odds(p, q, y)
	for j := range y {
		c.p[j][l], c.q[j][l] = p[j], q[j]
	}
}

// fill makes the table that of block n.
func (c *conditional) fill(n int) {
	first := n * c.size
	last := min(first+c.size, c.units)
	at := func(j int) []vec.Quad { return c.table[(j-first)*c.width : (j-first+1)*c.width] }
	if last == c.units {
		end := at(last)
		clear(end)
		end[1] = vec.Quad{1, 1, 1, 1}
	} else {
		copy(at(last), c.ends[n*c.width:(n+1)*c.width])
	}
	for j := last - 1; j >= first; j-- {
		lo, hi := c.reach(j)
		b := at(j)
		b[0] = vec.Quad{}
		vec.Spread(b[lo+1:hi+2], at(j + 1)[lo:], &c.p[j], &c.q[j])
		if hi+2 < c.width {
			b[hi+2] = vec.Quad{} // read by the unit before
		}
	}
}

// reach returns the least and the greatest number of units from j on that can
// be on.
func (c *conditional) reach(j int) (lo, hi int) {
	return max(0, c.least-j), min(c.most, c.units-j)
}

// forward goes over the units in order: it takes the marginals if wanted, and
// draws a state if a stream is given.
func (c *conditional) forward(mean bool, stream *vec.Stream) {
	front := c.front[:c.width]
	clear(front)
	for l := range lanes {
		c.left[l] = 0
		if c.possible(l) {
			c.left[l] = c.on[l]
		}
		front[c.left[l]][l] = 1
		clear(c.drawn[l][:vec.Blocks(c.units)])
	}
	for j := range c.units {
		if j > 0 && j%c.size == 0 {
			c.fill(j / c.size)
		}
		if stream != nil {
			if j%vec.Block == 0 {
				for l := range lanes {
					stream.Uniforms(&c.u[l], c.row[l], uint32(j/vec.Block))
				}
			}
			c.draw(j)
		}
		if !mean {
			continue
		}
		lo, hi := c.reach(j + 1)
		b := c.table[(j%c.size+1)*c.width:]
		var sum vec.Quad
		vec.Join(&sum, front[lo:hi+2], b[lo+1:hi+2], &c.p[j], &c.q[j])
		for l, x := range sum {
			c.mean[j][l] = min(1, c.p[j][l]*x/c.total[l])
		}
	}
}

// draw draws unit j given those before it.
func (c *conditional) draw(j int) {
	b := c.table[j%c.size*c.width:]
	next := b[c.width:]
	for l := range lanes {
		r := c.left[l]
		// Of all states with r still to come, those with unit j on weigh
		// p·b_{j+1}(r−1); where only these are left, rounding has no say.
		u := float64(c.u[l][j%vec.Block]) * 0x1p-24
		if r == c.units-j || float64(u*b[r+1][l]) < float64(c.p[j][l]*next[r][l]) {
			c.drawn[l][j/vec.Block] |= 1 << (j % vec.Block)
			c.left[l]--
		}
	}
}

// logSum returns log e_K(exp s) of row l, in nats; −Inf if the row has no state.
func (c *conditional) logSum(l int) float64 {
	k := c.on[l]
	switch {
	case !c.possible(l):
		return math.Inf(-1)
	case k == 0:
		return 0
	case k == c.units:
		sum := 0.0
		for _, s := range c.s[l] {
			sum += s
		}
		return sum
	}
	// e_K(w) = e^(Kt)·Π(1 + w·e^(−t))·b_0(K): the law of independent units.
	t := c.tilt[l]
	x := c.y[0][:c.units]
	for j, s := range c.s[l] {
		x[j] = s - t
	}
	return float64(float64(k)*t) + vec.SoftplusSum(x) + vec.Log(c.total[l])
}
