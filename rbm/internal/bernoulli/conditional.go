// Package bernoulli implements the conditional Bernoulli distribution: independent binary units,
// conditioned on the number of units that are on. The hidden units of an RBM with a fixed number of active
// units have this distribution.
package bernoulli

import (
	"math"
	"sync"

	"gorbm/rbm/internal/vec"
)

// Rows is the number of rows of a Conditional. One recursion computes all rows, in the lanes of vectors.
const Rows = len(vec.Quad{})

// A Conditional is the distribution of up to Rows rows of units. The states y of a row of units with log-odds
// s, K of which are on, have the distribution
//
//	p(y) = exp(Σ sⱼyⱼ) / e_K(exp s)   where Σ yⱼ = K,
//
// and e_K is the elementary symmetric polynomial of degree K (Chen & Liu, Statistica Sinica 7, 1997).
// Subtracting a number t from all log-odds does not change the distribution. t is chosen so that independent
// units with log-odds s−t have about K units on in the mean. Let b_j(r) be the probability that exactly r of
// these units are on among unit j and all later ones. A recursion over the units computes b_j. All b_j(r) lie
// in [0,1], and the important ones are not small. The recursion yields exact marginals and draws in O(mK)
// operations for m units, with the rounding errors of a sum of positive terms.
//
// Call Get or Resize, set Active and LogOdds of the rows in use, then call Solve. After that call LogZ
// and Forward.
type Conditional struct {
	Active  [Rows]int       // K; if it is below 0 or above the number of units, the row has no state
	LogOdds [Rows][]float64 // s, the log-odds of each unit being on
	Shift   [Rows]float64   // t; before Solve an initial guess, or NaN
	Number  [Rows]uint32    // number of each row in the random stream

	Mean  []vec.Quad     // probability that each unit is on, after Forward with mean
	Drawn [Rows][]uint64 // states, after Forward with a stream

	units       int
	p, q        []vec.Quad // 1/(1+e^(t−s)) and 1/(1+e^(s−t))
	total       vec.Quad   // b_0(K)
	least, most int        // smallest and largest K of the rows

	// b_j for j = n·size … (n+1)·size, where n is the current block. Each b_j has
	// width elements: element r+1 is b_j(r), element 0 is zero.
	table       []vec.Quad
	ends        []vec.Quad // b_j at the ends of blocks
	size, width int
	front       []vec.Quad // front[r]: probability that r of the remaining units must be on

	left     [Rows]int                // number of the remaining units that are on in the draw
	uniforms [Rows][vec.Block]float32 // uniforms of the units of a block
	x        [2][]float32             // log-odds and means in float32
	y        [3][]float64             // s−t, p and q of one row
}

// tableBytes is the largest size of a table that is stored completely: half of a
// second-level cache of 1 MiB. Larger tables are computed twice, block by block.
const tableBytes = 1 << 19

var pool = sync.Pool{New: func() any { return new(Conditional) }}

// Get returns a Conditional for rows of the given number of units, in the state after Resize. Return
// it by Put.
func Get(units int) *Conditional {
	c := pool.Get().(*Conditional)
	c.Resize(units)
	return c
}

// Put returns c for reuse.
func (c *Conditional) Put() { pool.Put(c) }

// Resize allocates memory for rows of the given number of units. It sets Active to −1, so that no
// row has a state, and Shift to NaN.
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

// Solve computes the odds of every row and the table of the first block.
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
	c.least = min(c.least, c.most) // least is above most if no row has a state
	c.width = c.most + 2
	c.size = max(1, c.units)
	if bytes := (c.units + 1) * c.width * 8 * Rows; bytes > tableBytes {
		c.size = max(16, int(math.Sqrt(float64(c.units)))) // minimises the memory of table and ends together
	}
	blocks := max(1, (c.units+c.size-1)/c.size)
	c.table, c.ends, c.front = grown(c.table, (c.size+1)*c.width), grown(c.ends, blocks*c.width), grown(c.front, c.width)
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

// grown returns x, or a new slice of n elements if x is shorter.
func grown(x []vec.Quad, n int) []vec.Quad {
	if len(x) < n {
		return make([]vec.Quad, n)
	}
	return x
}

// odds computes p and q of row l, in which k units are on.
func (c *Conditional) odds(l, k int) {
	if k == 0 || k == c.units {
		p := float64(min(k, 1))
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

// fill computes the table of block n.
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
			b[hi+2] = vec.Quad{} // the next iteration reads it
		}
	}
}

// reach returns the smallest and the largest number of units that can be on among unit j and all later ones.
func (c *Conditional) reach(j int) (lo, hi int) {
	return max(0, c.least-j), min(c.most, c.units-j)
}

// Forward computes the marginals if mean is set, and draws a state of each row if stream is not nil.
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

// draw draws unit j given the units before it.
func (c *Conditional) draw(j int) {
	for l := range Rows {
		r := c.left[l]
		on, all := c.Weights(l, j, r)
		// If all remaining units are on, rounding must not decide.
		if u := float64(c.uniforms[l][j%vec.Block]) * 0x1p-24; r == c.units-j || float64(u*all) < on {
			c.Drawn[l][j/vec.Block] |= 1 << (j % vec.Block)
			c.left[l]--
		}
	}
}

// Weights returns the weight of the states of row l with unit j on, and that of all states, given that
// exactly left units are on among unit j and all later ones. The first weight divided by the second is the
// probability that unit j is on. For units beyond the first block of a large layer the weights are only valid
// inside Forward.
func (c *Conditional) Weights(l, j, left int) (on, all float64) {
	b := c.table[j%c.size*c.width:]
	next := b[c.width:]
	return float64(c.p[j][l] * next[left][l]), b[left+1][l]
}

// LogZ returns log e_K(exp s) of row l, in nats: the logarithm of the sum of exp(Σ sⱼyⱼ) over its
// states y. It is −Inf if the row has no state.
func (c *Conditional) LogZ(l int) float64 {
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
	// With w = exp s, e_K(w) = e^(Kt)·Π(1 + w·e^(−t))·b_0(K).
	t := c.Shift[l]
	x := c.y[0][:c.units]
	for j, s := range c.LogOdds[l] {
		x[j] = s - t
	}
	return float64(float64(k)*t) + vec.SoftplusSum(x) + vec.Log(c.total[l])
}

// shift returns a t at which the mean number of units that are on, Σ 1/(1+e^(t−s)), is near k, 0 < k <
// len(s). It uses Newton's method within a bracket, for the logarithm of the mean number of units that are
// on, or off if k is above half the units. It starts at guess if that is within the bracket. Every t gives
// the same distribution. Sums in float32 are precise enough, because k need only be a likely number of units.
func (c *Conditional) shift(s []float64, k int, guess float64) float64 {
	n := len(s)
	low, high := math.Inf(1), math.Inf(-1)
	for _, x := range s {
		low, high = min(low, x), max(high, x)
	}
	// If all s are equal, t is s + odds. Otherwise t lies between the values for
	// the smallest and the largest s.
	odds := vec.Log(float64(n-k) / float64(k))
	low, high = low+odds, high+odds
	blocks := vec.Blocks(n)
	x, y := c.x[0][:blocks*vec.Block], c.x[1][:blocks*vec.Block]
	for j := n; j < len(x); j++ {
		x[j] = float32(math.Inf(-1)) // its sigmoid is 10⁻³⁸
	}
	t := low + float64((high-low)/2)
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
		if off*off <= max(variance/4, 1e-6) { // within half a standard deviation, where the density is e^(−1/8) of its peak
			break
		}
		if off > 0 {
			low = t
		} else {
			high = t
		}
		// d(log Σp)/dt = −Σpq/Σp, and d(log Σq)/dt = Σpq/Σq.
		step := 0.0
		if 2*k <= n {
			step = vec.Log(mean/float64(k)) * mean / variance
		} else {
			rest := float64(n) - mean
			step = -vec.Log(rest/float64(n-k)) * rest / variance
		}
		if t += step; !(t > low && t < high) {
			t = low + float64((high-low)/2)
		}
	}
	return t
}

// shiftSteps limits the number of steps of shift. Newton's method takes three to eight. Bisection
// would reduce a bracket of 10⁷, more than weights allow, to below 10⁻¹¹.
const shiftSteps = 64
