package rbm

import (
	"math"

	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// A constrainedBase is the distribution of a Base under a constraint. Units that the
// constraint binds have the conditional Bernoulli distribution of their biases; the others
// are independent. A softmax label is one unit, and its class is drawn first. Without
// one, the distribution is that of a single class whose label has no units.
type constrainedBase struct {
	free   []float64 // biases of the units that the constraint leaves free
	bound  []float64 // log-odds that the others differ from their reference
	weight float64   // log weight of the reference
	active []int     // of each class: how many bound units are active
	logs   []float64 // of each class: its log weight
}

func (b *Base) constrained(m *RBM) constrainedBase {
	c := m.Constraint
	binary := m.binary()
	law := constrainedBase{active: []int{c.Active}, logs: []float64{0}}
	if m.softmaxLabel() {
		law.active, law.logs = nil, nil
		for y := range m.Classes() {
			k := c.Active
			if c.On == AllUnits {
				k -= c.ClassDistance(m, y)
			}
			law.active = append(law.active, k)
			law.logs = append(law.logs, float64(b.VisibleBias[binary+y]))
		}
	}
	law.free, law.bound = widen(b.VisibleBias[:binary]), widen(b.HiddenBias)
	if c.On == AllUnits {
		law.bound, law.free = append(law.free, law.bound...), nil
	}
	for j := range law.bound {
		if c.reference(m, binary, j) {
			law.weight += law.bound[j]
			law.bound[j] = -law.bound[j]
		}
	}
	for i, k := range law.active {
		c := bernoulli.Get(len(law.bound))
		copy(c.LogOdds[0], law.bound)
		c.Active[0] = k
		c.Solve()
		law.logs[i] += c.LogSum(0)
		c.Put()
	}
	return law
}

// reference reports whether bound unit j of a constrainedBase is on in the
// reference. The first binary visible units are no softmax label.
func (c *Constraint) reference(m *RBM, binary, j int) bool {
	if c.On == AllUnits && j >= binary {
		j += m.Visible() - binary
	}
	return c.onInReference(j)
}

// constrainedLogZ is LogZ under a constraint.
func (b *Base) constrainedLogZ(m *RBM) float64 {
	law := b.constrained(m)
	return vec.SoftplusSum(law.free) + law.weight + vec.LogSumExp(law.logs)
}

// constrainedDraw is Draw under a constraint.
func (b *Base) constrainedDraw(m *RBM, v, h Values, key Key) {
	law := b.constrained(m)
	binary := m.binary()
	label := key.Child(2)
	pick := make([]int, v.Rows) // the class of each row
	total := vec.LogSumExp(law.logs)
	for r := range v.Rows {
		clearFrom(v.Row(r), 0)
		u := label.Uniform(uint64(r))
		for pick[r] = 0; pick[r] < len(law.logs)-1; pick[r]++ {
			if u -= Exp(law.logs[pick[r]] - total); u < 0 {
				break
			}
		}
		for math.IsInf(law.logs[pick[r]], -1) { // by rounding u may go beyond the last possible class
			pick[r]--
		}
	}
	if len(law.free) > 0 {
		free, fields := newLayer(Group{Kind: Bernoulli, Units: binary}), b.visible()
		scratch, block := make([]float32, vec.Block+binary), new(units.Block)
		for r := range v.Rows {
			free.draw(v, r, &fields, scratch, block, key.Child(0).stream())
		}
	}
	if m.softmaxLabel() {
		for r := range v.Rows {
			clearFrom(v.Row(r), binary)
			v.Set(r, binary+pick[r], true)
		}
	}
	stream := key.Child(1).stream()
	parallel.Do(ceilDiv(v.Rows, bernoulli.Rows), func(part int) {
		c := bernoulli.Get(len(law.bound))
		defer c.Put()
		lo := part * bernoulli.Rows
		n := min(bernoulli.Rows, v.Rows-lo)
		for l := range n {
			copy(c.LogOdds[l], law.bound)
			c.Active[l], c.Number[l] = law.active[pick[lo+l]], uint32(lo+l)
		}
		c.Solve()
		c.Forward(false, &stream)
		first := len(law.bound) - m.Hidden() // bound units that are visible
		for l := range n {
			for j := range law.bound {
				on := c.Drawn[l][j/vec.Block]>>(j%vec.Block)&1 != 0
				on = on != m.Constraint.reference(m, binary, j)
				if j < first {
					v.Set(lo+l, j, on)
				} else {
					h.Set(lo+l, j-first, on)
				}
			}
		}
	})
}

// RandomizeHidden overwrites h, rows of m's hidden units, with independent
// draws in which all states of the layer that m allows are equally likely: fair
// bits, or under a constraint on the hidden units sets of active units of its
// size. Under one on all units they are the hidden part of draws of a nil Base. It
// panics if h has another width than the hidden layer.
func (m *RBM) RandomizeHidden(h Values, key Key) {
	if h.Cols != m.Hidden() {
		panic("rbm: RandomizeHidden needs rows of hidden units")
	}
	if m.Constraint == nil {
		h.Randomize(key)
		return
	}
	(*Base)(nil).Draw(m, NewBits(h.Rows, m.Visible()), h, key)
}
