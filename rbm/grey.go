package rbm

import (
	"sync"

	"gorbm/rbm/internal/vec"
)

// Grey inputs are values in [0,1] in place of bits: probabilities that the
// unit is on. They enter only where data do, in the positive phase and in
// what judges rows; what the model draws is always binary. Their passes are
// plain loops over the values that are not zero.

// HiddenMeanGrey overwrites dst, v.Rows × Hidden(), with σ(c + vᵀW) of rows v
// of grey values, or with the means under a constraint on the hidden units. It
// panics if the shapes differ or the constraint is on all units: grey rows have
// no number of units that are on.
func (m *RBM) HiddenMeanGrey(dst, v Matrix) {
	m.checkGrey(v)
	if dst.Rows != v.Rows || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMeanGrey needs dst of v.Rows × hidden")
	}
	g := greyPool.Get().(*greyPass)
	g.m, g.dst, g.v = m, dst, v
	wide := v.Rows*m.Visible()*m.Hidden() >= wideWork/8
	if m.Constraint != nil {
		g.count.run(ceilDiv(v.Rows, lanes), wide)
	} else {
		g.up.run(vec.Blocks(m.Hidden()), wide)
	}
	g.m, g.dst, g.v = nil, Matrix{}, Matrix{}
	greyPool.Put(g)
}

// A greyPass is an up pass over grey rows.
type greyPass struct {
	up     job // panel by panel
	count  job // row by row, under a constraint
	m      *RBM
	dst, v Matrix
	h      Bits       // under a constraint: draws into it, in place of means
	stream vec.Stream // their uniforms
	first  int        // the first row's number among all
}

var greyPool = sync.Pool{New: func() any {
	g := new(greyPass)
	g.up.part, g.count.part = g.panel, g.countPart
	return g
}}

// panel takes the means of panel k.
func (g *greyPass) panel(k int) {
	m, panel := g.m, g.m.panel(k)
	lo := k * vec.Block
	width := min(vec.Block, m.Hidden()-lo)
	for r := range g.v.Rows {
		var acc [vec.Block]float32
		copy(acc[:], m.HiddenBias[lo:])
		for i, x := range g.v.Row(r) {
			if x != 0 {
				addTimes(&acc, x, (*[vec.Block]float32)(panel[i*vec.Block:]))
			}
		}
		vec.Sigmoids(g.dst.Row(r)[lo:], width, acc[:], 1, width)
	}
}

// addTimes adds x·w to acc.
func addTimes(acc *[vec.Block]float32, x float32, w *[vec.Block]float32) {
	for c := range acc {
		acc[c] += float32(x * w[c])
	}
}

// ascendGrey adds to panel k, and with the first panel to the visible biases,
// what the grey rows of the positive phase contribute.
func (m *RBM) ascendGrey(k int, b Batch, rate float32) {
	panel := m.panel(k)
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	for r := range b.Grey.Rows {
		coef := float32(rate * b.weight(r))
		if coef == 0 {
			continue
		}
		var h [vec.Block]float32
		for j, p := range b.H.Row(r)[lo:hi] {
			h[j] = float32(coef * p)
			m.HiddenBias[lo+j] += h[j]
		}
		for i, x := range b.Grey.Row(r) {
			if x == 0 {
				continue
			}
			addTimes((*[vec.Block]float32)(panel[i*vec.Block:]), x, &h)
			if k == 0 {
				m.VisibleBias[i] += float32(coef * x)
			}
		}
	}
}

// FreeEnergyGrey overwrites dst, len v.Rows, with the F of FreeEnergy at grey
// values v. exp(−F) of such a row is no probability; it serves to compare
// rows, as in software that trains on grey values. It panics if the shapes
// differ.
func (m *RBM) FreeEnergyGrey(dst []float64, v Matrix) {
	m.checkGrey(v)
	if len(dst) != v.Rows {
		panic("rbm: FreeEnergyGrey needs one place of dst a row")
	}
	if m.Constraint != nil {
		m.countFreeEnergy(dst, func(r int, a []float64) (float64, int) {
			return m.preactivateGrey(a, v.Row(r)), m.Constraint.Active
		})
		return
	}
	m.eachRow(v.Rows, func(r int, a []float64) {
		field := m.preactivateGrey(a, v.Row(r))
		dst[r] = -field - vec.SoftplusSum(a)
	})
}

// ClassLogProbGrey is ClassLogProb of rows of grey inputs; their label columns
// are ignored.
func (m *RBM) ClassLogProbGrey(dst []float64, v Matrix) {
	m.checkGrey(v)
	if m.Classes == 0 || len(dst) != v.Rows*m.Classes {
		panic("rbm: ClassLogProbGrey needs a classification RBM and v.Rows × classes places")
	}
	labels := m.labelRows()
	if m.Constraint != nil {
		m.countClassLogProb(dst, func(r int, a []float64) int {
			m.preactivateGrey(a, v.Row(r)[:m.Inputs()])
			return m.Constraint.Active
		})
		return
	}
	m.eachRow(v.Rows, func(r int, a []float64) {
		m.preactivateGrey(a, v.Row(r)[:m.Inputs()])
		m.classLogProb(dst[r*m.Classes:(r+1)*m.Classes], a, labels)
	})
}

// preactivateGrey overwrites a with c + vᵀW, v the first visible units, and
// returns bᵀv.
func (m *RBM) preactivateGrey(a []float64, v []float32) (field float64) {
	for j, c := range m.HiddenBias {
		a[j] = float64(c)
	}
	for i, x := range v {
		if x == 0 {
			continue
		}
		field += float64(float64(x) * float64(m.VisibleBias[i]))
		for k := range vec.Blocks(len(a)) {
			row := m.panel(k)[i*vec.Block:]
			for j := range a[k*vec.Block : min((k+1)*vec.Block, len(a))] {
				a[k*vec.Block+j] += float64(float64(x) * float64(row[j]))
			}
		}
	}
	return field
}

func (m *RBM) checkGrey(v Matrix) {
	if v.Cols != m.Visible() {
		panic("rbm: grey rows of another width than the visible layer")
	}
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		panic("rbm: grey rows under a constraint on all units")
	}
}
