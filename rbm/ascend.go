package rbm

import (
	"math/bits"

	"gorbm/rbm/internal/vec"
)

// ascentWork is what Ascend needs beside its arguments, kept so that no step
// allocates. A slot is one particle of either phase whose weight is not zero.
type ascentWork struct {
	coef  []float32   // of each slot: rate·weight, negative in the negative phase
	h     [][]float32 // hidden means of each slot
	v     [][]uint64  // visible words of each slot
	lists []uint32    // for each visible unit the panel offsets of its slots
	end   []uint32    // end of each unit's part of lists
	all   []uint32    // every slot
	mask  []uint64    // of 64 visible units: the slots in which each is on
	g     []float32   // per panel: slots+1 rows of coef·h, the last zero

	rate       float32
	plus, less *Moments
	job        job
}

// Ascend moves the parameters by rate · (pos − neg):
//
//	W += rate(⟨vhᵀ⟩⁺ − ⟨vhᵀ⟩⁻),  b += rate(⟨v⟩⁺ − ⟨v⟩⁻),  c += rate(⟨h⟩⁺ − ⟨h⟩⁻)
//
// Particles are added in one fused pass over the rows of W in which any is
// active: every parameter adds the terms ±(rate·weight)·mean of its particles
// in row order, those of pos first. Moments follow, pos then neg, in a dense
// pass. It panics if the shapes differ.
func (m *RBM) Ascend(rate float32, pos, neg Phase) {
	a := &m.work
	if a.job.part == nil {
		a.job.part = m.ascendPart
	}
	a.coef, a.h, a.v = a.coef[:0], a.h[:0], a.v[:0]
	a.rate, a.plus, a.less = rate, pos.Moments, neg.Moments
	m.addSlots(rate, pos)
	m.addSlots(-rate, neg)
	m.listSlots()

	panels := vec.Blocks(m.Hidden())
	if n := panels * (len(a.coef) + 1) * vec.Block; len(a.g) < n {
		a.g = make([]float32, n)
	}
	work := len(a.lists) * m.Hidden()
	if a.plus != nil || a.less != nil {
		work += m.Visible() * m.Hidden()
	}
	a.job.run(panels, work >= wideWork)
	m.ascendVisible()
	clear(a.h) // keep no references to the caller's memory
	clear(a.v)
	a.plus, a.less = nil, nil
}

// addSlots appends the particles of p, if it has any.
func (m *RBM) addSlots(rate float32, p Phase) {
	if p.Moments != nil {
		if len(p.Moments.V) != m.Visible() || len(p.Moments.H) != m.Hidden() {
			panic("rbm: moments of another shape than the model")
		}
		return
	}
	if p.V.Cols != m.Visible() || p.H.Cols != m.Hidden() || p.H.Rows != p.V.Rows ||
		p.Weight != nil && len(p.Weight) != p.V.Rows {
		panic("rbm: batch of another shape than the model")
	}
	a := &m.work
	for r := range p.V.Rows {
		w := p.weight(r)
		if w == 0 {
			continue
		}
		a.coef = append(a.coef, float32(rate*w))
		a.h = append(a.h, p.H.Row(r))
		a.v = append(a.v, p.V.Row(r))
	}
}

// listSlots turns the slots' rows of visible units into each visible unit's
// list of slots: 64 × 64 bits at a time are transposed.
func (m *RBM) listSlots() {
	a := &m.work
	slots := len(a.coef)
	a.lists, a.end, a.all = a.lists[:0], a.end[:0], a.all[:0]
	for s := range slots {
		a.all = append(a.all, uint32(s)*vec.Block)
	}
	if len(a.all)%2 != 0 {
		a.all = append(a.all, uint32(slots)*vec.Block)
	}
	groups := vec.Blocks(slots)
	if n := groups * vec.Block; len(a.mask) < n {
		a.mask = make([]uint64, n)
	}
	for first := 0; first < m.Visible(); first += vec.Block {
		for q := range groups {
			t := (*[vec.Block]uint64)(a.mask[q*vec.Block:])
			clear(t[:])
			for s := q * vec.Block; s < min(slots, (q+1)*vec.Block); s++ {
				t[s%vec.Block] = a.v[s][first/vec.Block]
			}
			vec.Transpose(t)
		}
		for i := range min(vec.Block, m.Visible()-first) {
			lo := len(a.lists)
			for q := range groups {
				for w := a.mask[q*vec.Block+i]; w != 0; w &= w - 1 {
					a.lists = append(a.lists, uint32(q*vec.Block+bits.TrailingZeros64(w))*vec.Block)
				}
			}
			if (len(a.lists)-lo)%2 != 0 {
				a.lists = append(a.lists, uint32(slots)*vec.Block)
			}
			a.end = append(a.end, uint32(len(a.lists)))
		}
	}
}

// ascendPart moves the weights and hidden biases of panel k.
func (m *RBM) ascendPart(k int) {
	a := &m.work
	slots := len(a.coef)
	size := (slots + 1) * vec.Block
	g := a.g[k*size : (k+1)*size]
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	clear(g[slots*vec.Block:])
	for s, c := range a.coef {
		row := g[s*vec.Block : (s+1)*vec.Block]
		n := 0
		for j, p := range a.h[s][lo:hi] {
			row[j] = float32(c * p)
			n++
		}
		clear(row[n:])
	}
	panel := m.panel(k)
	from := uint32(0)
	for i, to := range a.end {
		if from < to {
			vec.RowSum((*[vec.Block]float32)(panel[i*vec.Block:]), g, a.lists[from:to])
		}
		from = to
	}
	var acc [vec.Block]float32
	copy(acc[:], m.HiddenBias[lo:hi])
	vec.RowSum(&acc, g, a.all)
	copy(m.HiddenBias[lo:hi], acc[:])

	m.ascendMoments(k, a.plus, a.rate)
	m.ascendMoments(k, a.less, -a.rate)
}

// ascendMoments adds rate times the moments' part of panel k, if there are
// moments.
func (m *RBM) ascendMoments(k int, s *Moments, rate float32) {
	if s == nil {
		return
	}
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	panel := m.panel(k)
	for i := range m.Visible() {
		row := panel[i*vec.Block:]
		for j, x := range s.VH.Row(i)[lo:hi] {
			row[j] += float32(rate * x)
		}
	}
	for j := lo; j < hi; j++ {
		m.HiddenBias[j] += float32(rate * s.H[j])
	}
}

// ascendVisible moves the visible biases.
func (m *RBM) ascendVisible() {
	a := &m.work
	slots := len(a.coef)
	from := uint32(0)
	for i, to := range a.end {
		b := m.VisibleBias[i]
		for _, o := range a.lists[from:to] {
			if s := int(o / vec.Block); s < slots {
				b += a.coef[s]
			}
		}
		from = to
		if a.plus != nil {
			b += float32(a.rate * a.plus.V[i])
		}
		if a.less != nil {
			b += float32(-a.rate * a.less.V[i])
		}
		m.VisibleBias[i] = b
	}
}
