package rbm

import (
	"math"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
	"gorbm/rbm/units"
)

// An Ascent updates the parameters of a model along estimates of the gradient of its
// likelihood. The fields add an optimiser, centring, decay and averages to plain ascent, which is
// the zero value. All these operations are done in one pass over the parameters, block by block in the
// first-level cache. Fields may change between steps. An Ascent keeps its working memory, so a step allocates
// nothing; it is not for concurrent use.
type Ascent struct {
	// Mu and Lambda are the offsets of the centred gradient, one for each visible and
	// each hidden unit; nil: the plain gradient. With the plain gradient G_W, G_b, G_c the steps are
	//
	//	ΔW = G_W − mu·G_cᵀ − G_b·lambdaᵀ,  Δb = G_b − ΔW·lambda,  Δc = G_c − ΔWᵀ·mu
	//
	// (Melchior, Fischer & Wiskott 2016, equations 12 to 14, for parameters without offsets).
	Mu, Lambda []float32

	// Rule turns the step along the gradient into the step of the parameters; nil means no change
	// of the step. Slots is the state of the rule, and has Rule.Slots() elements. Update is the number of
	// earlier updates, for rules that depend on it.
	Rule   Rule
	Slots  []*Parameters
	Update int

	// After the step, weights shrink by the fraction L2, and then move towards zero by at most
	// L1. Biases do not decay.
	L1, L2 float32
	// Sparse is subtracted from the hidden biases.
	Sparse float32

	// ParamRates[i], times the rate, is the rate for the precision γ of Gaussian visible unit i. Elements of
	// other units are ignored. nil: precisions are fixed. A step of log γ multiplies γ, the bias and the weights
	// of the unit by the same factor, so that its mean given h does not change.
	ParamRates []float32

	// Average, if not nil, is a moving average. A step moves it by the fraction AverageShare of its
	// distance towards the new parameters.
	Average      *Parameters
	AverageShare float32

	// Rest and AverageRest, if not nil, keep the rounding errors of the steps of the parameters
	// and of the average, and add them to later steps.
	Rest, AverageRest *Parameters

	// Group divides the step among ranks, with the same result; nil: one process. A part has the weights between
	// 64 hidden and 64 visible units. Each rank updates the weights and biases of its parts, and then the ranks
	// exchange all parameters. A Group therefore saves time only if the phases have many rows. Every rank must
	// call Step with the same arguments.
	Group *ranks.Group

	ascentWork
}

// Step adds rate · (pos − share·neg) to the parameters of m. With a zero Ascent this is
//
//	W += rate(⟨vhᵀ⟩⁺ − share⟨vhᵀ⟩⁻),  b += rate(⟨v⟩⁺ − share⟨v⟩⁻),  c += rate(⟨h⟩⁺ − share⟨h⟩⁻)
//
// share is 1 for the log-likelihood. For an Objective it is the weight of the generative term, and pos is an
// ObjectivePhase.
//
// Each step is summed separately and added to the parameter once. A step is a sum over the rows of both
// phases: over runs of rows in float32 (vec.Sums), then over groups of runs in float32, then over chunks of
// groups in float64. Within a chunk the phases alternate. Moments are added last, pos before neg. Steps below
// vec.Tiny in absolute value count as zero.
//
// If both phases have similar numbers of rows, the rounding error of a step is at most about 10⁻⁷ times
// rate·⟨vhᵀ⟩⁺. The error is up to 5·10⁻⁷ times rate·⟨vhᵀ⟩⁺ if all hidden means are nearly equal, and one
// phase is Moments or has many times the rows of the other. Rounding errors of equal terms do not average
// out. If weights of particles have both signs and nearly cancel, the error is proportional to Σ|weight|.
//
// Step panics if the shapes differ. It returns an error if communication between the ranks of Group
// fails; the parameters are then undefined.
func (a *Ascent) Step(m *RBM, rate, share float32, pos, neg Phase) error {
	parts := a.parts(m)
	defer a.release()
	if a.Group.Size() == 1 {
		a.step(m, 0, parts, rate, share, pos, neg)
		if a.learns() {
			a.growParts(0, parts)
		}
		return nil
	}
	lo, hi := a.Group.Rows(parts)
	a.step(m, lo, hi, rate, share, pos, neg)
	if a.learns() {
		if err := a.gatherRows(); err != nil {
			return err
		}
		a.growParts(lo, hi)
	}
	return a.gather(m)
}

// parts returns the number of parts of the weights. A part has the weights between a panel of
// hidden units and a block of visible units. Parts are ordered panel by panel, as in memory.
func (a *Ascent) parts(m *RBM) int { return vec.Blocks(m.Hidden()) * vec.Blocks(m.Visible()) }

// step is Step for the parts lo … hi−1 of the weights and for the biases of their units. The biases of other
// visible units become undefined.
func (a *Ascent) step(m *RBM, lo, hi int, rate, share float32, pos, neg Phase) {
	a.check(m)
	a.m, a.to, a.rate, a.rule = m, m.parameters(), rate, a.Rule
	if a.rule == nil {
		a.rule = plain{}
	}
	if a.adder, _ = a.rule.(Adder); a.learns() { // learning needs the steps themselves
		a.adder = nil
	}
	blocks := vec.Blocks(m.Visible())
	a.lo, a.hi = lo, hi
	panels, listed := (hi+blocks-1)/blocks-lo/blocks, min(blocks, hi-lo)
	if a.Mu != nil { // a hidden bias needs v_s·mu over all visible units: see centring
		listed = blocks
	}
	if hi == lo {
		panels = 0
	}
	if a.list.Body == nil {
		a.list.Body, a.move.Body = a.listPart, a.movePart
		// The last panel is in the cache after an up pass, and the next up pass begins with
		// the first.
		a.move.Reverse = true
	}
	down := float64(rate) * float64(share)
	a.rates, a.moments = [2]float64{float64(rate), -down}, [2]*Moments{pos.Moments, neg.Moments}
	a.phases = [2]particles{m.particles(float64(rate), pos), m.particles(-down, neg)}
	a.visible = zeros(a.visible, vec.Blocks(m.Visible())*vec.Block)
	a.hidden = zeros(a.hidden, vec.Blocks(m.Hidden())*vec.Block)
	a.slopes.begin(a, [2]Phase{pos, neg})
	centred := a.Mu != nil
	if centred {
		a.centring.begin(a)
	}
	if a.learns() {
		a.learning.begin(a)
	}
	for a.first, a.last = true, false; !a.last; a.first = false {
		a.fill()
		a.last = a.phases[0].left == 0 && a.phases[1].left == 0
		a.grow()
		work := len(a.coef) * m.Visible() * m.Hidden()
		if a.last && a.moments != [2]*Moments{} {
			work += 8 * m.Visible() * m.Hidden()
		}
		if centred {
			a.centring.hiddenParts(&a.ascentWork, m.Hidden())
		}
		a.list.Run(listed, work/ascentLists/blocks*listed)
		if centred {
			a.centring.visibleParts(len(a.coef))
		}
		if a.last {
			a.moveVisible()
		}
		a.move.Run(panels, work/a.parts(m)*(hi-lo))
	}
}

// ascentWork is the working memory of a step. A slot is one row of either phase whose weight is not
// zero. A chunk has the slots that are processed together.
type ascentWork struct {
	rates       [2]float64 // signed rates of the positive and the negative phase; the second is negative
	phases      [2]particles
	moments     [2]*Moments
	first, last bool // whether the current chunk is the first or the last
	lo, hi      int  // range of parts of the weights to update

	m     *RBM
	to    Parameters // the parameters of m
	rate  float32
	rule  Rule
	adder Adder // the rule, if it is an Adder
	block Block // the block of visible biases

	// One element for each slot of the chunk. A word has 64 slots; the last word is padded with empty
	// slots.
	coef   []float32   // rate·weight, negative in the negative phase
	bias   []float32   // the same for the visible biases, which may have other weights
	v      [][]uint64  // visible words; nil if the slot has real values
	grey   [][]float32 // visible values; nil if the slot has bits
	runs   []slotRun   // hidden means
	used   []uint32    // offsets in ascentTile.g of the rows that count for the hidden biases
	groups []slotGroup

	mask   []uint64  // for each block of visible units: a word of units for each slot; once transposed, a word of slots for each unit
	lists  []uint32  // for each block and group of real values: for each unit, the slots in which it is not zero
	values []float32 // visible values of the slots in lists
	cuts   []uint32  // for each block and group of real values: index in lists where each unit ends

	visible, hidden []float64 // steps of the biases
	total           []float64 // steps of the weights in the chunks so far, in the panels' order
	narrow          []float32 // visible, rounded to float32
	centring        centring
	learning        learning
	slopes          slopes

	list, move parallel.Loop
}

// A slotRun is a sequence of slots whose hidden means are contiguous rows of memory.
type slotRun struct {
	lo, hi int       // slots lo … hi−1
	h      []float32 // the first row of hidden means starts here
}

// A slotGroup is a range of words of slots whose rows of ascentTile.g fit into the first-level
// cache. All visible units are updated from one group before the next.
type slotGroup struct {
	word, words int
	grey        bool // the slots have real values
}

const (
	// groupWords is the number of words of a group.
	groupWords = vec.RowSumsWords
	// fewWords is the largest number of words of a chunk that is a single group. Some of its rows
	// of g come from the second-level cache, but the steps of the weights need no second pass. At
	// batch 100 (784 × 500 units, Zen 4) an ascent takes 3 % less time than with two groups; at
	// batch 1000 it would take 5 % more.
	fewWords = vec.SumsWords
	// groupSlots is the number of slots of a group.
	groupSlots = groupWords * vec.Block
	// chunkSlots is the largest number of slots of a chunk. It bounds the memory of an ascent.
	// Sixteen groups are few enough to be added in float32.
	chunkSlots = 16 * groupSlots
	// tileBlocks is the number of blocks of visible units that one group of
	// slots updates before the next group does. The steps of their weights, a quarter of a megabyte,
	// stay in the second-level cache.
	tileBlocks = 16
	// ascentLists is the cost of an ascent divided by the cost of listing the slots in which each
	// visible unit is not zero.
	ascentLists = 8
	// An ascent with more than cachedWeights weights prefetches weights rowsAhead rows ahead. At
	// 784 × 4096 and 784 × 16384 units, batch 100, that saves a quarter of the time; at 784 × 500 it
	// would cost 2 % (Zen 4).
	cachedWeights = 1 << 20
	rowsAhead     = 8
)

// An ascentTile is the working memory of one goroutine for a panel. It is reused, so it stays
// in the second-level cache.
type ascentTile struct {
	// Steps of the weights between the panel and some blocks of visible units. The field is the
	// first one so that it starts at a cache line.
	steps [tileBlocks * vec.Block * vec.Block]float32
	g     []float32          // coef·h, a row for each slot of the chunk
	short [vec.Block]float32 // steps of the hidden biases
	block Block              // the block that is being updated
}

var ascentTiles = sync.Pool{New: func() any { return new(ascentTile) }}

// particles is a phase whose rows are assigned to slots.
type particles struct {
	v      Values
	grey   bool
	h      Matrix
	weight []float32 // nil: all equal
	bias   []float32 // weights for the visible biases; nil: weight
	count  int       // number of rows, from the first on, that count for the hidden biases
	rate   float64   // the signed rate; multiplied by the weight if all weights are equal

	rows int     // number of rows whose weight is not zero
	left int     // number of these rows that have no slot yet
	next int     // next row to assign
	lost float64 // rounding error of earlier coefficients rate·weight, carried to later ones
}

// particles returns the particles of p, or none if p has Moments.
func (m *RBM) particles(rate float64, p Phase) particles {
	if s := p.Moments; s != nil {
		if len(s.V) != m.Visible() || len(s.H) != m.Hidden() || s.VH.Rows != m.Visible() || s.VH.Cols != m.Hidden() {
			panic("rbm: moments of another shape than the model")
		}
		if _, ok := m.HiddenKind().(units.LearnedKind); ok && len(s.Slopes) != len(m.HiddenParams()) {
			panic("rbm: moments without the slopes of hidden units")
		}
		return particles{}
	}
	p.check(m.Visible(), m.Hidden())
	d := particles{v: p.V, grey: p.V.IsReal(), h: p.H, weight: p.Weight, bias: p.BiasWeight, count: p.H.Rows - p.LabelRows, rate: rate, rows: p.H.Rows}
	if d.weight == nil {
		d.rate *= 1 / float64(d.rows)
	}
	for _, w := range d.weight {
		if w == 0 {
			d.rows--
		}
	}
	d.left = d.rows
	return d
}

// coefficient rounds w, the rate times the weight of a row, to float32. It carries the rounding error
// to a later coefficient that is large enough. Otherwise the errors of many equal weights would add up.
func (d *particles) coefficient(w float64) float32 {
	x := w
	if math.Abs(d.lost) < 0x1p-23*math.Abs(w) {
		x += d.lost
		d.lost = 0
	}
	c := float32(x)
	d.lost += x - float64(c)
	return c
}

// behind returns the phase with the smaller fraction of its rows assigned, or nil if no row is left.
func (a *ascentWork) behind() *particles {
	pos, neg := &a.phases[0], &a.phases[1]
	switch {
	case pos.left == 0 && neg.left == 0:
		return nil
	case neg.left == 0 || pos.left > 0 && float64(pos.left)*float64(neg.rows) >= float64(neg.left)*float64(pos.rows):
		return pos
	}
	return neg
}

// fill assigns rows of both phases to the slots of a new chunk. Up to groupSlots slots form one
// group, unless bits and real values are mixed. With more slots the phases alternate, one word each,
// so that partial sums are about as small as the difference of the phases. Bits and real
// values form separate groups.
func (a *ascentWork) fill() {
	a.coef, a.bias, a.v, a.grey, a.runs, a.used, a.groups = a.coef[:0], a.bias[:0], a.v[:0], a.grey[:0], a.runs[:0], a.used[:0], a.groups[:0]
	pos, neg := &a.phases[0], &a.phases[1]
	mixed := pos.left > 0 && neg.left > 0 && pos.grey != neg.grey
	if few := pos.left + neg.left; few <= groupSlots && !mixed {
		grey := pos.left > 0 && pos.grey || neg.left > 0 && neg.grey
		a.deal(pos, few)
		a.deal(neg, few)
		a.close(0, grey, groupWords)
		return
	}
	together := groupWords
	if vec.Blocks(pos.left)+vec.Blocks(neg.left) <= fewWords {
		together = fewWords
	}
	most := vec.Block
	if mixed {
		most = groupSlots
	}
	for p := a.behind(); p != nil && len(a.coef)+most <= chunkSlots; p = a.behind() {
		word := len(a.coef) / vec.Block
		a.deal(p, most)
		a.close(word, p.grey, together)
	}
}

// deal assigns the next rows of d to slots, to at most the given number of them.
func (a *ascentWork) deal(d *particles, most int) {
	for len(a.v) < len(a.coef) {
		a.v = append(a.v, nil)
	}
	for len(a.grey) < len(a.coef) && d.grey {
		a.grey = append(a.grey, nil)
	}
	skipped := true // the previous row has no slot
	w := d.rate
	for ; most > 0 && d.left > 0; d.next++ {
		if d.weight != nil {
			if w = d.rate * float64(d.weight[d.next]); d.weight[d.next] == 0 {
				skipped = true
				continue
			}
		}
		slot := len(a.coef)
		if skipped {
			a.runs = append(a.runs, slotRun{lo: slot, h: d.h.Data[d.next*d.h.Cols:]})
		}
		skipped = false
		a.runs[len(a.runs)-1].hi = slot + 1
		c := d.coefficient(w)
		a.coef = append(a.coef, c)
		if d.bias != nil {
			c = float32(d.rate * float64(d.bias[d.next]))
		}
		a.bias = append(a.bias, c)
		if d.next < d.count {
			a.used = append(a.used, uint32(slot)*vec.Block)
		}
		if d.grey {
			a.v, a.grey = append(a.v, nil), append(a.grey, d.v.Matrix().Row(d.next))
		} else {
			a.v = append(a.v, d.v.Row(d.next))
		}
		most--
		d.left--
	}
}

// close pads the last word with empty slots, and assigns the words from the given one on to a group. These
// words join the last group if it has the same form, bits or real values, and if its length then does not
// exceed most. Otherwise they form a new group.
func (a *ascentWork) close(word int, grey bool, most int) {
	for len(a.coef)%vec.Block != 0 {
		a.coef, a.bias = append(a.coef, 0), append(a.bias, 0)
	}
	words := len(a.coef)/vec.Block - word
	if words == 0 {
		return
	}
	if n := len(a.groups); n > 0 && a.groups[n-1].grey == grey && a.groups[n-1].words+words <= most {
		a.groups[n-1].words += words
		return
	}
	a.groups = append(a.groups, slotGroup{word, words, grey})
}

// grow allocates memory for the chunk if there is not enough.
func (a *Ascent) grow() {
	m := a.m
	blocks, slots := vec.Blocks(m.Visible()), len(a.coef)
	a.mask = grown(a.mask, blocks*slots)
	for _, g := range a.groups {
		if g.grey {
			a.lists = grown(a.lists, blocks*a.listSize())
			a.values = grown(a.values, blocks*a.listSize())
			a.cuts = grown(a.cuts, blocks*len(a.groups)*(vec.Block+1))
		}
	}
	if a.Mu != nil {
		a.centring.blockProducts = zeros(a.centring.blockProducts, blocks*slots)
	}
	if a.first && !a.last {
		a.total = zeros(a.total, len(m.w))
	}
}

// zeros returns n zeros, in the memory of x if that is enough.
func zeros[T float32 | float64](x []T, n int) []T {
	x = grown(x, n)
	clear(x)
	return x
}

// release drops the references to the caller's memory.
func (a *ascentWork) release() {
	clear(a.runs[:cap(a.runs)])
	clear(a.v[:cap(a.v)])
	clear(a.grey[:cap(a.grey)])
	a.phases = [2]particles{}
	a.moments, a.m, a.to, a.rule, a.adder, a.block = [2]*Moments{}, nil, Parameters{}, nil, nil, Block{}
}

// listSize returns the length of the part of lists for a block of visible units.
func (a *ascentWork) listSize() int { return len(a.coef) * vec.Block }

// unitWords returns the part of mask for block k and group q, once transposed: for each 64 slots, a word for
// each unit of the block.
func (a *ascentWork) unitWords(k, q int) []uint64 {
	g := a.groups[q]
	return a.mask[k*len(a.coef)+g.word*vec.Block:][:g.words*vec.Block]
}

// unitLists returns the parts of lists and values for block k, and the part of cuts for block k and
// group q, a group of slots with real values.
func (a *ascentWork) unitLists(k, q int) (lists []uint32, values []float32, cuts []uint32) {
	const size = vec.Block + 1
	at := k * a.listSize()
	return a.lists[at:][:a.listSize()], a.values[at:][:a.listSize()], a.cuts[(k*len(a.groups)+q)*size:][:size]
}

// greySlots returns the number of slots with real values in a group.
func (a *Ascent) greySlots(g slotGroup) (n int) {
	first := g.word * vec.Block
	for s := first; s < min(first+g.words*vec.Block, len(a.grey)); s++ {
		if a.grey[s] != nil {
			n++
		}
	}
	return n
}

// listPart processes one block of visible units, the i-th of those to update. For each unit of the
// block it lists the slots in which the unit is not zero, and sums the steps of its bias.
func (a *Ascent) listPart(i int) {
	m := a.m
	k := (a.lo + i) % vec.Blocks(m.Visible())
	lo := k * vec.Block
	units := min(vec.Block, m.Visible()-lo)
	mask := a.mask[k*len(a.coef):][:len(a.coef)]
	for s, v := range a.v {
		mask[s] = 0
		if v != nil {
			mask[s] = v[k]
		}
	}
	clear(mask[len(a.v):])
	step := (*[vec.Block]float64)(a.visible[lo:])
	vec.AddWhere(step, mask, a.bias[:len(a.v)])
	c, centred := &a.centring, a.Mu != nil
	var mu []float32
	var rows *[vec.Block]float64
	if centred {
		mu, rows = a.Mu[lo:lo+units], (*[vec.Block]float64)(c.rows[lo:])
		vec.AddWhere(rows, mask, c.h[:len(a.v)])
	}
	for s, v := range a.grey {
		if v != nil {
			mask[s] = vec.NonzeroWord(v[lo : lo+units])
			if a.learns() {
				a.learning.addSquares(lo, v[lo:lo+units], a.bias[s])
			}
		}
	}
	for q := 0; q < len(mask); q += vec.Block {
		vec.Transpose((*[vec.Block]uint64)(mask[q:]))
	}
	end := uint32(0)
	for q, g := range a.groups {
		slot := g.word * vec.Block
		var part []float64
		if centred {
			part = c.blockProducts[k*len(a.coef):][:len(a.coef)]
		}
		if !g.grey {
			for s := slot; centred && s < slot+g.words*vec.Block; s += vec.Block {
				vec.AddWhere((*[vec.Block]float64)(part[s:]), mask[s:][:units], mu)
			}
			continue
		}
		lists, values, cuts := a.unitLists(k, q)
		cuts[0] = end
		vec.Lists(lists, cuts, mask[slot:], 1, vec.Block, units, g.words, uint32(slot*vec.Block))
		end = cuts[units]
		if n := a.greySlots(g); !centred && int(cuts[units]-cuts[0]) == units*n {
			// No value is zero, so the values can be read slot by slot, in the order of memory.
			for p, slot := range lists[cuts[0]:cuts[1]] {
				slot /= vec.Block
				bias := float64(a.bias[slot])
				for i, x := range a.grey[slot][lo : lo+units] {
					values[int(cuts[0])+i*n+p] = x
					step[i] += float64(bias * float64(x))
				}
			}
			continue
		}
		for i := range units {
			for p := cuts[i]; p < cuts[i+1]; p++ {
				slot := lists[p] / vec.Block
				x := a.grey[slot][lo+i]
				values[p] = x
				step[i] += float64(float64(a.bias[slot]) * float64(x))
				if centred {
					rows[i] += float64(float64(c.h[slot]) * float64(x))
					part[slot] += float64(float64(mu[i]) * float64(x))
				}
			}
		}
	}
}

// movePart processes the chunk for the i-th panel that has parts to update. With the last chunk it
// updates the hidden biases of the panel and the weights of these parts.
func (a *Ascent) movePart(i int) {
	m := a.m
	blocks := vec.Blocks(m.Visible())
	k := a.lo/blocks + i
	slots := len(a.coef)
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	tile := ascentTiles.Get().(*ascentTile)
	tile.g = grown(tile.g, slots*vec.Block)
	g := tile.g
	for _, r := range a.runs {
		vec.Scale(g[r.lo*vec.Block:], r.h[lo:], m.Hidden(), a.coef[r.lo:r.hi], hi-lo)
	}
	step, c := a.hidden[lo:lo+vec.Block], &a.centring
	if len(a.used) > 0 {
		vec.RowSums64(step, vec.Block, g, a.used, nil, []uint32{0, uint32(len(a.used))})
	}
	if n := len(c.slots); a.Mu != nil && n > 0 {
		vec.RowSums64(c.cols[lo:], vec.Block, g, c.slots, c.v, []uint32{0, uint32(n)})
	}
	var gc [vec.Block]float32
	if a.last {
		a.moveHidden(tile, &gc, step[:hi-lo], lo, hi)
	}
	first, end := max(0, a.lo-k*blocks), min(blocks, a.hi-k*blocks)
	for from := first; from < end; from += tileBlocks {
		a.moveTile(tile, &gc, k, from, min(from+tileBlocks, end))
	}
	tile.block = Block{}
	ascentTiles.Put(tile)
}

// addMoments adds rate times the moments of both phases to steps of biases. biases selects ⟨v⟩ or ⟨h⟩.
func (a *ascentWork) addMoments(step []float64, biases func(s *Moments) []float32) {
	for k, s := range a.moments {
		if s != nil {
			for i, x := range biases(s)[:len(step)] {
				step[i] += float64(a.rates[k] * float64(x))
			}
		}
	}
}

// moveTile sums the steps of the weights between panel k and the blocks from … to−1 of visible units. With
// the last chunk it updates these weights. gc has G_c of the panel.
func (a *Ascent) moveTile(tile *ascentTile, gc *[vec.Block]float32, k, from, to int) {
	m, g := a.m, tile.g
	const size = vec.Block * vec.Block
	first, end := from*size, min(to*size, m.Visible()*vec.Block)
	at := k*m.rows*vec.Block + first // index of the tile in m.w
	steps := tile.steps[:end-first]
	alone := a.first && a.last && a.moments == [2]*Moments{}
	ahead := 0
	if len(m.w) > cachedWeights {
		ahead = rowsAhead
	}
	for q, group := range a.groups {
		// After this group the steps are complete, so the weights can be updated at once.
		whole := alone && q == len(a.groups)-1
		for b := from; b < to; b++ {
			lo, steps := at+(b-from)*size, steps[(b-from)*size:]
			rows := min(vec.Block, len(steps)/vec.Block)
			steps = steps[:rows*vec.Block]
			// If the rule is an Adder, the kernels add to its numbers directly. That is possible for a single group,
			// or for a last group of bits; with centring only for a single group of bits.
			var w []float32
			if whole && a.adder != nil && (a.Mu == nil || !group.grey) && (q == 0 || a.Mu == nil && !group.grey) {
				tile.block.set(a, Weights, lo, lo+len(steps))
				w = a.adder.AddTo(&tile.block)
			}
			if group.grey {
				to := w
				if w == nil {
					to = steps
				}
				if w == nil && q == 0 {
					clear(steps)
				}
				lists, values, cuts := a.unitLists(b, q)
				vec.AddSumsTimes(to, g, lists, values, cuts[:rows+1], a.greySlots(group))
			} else {
				words, g := a.unitWords(b, q), g[group.word*vec.Block*vec.Block:]
				switch {
				case w != nil && a.Mu != nil:
					mu, gb, lambda := a.offsets(k, b*vec.Block, rows)
					vec.AddCentred(w, g, words, group.words, rows, ahead, mu, gb, gc, lambda)
				case w != nil && q == 0:
					vec.AddSums(w, g, words, group.words, rows, ahead)
				case w != nil:
					vec.AddSumsTo(w, steps, g, words, group.words, rows, ahead)
				case q == 0:
					vec.Sums(steps, g, words, group.words, rows)
				default:
					vec.AddSums(steps, g, words, group.words, rows, 0)
				}
			}
			if w != nil {
				a.apply(&tile.block)
			} else if whole {
				a.moveBlock(tile, steps, gc, k, b, lo)
			}
		}
		if whole {
			return
		}
	}
	if len(a.groups) == 0 {
		clear(steps)
	}
	if a.last {
		for p, s := range a.moments {
			addMoments(steps, k, from, float32(a.rates[p]), s)
		}
	}
	if !a.first || !a.last {
		total := a.total[at:][:len(steps)]
		vec.AddWide(total, steps)
		if !a.last {
			return
		}
		clear(steps)
		vec.AddNarrow(steps, total)
	}
	for b := from; b < to; b++ {
		lo := (b - from) * size
		a.moveBlock(tile, steps[lo:min(lo+size, len(steps))], gc, k, b, at+lo)
	}
}

// moveBlock updates the weights between panel k and block b of visible units by steps, which it
// overwrites. gc has G_c of the panel. lo is the index of the first weight in m.w.
func (a *Ascent) moveBlock(tile *ascentTile, steps []float32, gc *[vec.Block]float32, k, b, lo int) {
	if a.learns() {
		a.learning.addRows(k*vec.Blocks(a.m.Visible())+b, a.m.w[lo:], steps)
	}
	if a.Mu != nil {
		mu, gb, lambda := a.offsets(k, b*vec.Block, len(steps)/vec.Block)
		vec.Centre(steps, mu, gb, gc, lambda)
	}
	a.take(&tile.block, Weights, lo, steps)
}

// offsets returns mu and G_b of visible units first … first+rows−1, and lambda of panel k.
func (a *Ascent) offsets(k, first, rows int) (mu, gb []float32, lambda *[vec.Block]float32) {
	return a.Mu[first:][:rows], a.centring.gb[first:][:rows], (*[vec.Block]float32)(a.centring.lambda[k*vec.Block:])
}

// addMoments adds rate·⟨vhᵀ⟩ to steps, for the hidden units of panel k and the visible units of all
// blocks starting with block from. It does nothing if s is nil.
func addMoments(steps []float32, k, from int, rate float32, s *Moments) {
	if s == nil {
		return
	}
	width := min(vec.Block, s.VH.Cols-k*vec.Block)
	vec.AddTimes(steps, vec.Block, s.VH.Data[from*vec.Block*s.VH.Cols+k*vec.Block:], s.VH.Cols, rate, len(steps)/vec.Block, width)
}
