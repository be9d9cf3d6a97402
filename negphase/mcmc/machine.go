package mcmc

import (
	"math"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
)

// A Machine holds the parameters of an RBM for the systems that share it, in
// the two orientations that flips need: a flip of a visible unit adds a row of
// W to what the hidden units see, a flip of a hidden unit a row of Wᵀ to what
// the visible ones see.
//
// Parameters are whole numbers of a quantum, a power of two of about 2⁻³⁰ of
// the largest preactivation that any state has. So all sums are exact in any
// order: preactivations never drift and are the same whatever path led to a
// state, and so are the weights that walks draw by. The law that is sampled is
// that of parameters rounded by at most half a quantum: in a trained model of
// 784 × 500 units 10⁻⁷, what a sum of float32 loses too.
type Machine struct {
	first   [2]int     // site of the first unit of each layer
	units   [2]int     // of each layer
	size    [2]int     // units, and zeros up to a multiple of walk.Lanes
	stride  [2]int     // of rows of this layer's size
	row     [2][]int32 // of each unit of a layer, stride of the other: its weights, in quanta
	bias    [2][]int32
	quantum float64
	reach   float64  // bounds |preactivation|
	labels  [2]int32 // sites that are one softmax unit: from, to

	setting setting
	loading loading
}

// The layers of a machine. A state has the visible units, then the hidden ones.
const (
	visible = 0
	hidden  = 1
)

// NewMachine returns the parameters of m.
func NewMachine(m *rbm.RBM) *Machine {
	c := &Machine{first: [2]int{0, m.Visible()}, units: [2]int{m.Visible(), m.Hidden()}}
	if m.Classes() > 0 && m.LabelKind() == rbm.Softmax {
		c.labels = [2]int32{int32(m.Inputs()), int32(m.Visible())}
	}
	for l, n := range c.units {
		c.size[l] = (n + walk.Lanes - 1) &^ (walk.Lanes - 1)
		// An odd number of cache lines, so that a stripe of columns is not all
		// in the same few sets of a cache.
		c.stride[l] = c.size[l] | walk.Lanes
	}
	for l := range c.row {
		c.row[l] = make([]int32, c.size[l]*c.stride[1-l])
		c.bias[l] = make([]int32, c.size[l])
	}
	c.setting.prepare(c)
	c.loading.prepare(c)
	c.quantum = 1 // any; Set finds the right one
	c.Set(m)
	return c
}

// Set takes over the parameters of m, which may have changed. Systems on c
// need a Load or SetState then, before anything else. It panics if m has
// another shape; it allocates nothing. The panels of a large model are shared
// out among goroutines.
func (c *Machine) Set(m *rbm.RBM) {
	if m.Visible() != c.units[visible] || m.Hidden() != c.units[hidden] {
		panic("mcmc: an RBM of another shape than the machine's")
	}
	// Mostly the quantum is the one of before, so that one pass over the
	// parameters finds that and takes them over.
	before := c.quantum
	c.take(m, float32(1/before))
	c.reach = c.setting.largest(m)
	// A float32 holds the inverse of every quantum but that of a model of next to
	// nothing.
	_, e := math.Frexp(c.reach)
	e = max(e, -90)
	if c.quantum = math.Ldexp(1, e-reachBits); c.quantum != before {
		c.take(m, float32(1/c.quantum))
	}
}

// reachBits: preactivations are below 2³⁰ quanta, and the roundings of as many
// as 2³⁰ parameters fit an int32 beside them.
const reachBits = 30

// rowOf returns the weights of unit i of a layer to the other layer's units.
func (c *Machine) rowOf(layer int, i int) []int32 {
	from := i * c.stride[1-layer]
	return c.row[layer][from:][:c.size[1-layer]]
}

// Len returns the number of units, visible and hidden.
func (c *Machine) Len() int { return c.units[visible] + c.units[hidden] }

// Reach bounds the cost of any flip in any state; it is not finite if a
// parameter is not.
func (c *Machine) Reach() float64 { return c.reach }

// place returns the layer of a site and its number in it.
func (c *Machine) place(site int) (layer, i int) {
	if site >= c.first[hidden] {
		return hidden, site - c.first[hidden]
	}
	return visible, site
}

// Sites returns the sites that chains may move on: all, but the labels if they
// are one softmax unit, of which a flip would leave no or two labels on.
func (c *Machine) Sites() []int32 {
	sites := make([]int32, 0, c.Len())
	for i := range int32(c.Len()) {
		if !c.isLabel(i) {
			sites = append(sites, i)
		}
	}
	return sites
}

// isLabel tells whether a site is one of a softmax label.
func (c *Machine) isLabel(i int32) bool { return i >= c.labels[0] && i < c.labels[1] }

// machineOf returns the machine of an RBM system.
func machineOf(s System) (*Machine, bool) {
	if s, ok := s.(*RBM); ok {
		return s.machine, true
	}
	return nil, false
}
