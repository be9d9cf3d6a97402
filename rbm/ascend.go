package rbm

import "gorbm/rbm/internal/vec"

// ascentWork is what Ascend needs beside its arguments, kept so that no step
// allocates. A slot is one particle of either phase whose weight is not zero.
type ascentWork struct {
	coef  []float32   // of each slot: rate·weight, negative in the negative phase
	h     [][]float32 // hidden means of each slot
	v     [][]uint64  // visible words of each slot
	mask  []uint64    // of each block of visible units: words of the slots, then their transposes
	lists []uint32    // of each block: the slots of its units, in groups of vec.Block slots
	cuts  []uint32    // of each block and group: where the units' parts of lists end
	all   []uint32    // every slot
	g     []float32   // per panel: coef·h, a row for each slot

	rate       float32
	grey       []greySlots
	plus, less *Moments
	list, move job
}

// maxList is the length of a list of slots that one call of a kernel sums, some
// 20 µs.
const maxList = 4096

// Ascend moves the parameters by rate · (pos − neg):
//
//	W += rate(⟨vhᵀ⟩⁺ − ⟨vhᵀ⟩⁻),  b += rate(⟨v⟩⁺ − ⟨v⟩⁻),  c += rate(⟨h⟩⁺ − ⟨h⟩⁻)
//
// Particles are added in one fused pass over the rows of W in which any is
// active: every parameter adds the terms ±(rate·weight)·mean of its particles
// in row order, those of pos first. Grey rows follow, then moments, pos before
// neg, in passes of their own. It panics if the shapes differ.
func (m *RBM) Ascend(rate float32, pos, neg Phase) {
	a := &m.work
	if a.list.part == nil {
		a.list.part, a.move.part = m.listPart, m.movePart
	}
	a.coef, a.h, a.v = a.coef[:0], a.h[:0], a.v[:0]
	a.rate, a.plus, a.less = rate, pos.Moments, neg.Moments
	m.addSlots(rate, pos)
	m.addSlots(-rate, neg)
	m.growAscent()

	work := len(a.coef) * m.Visible() * m.Hidden()
	for _, g := range a.grey {
		work += len(g.coef) * m.Visible() * m.Hidden()
	}
	if a.plus != nil || a.less != nil {
		work += 8 * m.Visible() * m.Hidden()
	}
	wide := work >= wideWork
	a.list.run(vec.Blocks(m.Visible()), wide)
	a.move.run(ceilDiv(vec.Blocks(m.Hidden()), partPanels), wide)
	clear(a.h) // keep no references to the caller's memory
	clear(a.v)
	a.releaseGrey()
	a.plus, a.less = nil, nil
}

// groups returns the number of groups of slots, of which each is a word of a
// transposed mask.
func (a *ascentWork) groups() int { return vec.Blocks(len(a.coef)) }

// listSize is the room for the slots of a block of visible units.
func (a *ascentWork) listSize() int { return a.groups()*vec.Block*vec.Block + vec.ListSlack }

// growAscent makes room for the slots that are there.
func (m *RBM) growAscent() {
	a := &m.work
	blocks := vec.Blocks(m.Visible())
	if n := blocks * a.groups() * vec.Block; len(a.mask) < n {
		a.mask = make([]uint64, n)
	}
	if n := blocks * a.listSize(); len(a.lists) < n {
		a.lists = make([]uint32, n)
	}
	if n := blocks * a.groups() * (vec.Block + 1); len(a.cuts) < n {
		a.cuts = make([]uint32, n)
	}
	if n := vec.Blocks(m.Hidden()) * len(a.coef) * vec.Block; len(a.g) < n {
		a.g = make([]float32, n)
	}
	for s := len(a.all); s < len(a.coef); s++ {
		a.all = append(a.all, uint32(s)*vec.Block)
	}
}

// addSlots appends the particles of p, if it has any.
func (m *RBM) addSlots(rate float32, p Phase) {
	if p.Moments != nil {
		if s := p.Moments; len(s.V) != m.Visible() || len(s.H) != m.Hidden() || s.VH.Rows != m.Visible() || s.VH.Cols != m.Hidden() {
			panic("rbm: moments of another shape than the model")
		}
		return
	}
	p.check(m.Visible(), m.Hidden())
	a := &m.work
	if p.Grey.Rows > 0 {
		m.addGrey(rate, p.Batch)
		return
	}
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

// listPart turns the slots' words of block k of visible units into each unit's
// list of slots, 64 × 64 bits at a time, and moves the units' biases.
func (m *RBM) listPart(k int) {
	a := &m.work
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Visible())
	groups := a.groups()
	mask := a.mask[k*groups*vec.Block:][:groups*vec.Block]
	for s, v := range a.v {
		mask[s] = v[k]
	}
	clear(mask[len(a.v):])

	var bias [vec.Block]float32
	copy(bias[:], m.VisibleBias[lo:hi])
	vec.AddWhere(&bias, mask, a.coef)
	copy(m.VisibleBias[lo:hi], bias[:])
	for i := range a.grey {
		m.listGrey(&a.grey[i], k)
	}
	addScaled(m.VisibleBias[lo:hi], a.rate, a.plus, lo)
	addScaled(m.VisibleBias[lo:hi], -a.rate, a.less, lo)

	lists := a.lists[k*a.listSize():][:a.listSize()]
	first := uint32(0)
	for q := range groups {
		vec.Transpose((*[vec.Block]uint64)(mask[q*vec.Block:]))
		cuts := a.unitCuts(k, q)
		cuts[0] = first
		vec.Lists(lists, cuts, mask[q*vec.Block:], 1, 0, hi-lo, 1, uint32(q*vec.Block*vec.Block))
		first = cuts[hi-lo]
	}
}

// unitCuts are where the slots of group q end in the lists of the units of
// block k.
func (a *ascentWork) unitCuts(k, q int) []uint32 {
	const size = vec.Block + 1
	return a.cuts[(k*a.groups()+q)*size:][:size]
}

// addScaled adds rate times the moments' ⟨v⟩ from unit lo on, if there are
// moments.
func addScaled(bias []float32, rate float32, s *Moments, lo int) {
	if s == nil {
		return
	}
	for i := range bias {
		bias[i] += float32(rate * s.V[lo+i])
	}
}

// movePart moves the weights and hidden biases of one group of panels.
func (m *RBM) movePart(i int) {
	a := &m.work
	slots := len(a.coef)
	k := i * partPanels
	panels := min(partPanels, vec.Blocks(m.Hidden())-k)
	lo := k * vec.Block
	hi := min(lo+panels*vec.Block, m.Hidden())
	if slots > 0 {
		g := a.g[k*slots*vec.Block:]
		for s, c := range a.coef {
			vec.Scale(g[s*vec.Block:], slots*vec.Block, a.h[s][lo:hi], c)
		}
		w := m.w[k*m.rows*vec.Block:]
		for b := range vec.Blocks(m.Visible()) {
			lists := a.lists[b*a.listSize():][:a.listSize()]
			rows := min(vec.Block, m.Visible()-b*vec.Block)
			for q := range a.groups() {
				cuts := a.unitCuts(b, q)[:rows+1]
				vec.RowSums(w[b*vec.Block*vec.Block:], m.rows*vec.Block, g, slots*vec.Block, panels, lists, cuts)
			}
		}
		for p := range panels {
			var acc [vec.Block]float32
			part := m.HiddenBias[lo+p*vec.Block : min(lo+(p+1)*vec.Block, hi)]
			copy(acc[:], part)
			for lo := 0; lo < slots; lo += maxList { // no call may take long
				cuts := []uint32{uint32(lo), uint32(min(lo+maxList, slots))}
				vec.RowSums(acc[:], 0, g[p*slots*vec.Block:], 0, 1, a.all, cuts)
			}
			copy(part, acc[:])
		}
	}
	for p := k; p < k+panels; p++ {
		for i := range a.grey {
			m.ascendGrey(p, &a.grey[i])
		}
		m.ascendMoments(p, a.plus, a.rate)
		m.ascendMoments(p, a.less, -a.rate)
	}
}

// ascendMoments adds rate times the moments' part of panel k, if there are
// moments.
func (m *RBM) ascendMoments(k int, s *Moments, rate float32) {
	if s == nil {
		return
	}
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	vec.AddTimes(m.panel(k), vec.Block, s.VH.Data[lo:], s.VH.Cols, rate, m.Visible(), hi-lo)
	for j := lo; j < hi; j++ {
		m.HiddenBias[j] += float32(rate * s.H[j])
	}
}
