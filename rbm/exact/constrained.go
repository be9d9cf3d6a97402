package exact

import (
	"fmt"
	"math"

	"gorbm/rbm"
)

// constrainedStates are the states of a model under a constraint, shell by shell.
// The states of one layer that the constraint allows are listed. The other layer
// is summed out: by the recursion of the conditional Bernoulli distribution where the
// constraint binds it.
type constrainedStates struct {
	layers
	bound  bool // the constraint binds the summed layer
	shells []shell
	ranges []shellRange // the blocks

	bias []float64   // of the listed units, label units too
	rows [][]float64 // their weights to the summed layer
	base []float64   // biases of the summed layer

	walks []*constrainedWalk // working memory of each group
}

// A shell is the states of the listed layer with one number of active binary
// units, and with one class if the label is listed.
type shell struct {
	class  int // −1 if no label is listed
	active int
	rest   int // number of units of the summed layer that are active then
	states int
}

// A shellRange is some consecutive states of a shell.
type shellRange struct{ shell, first, states int }

// manyStates is more than any limit.
const manyStates = 1 << 38

// boundedBinomial returns the binomial coefficient, or manyStates if it is
// larger.
func boundedBinomial(n, k int) int {
	if k < 0 || k > n {
		return 0
	}
	c := 1
	for i := range min(k, n-k) {
		if c > manyStates {
			return manyStates
		}
		c = c * (n - i) / (i + 1) // manyStates times 2²⁴ units fits
	}
	return min(c, manyStates)
}

// newConstrained prepares to list the layer of m that takes less work.
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
		return nil, fmt.Errorf("%w: under the constraint %v the layer with fewer states has %s2^%.4g of them, the limit is 2^%.4g; take fewer units, or fewer of them active",
			ErrTooLarge, m.Constraint, map[bool]string{true: "more than "}[fewest >= manyStates], math.Log2(float64(fewest)), math.Log2(float64(limit)))
	}
	best.prepare()
	return best, nil
}

// planConstrained decides which shells of a layer are listed.
func planConstrained(m *rbm.RBM, hidden bool) *constrainedStates {
	k := m.Constraint
	c := &constrainedStates{layers: newLayers(m, hidden), bound: k.On == rbm.AllUnits || !hidden}
	for y := min(0, c.classes-1); y < c.classes; y++ { // from −1 on if there is no class
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

// feasible reports whether the summed layer has a state that the constraint allows
// in addition to those of s.
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
			terms *= float64(min(s.rest, c.soft-s.rest) + 10) // the terms of the recursion, and its preparation
		}
		work += float64(float64(s.states) * max(1, terms))
	}
	return 4 * work
}

// prepare makes the blocks and the working memory.
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
