package exact

import (
	"fmt"
	"math"

	"gorbm/rbm"
)

// A constrainedStates enumerates a model under a constraint: of one layer the
// states that the constraint allows are listed, those of equally many active
// units after each other, and the other layer is summed out, by the recursion
// of a conditional where the constraint binds it.
type constrainedStates struct {
	m      *rbm.RBM
	hidden bool // the hidden layer is listed
	bound  bool // the constraint binds the summed layer
	units  int  // binary units listed
	other  int  // units of the summed layer
	soft   int  // of these the first soft are binary, the rest one softmax unit

	shells []shell
	blocks []shellBlock

	bias   []float64   // of the listed units, label units too
	rows   [][]float64 // their weights to the summed layer
	sign   []float64   // what activating a unit does to it: 1 on, −1 off
	linear float64     // log weight of the listed units at the reference
	base   []float64   // preactivations of the summed layer there

	logs []float64 // log-sum-exp of each block
}

// A shell is the states of the listed layer of equally many active binary
// units, beside one class if the label is listed.
type shell struct {
	class  int // −1 if no label is listed
	active int
	rest   int // active units that are left to the summed layer
	states int
}

// A shellBlock is some consecutive states of a shell.
type shellBlock struct{ shell, first, states int }

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

// manyStates is more than any limit.
const manyStates = 1 << 38

// newConstrained prepares to enumerate m, over the layer that takes less work.
func newConstrained(m *rbm.RBM, limit int) (*constrainedStates, error) {
	var best *constrainedStates
	fewest := manyStates
	for _, hidden := range []bool{true, false} {
		c := &constrainedStates{m: m, hidden: hidden}
		c.plan()
		fewest = min(fewest, c.states())
		if c.states() <= limit && (best == nil || c.work() < best.work()) {
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

// newConstrainedEnumeration is New under a constraint.
func newConstrainedEnumeration(m *rbm.RBM, limit int) (*Enumeration, error) {
	c, err := newConstrained(m, limit)
	if err != nil {
		return nil, err
	}
	return c.enumeration(), nil
}

func (c *constrainedStates) enumeration() *Enumeration {
	e := &Enumeration{m: c.m, constrained: c}
	e.walks = make([]*constrainedWalk, min(len(c.blocks), logGroups))
	for i := range e.walks {
		e.walks[i] = c.newWalk()
	}
	e.logLoop.Body, e.sumLoop.Body = e.constrainedLogPart, e.constrainedSumPart
	return e
}

// plan lays down what is listed and what is summed.
func (c *constrainedStates) plan() {
	m, k := c.m, c.m.Constraint
	visible := binary(m)
	c.bound = k.On == rbm.AllUnits || !c.hidden
	if c.hidden {
		c.units, c.other, c.soft = m.Hidden(), m.Visible(), visible
	} else {
		c.units, c.other, c.soft = visible, m.Hidden(), m.Hidden()
	}
	classes := []int{-1}
	if !c.hidden && softmaxLabel(m) {
		classes = classes[:0]
		for y := range m.Classes() {
			classes = append(classes, y)
		}
	}
	for _, y := range classes {
		for active := range c.units + 1 {
			rest := k.Active
			if k.On == rbm.AllUnits {
				rest -= active
				if y >= 0 {
					rest -= k.ClassDistance(m, y)
				}
			} else if c.hidden && active != k.Active {
				continue
			}
			if s := (shell{y, active, rest, boundedBinomial(c.units, active)}); c.feasible(s) {
				c.shells = append(c.shells, s)
			}
		}
	}
}

// feasible reports whether the summed layer has a state beside those of s.
func (c *constrainedStates) feasible(s shell) bool {
	if !c.bound {
		return true
	}
	least, most := 0, 0
	if c.soft < c.other {
		least, most = c.m.Constraint.LabelRange(c.m)
	}
	return s.rest >= least && s.rest <= most+c.soft
}

func (c *constrainedStates) states() int {
	n := 0
	for _, s := range c.shells {
		n = min(n+s.states, manyStates)
	}
	return n
}

// work returns the number of terms summed.
func (c *constrainedStates) work() float64 {
	work := 0.0
	for _, s := range c.shells {
		terms := float64(c.other)
		if c.bound {
			terms *= float64(min(s.rest, c.soft-s.rest) + 10) // the terms of the recursion, and what leads to it
		}
		work += float64(s.states) * max(1, terms)
	}
	return work
}

// prepare makes room and takes the model.
func (c *constrainedStates) prepare() {
	for i, s := range c.shells {
		for first := 0; first < s.states; first += 1 << blockBits {
			c.blocks = append(c.blocks, shellBlock{i, first, min(1<<blockBits, s.states-first)})
		}
	}
	c.logs = make([]float64, len(c.blocks))
	listed := c.m.Visible()
	if c.hidden {
		listed = c.m.Hidden()
	}
	c.bias, c.sign = make([]float64, listed), make([]float64, listed)
	c.rows, c.base = make([][]float64, listed), make([]float64, c.other)
	for l := range c.rows {
		c.rows[l] = make([]float64, c.other)
	}
	c.set(c.m)
}

// set makes m the model to enumerate.
func (c *constrainedStates) set(m *rbm.RBM) {
	c.m = m
	listed, summed := m.VisibleBias, m.HiddenBias
	reference := m.Constraint.VisibleReference(m)
	if c.hidden {
		listed, summed = summed, listed
		reference = m.Constraint.HiddenReference(m)
	}
	c.linear = 0
	for s, b := range summed {
		c.base[s] = float64(b)
	}
	for l, b := range listed {
		c.bias[l], c.sign[l] = float64(b), 1
		for s := range c.other {
			if c.hidden {
				c.rows[l][s] = float64(m.Weight(s, l))
			} else {
				c.rows[l][s] = float64(m.Weight(l, s))
			}
		}
		if l < c.units && reference != nil && reference[l] == 1 {
			c.sign[l] = -1
			c.linear += c.bias[l]
			for s, w := range c.rows[l] {
				c.base[s] += w
			}
		}
	}
}
