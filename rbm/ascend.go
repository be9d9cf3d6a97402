package rbm

import "gorbm/rbm/internal/vec"

// ascentWork is what Ascend needs beside its arguments, kept so that no step
// allocates. A slot is one particle of either phase whose weight is not zero.
type ascentWork struct {
	coef  []float32  // of each slot: rate·weight, negative in the negative phase
	runs  []slotRun  // hidden means of the slots
	v     [][]uint64 // visible words of each slot
	mask  []uint64   // of each block of visible units: words of the slots, then their transposes
	lists []uint32   // of each block: the slots of its units, in groups of slots
	cuts  []uint32   // of each block and group: where the units' parts of lists end
	all   []uint32   // every slot
	g     []float32  // per panel: coef·h, a row for each slot

	rate       float32
	grey       []greySlots
	plus, less *Moments
	list, move job
}

// A slotRun is a number of slots whose hidden means lie row by row in memory.
type slotRun struct {
	lo, hi int
	h      []float32
}

const (
	// groupSlots is the number of slots that are listed together.
	groupSlots = vec.ListWords * vec.Block
	// ascentLists is the work of an ascent over that of making its lists.
	ascentLists = 8
	// moveBlocks is the number of blocks of visible units that one group of
	// slots moves before the next does: a quarter of a megabyte of a panel,
	// which the second-level cache keeps for it.
	moveBlocks = 16
)

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
		// An up pass has just read the last panel, and the next begins with
		// the first.
		a.move.backward = true
	}
	a.coef, a.runs, a.v = a.coef[:0], a.runs[:0], a.v[:0]
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
	a.list.pass(vec.Blocks(m.Visible()), work/ascentLists)
	a.move.pass(vec.Blocks(m.Hidden()), work)
	clear(a.runs) // keep no references to the caller's memory
	clear(a.v)
	a.releaseGrey()
	a.plus, a.less = nil, nil
}

// words returns the number of words of a transposed mask, 64 slots each.
func (a *ascentWork) words() int { return vec.Blocks(len(a.coef)) }

// groups returns the number of groups of slots.
func (a *ascentWork) groups() int { return ceilDiv(len(a.coef), groupSlots) }

// listSize is the room for the slots of a block of visible units.
func (a *ascentWork) listSize() int { return a.words() * vec.Block * vec.Block }

// growAscent makes room for the slots that are there.
func (m *RBM) growAscent() {
	a := &m.work
	blocks := vec.Blocks(m.Visible())
	if n := blocks * a.words() * vec.Block; len(a.mask) < n {
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
	skipped := true // the row before has no slot
	for r := range p.V.Rows {
		w := p.weight(r)
		if w != 0 {
			if skipped {
				a.runs = append(a.runs, slotRun{lo: len(a.coef), h: p.H.Data[r*p.H.Cols:]})
			}
			a.coef = append(a.coef, float32(rate*w))
			a.v = append(a.v, p.V.Row(r))
			a.runs[len(a.runs)-1].hi = len(a.coef)
		}
		skipped = w == 0
	}
}

// listPart turns the slots' words of block k of visible units into each unit's
// list of slots, 64 × 64 bits at a time, and moves the units' biases.
func (m *RBM) listPart(k int) {
	a := &m.work
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Visible())
	words := a.words()
	mask := a.mask[k*words*vec.Block:][:words*vec.Block]
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

	for q := range words {
		vec.Transpose((*[vec.Block]uint64)(mask[q*vec.Block:]))
	}
	first := uint32(0)
	for q := range a.groups() {
		slot, count := q*groupSlots, min(vec.ListWords, words-q*vec.ListWords)
		cuts := a.unitCuts(k, q)
		cuts[0] = first
		vec.Lists(a.blockLists(k), cuts, mask[slot:], 1, vec.Block, hi-lo, count, uint32(slot*vec.Block))
		first = cuts[hi-lo]
	}
}

// blockLists are the lists of block k.
func (a *ascentWork) blockLists(k int) []uint32 {
	return a.lists[k*a.listSize():][:a.listSize()]
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

// movePart moves the weights and hidden biases of panel k.
func (m *RBM) movePart(k int) {
	a := &m.work
	if len(a.coef) > 0 {
		m.moveSlots(k)
	}
	for i := range a.grey {
		m.ascendGrey(k, &a.grey[i])
	}
	m.ascendMoments(k, a.plus, a.rate)
	m.ascendMoments(k, a.less, -a.rate)
}

// moveSlots adds to panel k what the slots contribute.
func (m *RBM) moveSlots(k int) {
	a := &m.work
	slots := len(a.coef)
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	g := a.g[k*slots*vec.Block:][:slots*vec.Block]
	for _, r := range a.runs {
		vec.Scale(g[r.lo*vec.Block:], r.h[lo:], m.Hidden(), a.coef[r.lo:r.hi], hi-lo)
	}

	w := m.panel(k)
	blocks := vec.Blocks(m.Visible())
	for from := 0; from < blocks; from += moveBlocks {
		for q := range a.groups() {
			for b := from; b < min(from+moveBlocks, blocks); b++ {
				rows := min(vec.Block, m.Visible()-b*vec.Block)
				vec.RowSums(w[b*vec.Block*vec.Block:], g, a.blockLists(b), a.unitCuts(b, q)[:rows+1])
			}
		}
	}

	var acc [vec.Block]float32
	copy(acc[:], m.HiddenBias[lo:hi])
	for s := 0; s < slots; s += maxList { // no call may take long
		cuts := []uint32{uint32(s), uint32(min(s+maxList, slots))}
		vec.RowSums(acc[:], g, a.all, cuts)
	}
	copy(m.HiddenBias[lo:hi], acc[:])
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
