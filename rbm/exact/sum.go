package exact

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"gorbm/rbm"
	"gorbm/rbm/internal/bernoulli"
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

const (
	// quadUnits is the number of units in which the states of a quad differ (see plan).
	quadUnits = 2
	// ratioLimit is the largest sum of the absolute weights between a summed unit and the ratio units. The
	// product of four factors of up to 2e^ratioLimit is then within the range of float64. Models with larger
	// weights have fewer ratio units, or none, and take longer.
	ratioLimit = 170
	// ratioBias is the largest absolute log weight of a ratio unit. The powers of two in its exponential then
	// have small integers as exponents.
	ratioBias = 1e6
)

// A plan says which layer is listed, and has what is needed to sum out the other. The units of the summed
// layer are independent given a listed state. Those of finitely many states are summed in quads: four states
// of the listed layer that differ in the first two listed units.
//
// The ratio units are the first few low units. Let a be the inputs of the summed layer without the ratio units,
// and S the sum of the weights between a summed bit and the ratio units that are on. Then
//
//	Σ log(1+e^(a+S)) = Σ max(a,0) + log Π (off + on·e^S),  on = e^min(a,0), off = e^min(−a,0)
//
// where sums and the product are over the bits. A state needs no exponential, only two multiplications and an
// addition for each bit. A softmax group has the factor Σ on·e^S over its units, where on = e^(a − max a). A
// factor has the relative error of at most seven exponentials, of 4·10⁻¹⁶ each, and ten roundings. The error of
// log Z is therefore at most n·4·10⁻¹⁵ nats for n such units, in addition to the rounding of the logarithms of
// the weights of states.
//
// Gaussian visible units are integrated out by rbm.Marginal, which couples the hidden units. Other real units
// are summed by Kind.LogZ for each state. If the constraint applies to the summed layer, the sum uses the
// recursion of the conditional Bernoulli distribution (package bernoulli).
type plan struct {
	listing
	model  *rbm.RBM
	hidden bool // the hidden layer is listed
	bound  bool // the constraint applies to the summed layer

	order   []int // index in its layer of each listed unit
	columns []int // index in its layer of the summed unit in each column of a row; −1: none
	bits    int   // columns 0 … bits−1 have bits, and padding to a multiple of vec.Wide
	finite  int   // columns bits … finite−1 have the units of softmax groups, the others real units, or all units if bound
	classes []part
	rest    []part // parts of the columns from finite on
	dist    units.Distribution

	coupled  bool          // there are Gaussian units that marginal integrates out
	marginal *rbm.Marginal // nil unless coupled

	// Parameters:
	bias []float64   // log weight of each listed unit, without couplings
	rows [][]float64 // weights between each listed unit and the columns
	base []float64   // inputs of the columns with no listed unit on; −Inf in the padding

	// Values of the ratio units, 0 … ratios−1, for the finite columns:
	ratios int
	span   int // number of bits that vec.QuadProducts may multiply before it rescales
	first  []float64
	second []float64   // e^w of units 0 and 1; ones if these are no ratio units
	upper  []float64   // for each state of the other ratio units: the product of e^w over those that are on
	ratio  [][]float64 // e^w of each ratio unit
	sizes  []float64
}

// A part is a group of summed units, or some of a group, and its first column.
type part struct {
	rbm.Group
	at int
}

// groupsOf returns the groups of a layer of m.
func groupsOf(m *rbm.RBM, hidden bool) []rbm.Group {
	if hidden {
		return []rbm.Group{{Kind: m.HiddenKind(), Units: m.Hidden()}}
	}
	return m.Groups()
}

// newPlan plans the enumeration of a layer of m without real units.
func newPlan(m *rbm.RBM, hidden bool) *plan {
	p := &plan{model: m, hidden: hidden}
	var sizes []int
	binary, groups := 0, groupsOf(m, hidden)
	for _, joint := range [...]bool{false, true} {
		for _, g := range groups {
			if g.Joint() != joint {
				continue
			}
			for i := range g.Units {
				p.order = append(p.order, g.First+i)
			}
			if joint {
				sizes = append(sizes, g.Units)
			} else {
				binary += g.Units
			}
		}
	}
	filtered, least, most := false, 0, 0
	if c := m.Constraint; c != nil {
		p.bound = c.OnAll() || !hidden
		filtered = c.OnAll() || hidden
		if least, most = c.Active, c.Active; c.OnAll() {
			fewest, largest := activeRange(groupsOf(m, !hidden))
			least, most = least-largest, most-fewest
		}
	}
	p.listing = newListing(binary, sizes, filtered, least, most)
	p.setColumns()
	return p
}

// activeRange returns the smallest and the largest number of active units of groups of bits and softmax groups.
func activeRange(groups []rbm.Group) (fewest, most int) {
	for _, g := range groups {
		if g.Joint() {
			fewest, most = fewest+1, most+1
		} else {
			most += g.Units
		}
	}
	return fewest, most
}

// setColumns divides the columns of the summed layer among its units.
func (p *plan) setColumns() {
	groups := groupsOf(p.model, !p.hidden)
	add := func(g rbm.Group) part {
		x := part{g, len(p.columns)}
		for i := range g.Units {
			p.columns = append(p.columns, g.First+i)
		}
		return x
	}
	for _, g := range groups {
		if !g.Real() && !g.Joint() && !p.bound {
			add(g)
		}
	}
	for len(p.columns)%vec.Wide != 0 {
		p.columns = append(p.columns, -1)
	}
	p.bits = len(p.columns)
	for _, g := range groups {
		if g.Joint() && !p.bound {
			p.classes = append(p.classes, add(g))
		}
	}
	p.finite = len(p.columns)
	for _, g := range groups {
		switch {
		case g.Kind == rbm.Gaussian && p.hidden:
			p.coupled = true
		case p.bound || g.Real():
			p.rest = append(p.rest, add(g))
		}
	}
}

// allocate allocates the tables, and computes them from the parameters of the model.
func (p *plan) allocate() {
	n := len(p.order)
	p.bias, p.base, p.sizes = make([]float64, n), make([]float64, len(p.columns)), make([]float64, p.finite)
	p.rows = matrix(n, len(p.columns))
	p.ratio = matrix(p.low, p.finite)
	p.first, p.second = make([]float64, p.finite), make([]float64, p.finite)
	p.upper = make([]float64, p.finite<<max(p.low-quadUnits, 0))
	if p.coupled {
		p.marginal = rbm.NewMarginal(p.model)
	}
	p.set(p.model)
}

// matrix returns rows × cols zeros.
func matrix(rows, cols int) [][]float64 {
	x, all := make([][]float64, rows), make([]float64, rows*cols)
	for i := range x {
		x[i] = all[i*cols : (i+1)*cols]
	}
	return x
}

func (p *plan) set(m *rbm.RBM) {
	p.model = m
	listed, summed := m.HiddenBias, m.VisibleBias
	p.dist = units.Distribution{Field: summed, Params: m.VisibleParams()}
	if !p.hidden {
		listed, summed = summed, listed
		p.dist = units.Distribution{Field: summed, Params: m.HiddenParams()}
	}
	for k, i := range p.columns {
		p.base[k] = math.Inf(-1)
		if i >= 0 {
			p.base[k] = float64(summed[i])
		}
	}
	if p.marginal != nil {
		p.marginal.Set(m, nil, 1)
	}
	for l, row := range p.rows {
		p.bias[l] = float64(listed[p.order[l]])
		if p.marginal != nil {
			p.bias[l] = p.marginal.Fields[l]
		}
		for k, i := range p.columns {
			switch {
			case i < 0:
			case p.hidden:
				row[k] = float64(m.Weight(i, p.order[l]))
			default:
				row[k] = float64(m.Weight(p.order[l], i))
			}
		}
	}
	p.setRatios()
}

// setRatios computes the values of the ratio units.
func (p *plan) setRatios() {
	largest := p.chooseRatios()
	p.span = vec.Span(largest)
	for l := range p.ratios {
		vec.Exps(p.ratio[l], p.rows[l][:p.finite])
	}
	for l, dst := range [quadUnits][]float64{p.first, p.second} {
		if l < p.ratios {
			copy(dst, p.ratio[l])
		} else {
			setOnes(dst)
		}
	}
	n := p.finite
	setOnes(p.upper[:n])
	for u := 1; u < 1<<max(p.ratios-quadUnits, 0); u++ {
		top := bits.Len(uint(u)) - 1 // the row of u without this unit is already computed
		floats.MulTo(p.upper[u*n:][:n], p.upper[(u^1<<top)*n:][:n], p.ratio[quadUnits+top])
	}
}

func setOnes(x []float64) {
	for i := range x {
		x[i] = 1
	}
}

// chooseRatios sets the number of ratio units, and returns the largest sum of the absolute weights between them
// and a finite column.
func (p *plan) chooseRatios() (largest float64) {
	clear(p.sizes)
	for p.ratios = 0; p.ratios < p.low; p.ratios++ {
		for k, w := range p.rows[p.ratios][:p.finite] {
			p.sizes[k] += math.Abs(w)
		}
		size := math.Abs(p.bias[p.ratios])
		if p.marginal != nil {
			for _, w := range p.marginal.Row(p.ratios) {
				size += math.Abs(w)
			}
		}
		top := vec.LargestSize(p.sizes)
		if !(top <= ratioLimit) || !(size <= ratioBias) {
			break
		}
		largest = top
	}
	return largest
}

// perReal is the cost of log Z of a real unit in terms of Enumeration.Work, and perBound that of a unit of a
// bound layer for each unit that is on.
const perReal, perBound = 200, 4

// work is Enumeration.Work.
func (p *plan) work() float64 {
	terms := 0
	for _, i := range p.columns {
		if i >= 0 {
			terms++
		}
	}
	switch {
	case p.bound:
		n := p.model.Constraint.Active
		terms *= perBound * (max(0, min(n, len(p.columns)-n)) + 10) // terms of the recursion; 10 for its preparation
	case p.rest != nil:
		terms += (perReal - 1) * (len(p.columns) - p.finite)
	}
	if p.marginal != nil {
		terms += len(p.order)
	}
	return float64(p.states) * float64(max(terms, 1))
}

// cost is work with the cost of bases, whose exponentials take about ten times the work of a state.
func (p *plan) cost() float64 { return p.work() * (1 + 10*float64(p.bases())/float64(p.states)) }

// newLayer returns the distribution of the summed layer if the constraint applies to it.
func (p *plan) newLayer() *bernoulli.Layer {
	b := &bernoulli.Layer{}
	for _, x := range p.rest {
		if x.Joint() {
			b.Group += x.Units
		} else {
			b.Binary += x.Units
		}
	}
	return b
}
