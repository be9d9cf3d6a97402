// Package bernoulli holds the conditional Bernoulli law: independent binary units
// given how many of them are on. It is the law of the hidden units of an RBM with a
// fixed number of active units.
package bernoulli

import (
	"math"
	"sync"

	"gorbm/rbm/internal/vec"
)

// Rows is the number of rows of a Conditional. They go together because the
// recursion is the same for all of them.
const Rows = len(vec.Quad{})

// A Conditional is the law of up to Rows rows of units. Each row is independent
// units with log-odds s, given that K of them are on:
//
//	p(y) = exp(Σ sⱼyⱼ) / e_K(exp s)   where Σ yⱼ = K,
//
// e_K being the elementary symmetric polynomial of degree K. Subtracting a
// number t from all log-odds leaves the law as it is. So t is chosen such that
// independent units with log-odds s−t have K on in the mean. Then the law b_j(r),
// that r of the units from j on are on, comes by a recursion over the units in
// which all numbers lie in [0,1] and those that count are not small (Chen & Liu,
// Statistica Sinica 7, 1997, for the law and its uses). It gives exact marginals
// and draws in O(mK) for m units, with the errors of a sum of positive terms.
//
// Use: Get or Resize, then set Active and LogOdds of the rows that there are,
// then Solve, then LogSum and Forward.
type Conditional struct {
	Active  [Rows]int       // K; below 0 or above the number of units the row has no state
	LogOdds [Rows][]float64 // s
	Shift   [Rows]float64   // t; before Solve a guess at it, or NaN
	Number  [Rows]uint32    // of each row among all rows that are drawn

	Mean  []vec.Quad     // of each unit: p(y=1), after Forward with mean
	Drawn [Rows][]uint64 // states, after Forward with a stream

	units       int
	p, q        []vec.Quad // 1/(1+e^(t−s)) and 1/(1+e^(s−t))
	total       vec.Quad   // b_0(K)
	least, most int        // K over the rows

	// b_j for j = n·size … (n+1)·size, where n is the block at hand. Each b_j has
	// width elements: element r+1 is b_j(r), element 0 is zero.
	table       []vec.Quad
	ends        []vec.Quad // b_j at the ends of blocks
	size, width int
	front       []vec.Quad // front[r]: probability that r units are still to come on

	left     [Rows]int                // units still to come on
	uniforms [Rows][vec.Block]float32 // for the units of a block
	x        [2][]float32             // log-odds and means in float32
	y        [3][]float64             // log-odds and what odds takes from them
}

// tableBytes is the size of a table that is worth keeping whole: half of a
// second-level cache of 1 MiB. Larger ones are made block by block, twice.
const tableBytes = 1 << 19

var pool = sync.Pool{New: func() any { return new(Conditional) }}

// Get returns a Conditional of rows of so many units, as Resize leaves it. Put
// gives it back.
func Get(units int) *Conditional {
	c := pool.Get().(*Conditional)
	c.Resize(units)
	return c
}

// Put gives c back for others to use.
func (c *Conditional) Put() { pool.Put(c) }

// Resize makes room for rows of so many units. No row has a state until Active
// says so.
func (c *Conditional) Resize(units int) {
	c.units = units
	if len(c.p) < units {
		c.p, c.q, c.Mean = make([]vec.Quad, units), make([]vec.Quad, units), make([]vec.Quad, units)
		for l := range Rows {
			c.LogOdds[l] = make([]float64, units)
			c.Drawn[l] = make([]uint64, vec.Blocks(units))
		}
		for i := range c.y {
			c.y[i] = make([]float64, units)
		}
		for i := range c.x {
			c.x[i] = make([]float32, vec.Blocks(units)*vec.Block)
		}
	}
	for l := range Rows {
		c.LogOdds[l] = c.LogOdds[l][:cap(c.LogOdds[l])][:units]
		c.Active[l] = -1
		c.Shift[l] = math.NaN()
	}
}

// Possible reports whether row l has a state.
func (c *Conditional) Possible(l int) bool { return c.Active[l] >= 0 && c.Active[l] <= c.units }

// Solve prepares what follows: the odds of every row and b_0 … b_size.
func (c *Conditional) Solve() {
	c.least, c.most = c.units, 0
	for l, k := range c.Active {
		if !c.Possible(l) {
			c.odds(l, 0)
			continue
		}
		c.least, c.most = min(c.least, k), max(c.most, k)
		c.odds(l, k)
	}
	c.least = min(c.least, c.most) // no row may have a state
	c.width = c.most + 2
	c.size = max(1, c.units)
	if bytes := (c.units + 1) * c.width * 8 * Rows; bytes > tableBytes {
		c.size = max(16, int(math.Sqrt(float64(c.units)))) // least room for blocks and ends together
	}
	blocks := max(1, (c.units+c.size-1)/c.size)
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
	for l := range Rows {
		c.total[l] = 1
		if c.Possible(l) {
			c.total[l] = c.table[c.Active[l]+1][l]
		}
	}
}

// odds takes the probabilities of row l, of whose units k are on.
func (c *Conditional) odds(l, k int) {
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
	t := c.shift(c.LogOdds[l], k, c.Shift[l])
	c.Shift[l] = t
	y, p, q := c.y[0][:c.units], c.y[1][:c.units], c.y[2][:c.units]
	for j, s := range c.LogOdds[l] {
		y[j] = s - t
	}
	vec.Chances(p, q, y)
	for j := range y {
		c.p[j][l], c.q[j][l] = p[j], q[j]
	}
}

// fill makes the table that of block n.
func (c *Conditional) fill(n int) {
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
func (c *Conditional) reach(j int) (lo, hi int) {
	return max(0, c.least-j), min(c.most, c.units-j)
}

// Forward goes over the units in order: it takes the marginals if wanted, and
// draws a state if a stream is given.
func (c *Conditional) Forward(mean bool, stream *vec.Stream) {
	front := c.front[:c.width]
	clear(front)
	for l := range Rows {
		c.left[l] = 0
		if c.Possible(l) {
			c.left[l] = c.Active[l]
		}
		front[c.left[l]][l] = 1
		clear(c.Drawn[l][:vec.Blocks(c.units)])
	}
	for j := range c.units {
		if j > 0 && j%c.size == 0 {
			c.fill(j / c.size)
		}
		if stream != nil {
			if j%vec.Block == 0 {
				for l := range Rows {
					stream.Uniforms(&c.uniforms[l], c.Number[l], uint32(j/vec.Block))
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
			c.Mean[j][l] = min(1, c.p[j][l]*x/c.total[l])
		}
	}
}

// draw draws unit j given those before it.
func (c *Conditional) draw(j int) {
	for l := range Rows {
		r := c.left[l]
		on, all := c.Weights(l, j, r)
		// Where all units that are left are on, rounding has no say.
		if u := float64(c.uniforms[l][j%vec.Block]) * 0x1p-24; r == c.units-j || float64(u*all) < on {
			c.Drawn[l][j/vec.Block] |= 1 << (j % vec.Block)
			c.left[l]--
		}
	}
}

// Weights returns the weight of unit j being on, and that of all states, given
// that left units from j on are on in row l. Draws compare these two numbers.
// Beyond the first block of a large layer it is only valid inside Forward.
func (c *Conditional) Weights(l, j, left int) (on, all float64) {
	b := c.table[j%c.size*c.width:]
	next := b[c.width:]
	return float64(c.p[j][l] * next[left][l]), b[left+1][l]
}

// LogSum returns log e_K(exp s) of row l, in nats; −Inf if the row has no state.
func (c *Conditional) LogSum(l int) float64 {
	k := c.Active[l]
	switch {
	case !c.Possible(l):
		return math.Inf(-1)
	case k == 0:
		return 0
	case k == c.units:
		sum := 0.0
		for _, s := range c.LogOdds[l] {
			sum += s
		}
		return sum
	}
	// e_K(w) = e^(Kt)·Π(1 + w·e^(−t))·b_0(K): the law of independent units.
	t := c.Shift[l]
	x := c.y[0][:c.units]
	for j, s := range c.LogOdds[l] {
		x[j] = s - t
	}
	return float64(float64(k)*t) + vec.SoftplusSum(x) + vec.Log(c.total[l])
}

// shift returns t at which Σ 1/(1+e^(t−s)) is near k, 0 < k < len(s), by
// Newton's method on its logarithm, or that of the number of units that are
// off, within a bracket. Any t gives the same law: it need only be so near that
// k is not far out in the law of the number of units on, so sums are in
// float32. It starts at guess, if that is within the bracket.
func (c *Conditional) shift(s []float64, k int, guess float64) float64 {
	n := len(s)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range s {
		low, high = min(low, x), max(high, x)
	}
	// Where all s are equal this is the answer; else the answers of the smallest
	// and the largest of them enclose it.
	odds := vec.Log(float64(n-k) / float64(k))
	low, high = low+odds, high+odds
	blocks := vec.Blocks(n)
	x, y := c.x[0][:blocks*vec.Block], c.x[1][:blocks*vec.Block]
	for j := n; j < len(x); j++ {
		x[j] = float32(math.Inf(-1)) // σ is 10⁻³⁸ there
	}
	t := low + (high-low)/2
	if guess > low && guess < high {
		t = guess
	}
	for range shiftSteps {
		for j, s := range s {
			x[j] = float32(s - t)
		}
		vec.Sigmoids(y, vec.Block, x, blocks, vec.Block)
		mean, variance := 0.0, 0.0
		for _, p := range y {
			mean += float64(p)
			variance += float64(p * (1 - p))
		}
		off := mean - float64(k)
		if off*off <= max(variance/4, 1e-6) { // half a standard deviation: e^(−1/8) of the peak
			break
		}
		if off > 0 {
			low = t
		} else {
			high = t
		}
		// d(log Σp)/dt = −Σpq/Σp, and with q for p and + for −.
		step := 0.0
		if 2*k <= n {
			step = vec.Log(mean/float64(k)) * mean / variance
		} else {
			rest := float64(n) - mean
			step = -vec.Log(rest/float64(n-k)) * rest / variance
		}
		if t += step; !(t > low && t < high) {
			t = low + (high-low)/2
		}
	}
	return t
}

// shiftSteps bounds the steps of shift. Newton takes three to eight; halving
// alone brings a bracket of 10⁷, more than weights allow, below 10⁻¹¹.
const shiftSteps = 64
