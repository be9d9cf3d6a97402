package mcmc

import (
	"math"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// Parameters are the parameters of an RBM in the layout that single flips need.
// Many RBM systems share them. W is held twice: a flip of a visible unit adds a
// row of W to the preactivations of the hidden units, a flip of a hidden unit
// adds a row of Wᵀ to those of the visible units.
//
// Parameters are integer multiples of a quantum, a power of two of about 2⁻³⁰
// of the largest preactivation in any state. So all sums are exact, and
// preactivations and the weights of walks depend on the state alone, not on the
// path to it. The distribution that is sampled is that of the rounded parameters. The
// rounding, by at most half a quantum, is 10⁻⁷ in a trained model of 784 × 500
// units, as much as a sum in float32 loses.
type Parameters struct {
	first   [2]int     // site of the first unit of each layer
	number  [2][]int32 // sites of each layer
	units   [2]int     // for each layer
	size    [2]int     // units, padded to a multiple of walk.Lanes
	stride  [2]int     // of rows of this layer's size
	row     [2][]int32 // weights of each unit of a layer to the other, in quanta
	bias    [2][]int32 // in quanta, padded with zeros
	quantum float64
	reach   float64  // bounds |preactivation|
	labels  [2]int32 // first and last + 1 of the sites of a softmax label

	setting setting
	loading loading
}

// The layers. A state has the visible units first.
const (
	visible = 0
	hidden  = 1
)

// NewParameters returns the parameters of m. It panics if m does not pass CheckBinary.
func NewParameters(m *rbm.RBM) *Parameters {
	if err := m.CheckBinary(); err != nil {
		panic("mcmc: " + err.Error())
	}
	c := &Parameters{first: [2]int{0, m.Visible()}, units: [2]int{m.Visible(), m.Hidden()}}
	for _, g := range m.SoftmaxGroups() {
		c.labels = [2]int32{int32(g.First), int32(g.First + g.Units)}
	}
	all := everySite(c.Len())
	c.number = [2][]int32{all[:m.Visible()], all[m.Visible():]}
	for l, n := range c.units {
		c.size[l] = (n + walk.Lanes - 1) &^ (walk.Lanes - 1)
		// Rows of an odd number of cache lines: otherwise a stripe of columns
		// would compete for few sets of a cache.
		c.stride[l] = c.size[l] | walk.Lanes
	}
	for l := range c.row {
		c.row[l] = make([]int32, c.size[l]*c.stride[1-l])
		c.bias[l] = make([]int32, c.size[l])
	}
	c.setting.columns = make([]float32, c.size[hidden])
	c.setting.rows = make([][]float32, (c.units[hidden]+rbm.PanelUnits-1)/rbm.PanelUnits)
	for k := range c.setting.rows {
		c.setting.rows[k] = make([]float32, c.size[visible])
	}
	c.setting.panels.Body = c.quantizePanel
	c.loading.prepare(c)
	c.quantum = 1 // any number; Set finds the right one
	c.Set(m)
	return c
}

// setting is the memory of Set. It sums the magnitudes of the weights, one panel
// of the model at a time.
type setting struct {
	columns []float32   // Σ|w| and the |bias| of each hidden unit
	rows    [][]float32 // for each panel: Σ|w| of each visible unit
	panels  parallel.Loop
	now     struct { // the arguments of the current loop
		m     *rbm.RBM
		scale float32
	}
}

// reachBits: preactivations are below 2³⁰ quanta. An int32 also has room for the
// roundings of up to 2³⁰ parameters.
const reachBits = 30

// Set reads the parameters of m, which may have changed. Afterwards systems on c need
// a Load or SetState before anything else. It panics if m has another
// shape and allocates nothing. A large model is divided among goroutines.
func (c *Parameters) Set(m *rbm.RBM) {
	if m.Visible() != c.units[visible] || m.Hidden() != c.units[hidden] {
		panic("mcmc: an RBM of another shape than the parameters'")
	}
	// The quantum depends on the sums of the magnitudes. It is mostly unchanged
	// since the last Set, so one pass that sums and quantizes is mostly enough.
	before := c.quantum
	c.quantize(m, float32(1/before))
	c.reach = c.setting.largest(m)
	_, e := math.Frexp(c.reach)
	e = max(e, -90) // float32 holds the inverse of the quantum
	if c.quantum = math.Ldexp(1, e-reachBits); c.quantum != before {
		c.quantize(m, float32(1/c.quantum))
	}
}

const (
	// parallelWork is the number of systems times weights from which a Load is
	// divided. One core takes 80 µs for it, about as long as to wake another.
	parallelWork = 1 << 21
	// setWork is the number of systems whose Load takes as long as a Set.
	setWork = 7
)

// cost is the cost of a Load of the given number of systems, for parallel.Loop.
func (c *Parameters) cost(systems int) int {
	if systems*c.units[visible]*c.units[hidden] >= parallelWork {
		return parallel.Always
	}
	return 0
}

// quantize sets the weights in both orientations and the biases, in units of
// 1/scale, and sums their magnitudes.
func (c *Parameters) quantize(m *rbm.RBM, scale float32) {
	for l, b := range [2][]float32{m.VisibleBias, m.HiddenBias} {
		walk.Quantize(c.bias[l], b, scale)
	}
	s := &c.setting
	for j, x := range m.HiddenBias {
		s.columns[j] = max(x, -x)
	}
	s.now.m, s.now.scale = m, scale
	s.panels.Run(len(s.rows), c.cost(setWork))
	s.now.m = nil
}

// quantizePanel is quantize for panel k of the weights.
func (c *Parameters) quantizePanel(k int) {
	s, j := &c.setting, k*rbm.PanelUnits
	panel, columns := s.now.m.WeightPanel(k), s.columns[j:min(j+rbm.PanelUnits, c.size[hidden])]
	clear(s.rows[k])
	for i := 0; i < c.units[visible]; i += walk.Square {
		walk.Take(c.row[visible][i*c.stride[hidden]+j:], c.stride[hidden], c.row[hidden][j*c.stride[visible]+i:], c.stride[visible],
			panel[i*rbm.PanelUnits:], rbm.PanelUnits, s.now.scale, columns, (*[walk.Square]float32)(s.rows[k][i:]))
	}
}

// largest returns a bound of the preactivations of m in any state, from the
// sums.
func (s *setting) largest(m *rbm.RBM) float64 {
	top := float32(0)
	for _, x := range s.columns {
		top = max(top, x)
	}
	for i, x := range m.VisibleBias {
		x = max(x, -x)
		for _, rows := range s.rows {
			x += rows[i]
		}
		top = max(top, x)
	}
	// A float32 sum of n terms is short by at most n·2⁻²⁴ of it. Twice as much on
	// top of it bounds the true sum.
	n := float64(max(m.Visible(), m.Hidden()) + 1)
	return float64(top) * (1 + float64(n*0x1p-23))
}

// rowOf returns the weights of unit i of a layer to the other layer's units.
func (c *Parameters) rowOf(layer int, i int) []int32 {
	from := i * c.stride[1-layer]
	return c.row[layer][from:][:c.size[1-layer]]
}

// Len returns the number of units, visible and hidden.
func (c *Parameters) Len() int { return c.units[visible] + c.units[hidden] }

// Reach bounds the cost of any flip in any state. It is not finite if a
// parameter is not.
func (c *Parameters) Reach() float64 { return c.reach }

// place returns the layer of a site and its number in it.
func (c *Parameters) place(site int) (layer, i int) {
	if site >= c.first[hidden] {
		return hidden, site - c.first[hidden]
	}
	return visible, site
}

// sites returns the sites that chains may flip: all, except those of a
// softmax label, where a single flip would leave no class or two classes on.
func (c *Parameters) sites() []int32 {
	sites := make([]int32, 0, c.Len())
	for i := range int32(c.Len()) {
		if !c.isLabel(i) {
			sites = append(sites, i)
		}
	}
	return sites
}

// isLabel reports whether a site is one of a softmax label.
func (c *Parameters) isLabel(i int32) bool { return i >= c.labels[0] && i < c.labels[1] }
