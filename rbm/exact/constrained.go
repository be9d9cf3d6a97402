package exact

import (
	"fmt"
	"math"

	"gorbm/rbm"
)

// constrainedStates enumerates a model under a constraint. It lists the states of one layer that the
// constraint allows, and sums out the other layer for each listed state. If the constraint also applies to
// the summed layer, the sum uses the recursion of the conditional Bernoulli distribution (package bernoulli).
type constrainedStates struct {
	layers
	bound  bool // the constraint applies to the summed layer
	shells []shell
	ranges []shellRange // the blocks

	bias []float64   // biases of the listed units, then of a listed label
	rows [][]float64 // weights, listed units × summed units
	base []float64   // biases of the summed layer

	walks []*constrainedWalk // working memory, one for each group of blocks
}

// A shell is the set of states of the listed layer that have the same number of
// active binary units and, if the label is listed, the same class.
type shell struct {
	class  int // −1 if no label is listed
	active int // number of active listed units, without the label
	rest   int // number of active units of the summed layer
	states int // number of states
}

// A shellRange is a range of consecutive states of a shell.
type shellRange struct{ shell, first, states int }

// manyStates is the largest count of states; larger counts are set to manyStates. It is above every limit.
const manyStates = 1 << 38

// boundedBinomial returns the binomial coefficient n over k, or manyStates if that is smaller.
func boundedBinomial(n, k int) int {
	if k < 0 || k > n {
		return 0
	}
	c := 1
	for i := range min(k, n-k) {
		if c > manyStates {
			return manyStates
		}
		c = c * (n - i) / (i + 1) // no overflow: manyStates times 2²⁴ units is below 2⁶³
	}
	return min(c, manyStates)
}

// newConstrained plans the enumeration of m. It lists the layer with less work among those with at most limit
// states. The error wraps ErrTooLarge if both layers have more.
func newConstrained(m *rbm.RBM, limit int) (*constrainedStates, error) {
	var best *constrainedStates
	fewest := manyStates
	for _, hidden := range []bool{true, false} {
		c := planConstrained(m, hidden)
		fewest = min(fewest, c.count())
		if c.count() <= limit && (best == nil || c.work() < best.work()) {
			best = c
		}
	}
	if best == nil {
		return nil, fmt.Errorf("%w: under the constraint %v the layer with fewer states has %s2^%.4g of them, the limit is 2^%.4g; use fewer units, or fewer of them active",
			ErrTooLarge, m.Constraint, map[bool]string{true: "more than "}[fewest >= manyStates], math.Log2(float64(fewest)), math.Log2(float64(limit)))
	}
	best.prepare()
	return best, nil
}

// planConstrained finds the shells of a layer that the constraint allows.
func planConstrained(m *rbm.RBM, hidden bool) *constrainedStates {
	k := m.Constraint
	c := &constrainedStates{layers: newLayers(m, hidden), bound: k.On == rbm.AllUnits || !hidden}
	for y := min(0, c.classes-1); y < c.classes; y++ { // −1 alone if no label is listed
		for active := range c.units + 1 {
			rest := k.Active
			if k.On == rbm.AllUnits {
				rest -= active
				if y >= 0 {
					rest--
				}
			} else if hidden && active != k.Active {
				continue
			}
			if s := (shell{y, active, rest, boundedBinomial(c.units, active)}); c.feasible(s) {
				c.shells = append(c.shells, s)
			}
		}
	}
	return c
}

// feasible reports whether the constraint allows a state of the summed layer with the states of s.
func (c *constrainedStates) feasible(s shell) bool {
	if !c.bound {
		return true
	}
	label := 0
	if c.soft < c.other {
		label = 1
	}
	return s.rest >= label && s.rest <= label+c.soft
}

func (c *constrainedStates) blocks() int { return len(c.ranges) }

func (c *constrainedStates) count() int {
	n := 0
	for _, s := range c.shells {
		n = min(n+s.states, manyStates)
	}
	return n
}

func (c *constrainedStates) work() float64 {
	work := 0.0
	for _, s := range c.shells {
		terms := float64(c.other)
		if c.bound {
			terms *= float64(min(s.rest, c.soft-s.rest) + 10) // terms of the recursion; 10 for its preparation
		}
		work += float64(float64(s.states) * max(1, terms))
	}
	return 4 * work
}

// prepare divides the shells into blocks and allocates the working memory.
func (c *constrainedStates) prepare() {
	for i, s := range c.shells {
		for first := 0; first < s.states; first += 1 << blockBits {
			c.ranges = append(c.ranges, shellRange{i, first, min(1<<blockBits, s.states-first)})
		}
	}
	listed := c.units + c.classes
	c.bias = make([]float64, listed)
	c.rows, c.base = c.newRows(listed), make([]float64, c.other)
	for range min(len(c.ranges), logGroups) {
		c.walks = append(c.walks, c.newWalk())
	}
	c.set(c.m)
}

func (c *constrainedStates) set(m *rbm.RBM) {
	c.m = m
	for s := range c.base {
		c.base[s] = c.summedBias(s)
	}
	for l := range c.bias {
		c.bias[l] = c.listedBias(l)
		for s := range c.other {
			c.rows[l][s] = c.weight(l, s)
		}
	}
}
