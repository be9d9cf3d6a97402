package mcmc

import (
	"math"

	"gorbm/negphase/mcmc/internal/walk"
	"gorbm/rbm"
	"gorbm/rbm/parallel"
)

// Parameters are the parameters of an RBM in a layout that is suitable for single flips. Many RBM
// systems can share one Parameters. Both W and Wᵀ are stored: a flip of a visible unit adds a row of W
// to the preactivations of the hidden units, and a flip of a hidden unit adds a row of Wᵀ to those of
// the visible units.
//
// Parameters are rounded to integer multiples of a quantum. The quantum is a power of two, about 2⁻³⁰
// times the largest possible preactivation. So all sums are exact, and
// preactivations and the weights of walks depend on the state alone, not on the
// path to it. Chains sample the model with the rounded parameters. The rounding error is at most half a
// quantum. This is 10⁻⁷ in a trained model of 784 × 500 units, as large as the error of a sum in float32.
type Parameters struct {
	// The index of these arrays is the layer.
	first  [2]int     // site of the first unit
	number [2][]int32 // sites
	units  [2]int     // number of units
	size   [2]int     // number of units, padded to a multiple of walk.Lanes
	stride [2]int     // distance between rows of size elements
	row    [2][]int32 // weights of each unit to the units of the other layer, in quanta
	bias   [2][]int32 // biases in quanta, padded with zeros

	quantum float64
	reach   float64  // upper bound of |preactivation|
	labels  [2]int32 // first site of a softmax label, and the site after its last

	setting setting
	loading loading
}

// The layers.
const (
	visible = 0
	hidden  = 1
)

// NewParameters returns the parameters of m. It panics if m.CheckBinary returns an error.
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
		// An odd number of cache lines per row: otherwise the rows of a stripe
		// would map to few sets of the cache.
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
	c.quantum = 1 // any number; Set computes it
	c.Set(m)
	return c
}

// setting is the working memory of Set. A task of its loop quantizes one panel of the weights, those of
// rbm.PanelUnits hidden units, and sums their magnitudes.
type setting struct {
	columns []float32   // for each hidden unit: |bias| + Σ|w|
	rows    [][]float32 // [panel][visible unit] Σ|w|
	panels  parallel.Loop
	now     struct { // the arguments of the current loop
		m     *rbm.RBM
		scale float32
	}
}

// reachBits limits preactivations to 2³⁰ quanta. The rest of the range of int32 is for the
// rounding errors of up to 2³⁰ parameters.
const reachBits = 30

// Set copies the parameters of m, which may have changed. Afterwards systems with parameters c need
// a Load or SetState before any other call. It panics if m has another
// shape. It allocates nothing. Several goroutines copy a large model.
func (c *Parameters) Set(m *rbm.RBM) {
	if m.Visible() != c.units[visible] || m.Hidden() != c.units[hidden] {
		panic("mcmc: an RBM of another shape than the parameters'")
	}
	// The quantum depends on the sums of the magnitudes. It has usually not changed
	// since the last Set, so one pass that both sums and quantizes is usually enough.
	before := c.quantum
	c.quantize(m, float32(1/before))
	c.reach = c.setting.largest(m)
	_, e := math.Frexp(c.reach)
	e = max(e, -90) // the inverse of the quantum must be finite in float32
	if c.quantum = math.Ldexp(1, e-reachBits); c.quantum != before {
		c.quantize(m, float32(1/c.quantum))
	}
}

const (
	// parallelWork is the smallest number of systems times weights for which several goroutines share a
	// Load. One core takes 80 µs for this number, about as long as waking another core.
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

// quantize rounds scale times the weights, in both orientations, and scale times the biases to integers.
// It also sums the magnitudes of the parameters.
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

// largest returns an upper bound of |preactivation| in any state of m, from the
// sums of magnitudes.
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
	// A float32 sum of n terms has a relative error of at most n·2⁻²⁴. Adding twice this error
	// bounds the true sum.
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

// Reach returns an upper bound of |cost| of any flip in any state. It is not finite if a
// parameter is not.
func (c *Parameters) Reach() float64 { return c.reach }

// place returns the layer of a site and the index of its unit in the layer.
func (c *Parameters) place(site int) (layer, i int) {
	if site >= c.first[hidden] {
		return hidden, site - c.first[hidden]
	}
	return visible, site
}

// sites returns the sites that chains may flip: all except those of a
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

func (c *Parameters) isLabel(i int32) bool { return i >= c.labels[0] && i < c.labels[1] }
