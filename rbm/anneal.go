package rbm

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
)

const (
	// annealRows is the smallest number of chains of an annealPart. Each part reads all weights at each
	// step, and the weights may not fit into the second-level cache.
	// At 784×500 units a hundred chains on one processor take 6 % longer in parts of 25 than in
	// parts of 50 or 100.
	annealRows = 25
	// annealSteps is the number of steps of a stretch. The log weights are checked after each stretch. A stretch
	// of a hundred chains at 784×500 units takes about ten milliseconds.
	annealSteps = 64
)

// An annealing moves chains along a path of inverse temperatures and computes the increases (gains) of their
// log weights: see Anneal. One up pass computes the gain and draws the hidden states. With increasing β this
// is annealed importance sampling. With decreasing β it is the exact reverse, because the move at each β is
// reversible.
type annealing struct {
	path   []float64 // inverse temperatures, each exact in float32
	key    Key
	parts  []annealPart
	gains  [][]float64 // steps of the current stretch × chains
	lo, hi int         // the stretch: steps lo … hi−1 lead to path[lo+1] … path[hi]
	ctx    context.Context
	loop   parallel.Loop
	group  *ranks.Group
	table  []float64 // working memory of gather
}

// An annealPart moves some of the chains. It draws v|h by an up pass of the mirrored model, whose sums are
// those of a down pass of the model. As the model is fixed, W is transposed only once, not at every step.
type annealPart struct {
	up, down *pass // passes of the model and of the mirrored model
	gains    hiddenGain
	first    int       // number of the first chain
	slope    []float64 // b − b₀, the derivative of the visible biases with respect to β
	beta     []float32
}

// mirror returns m and b with the two layers exchanged.
func (m *RBM) mirror(b *Base) (*RBM, *Base) {
	other := New(m.Hidden(), m.Visible(), 0, Softmax)
	const size = vec.Block * vec.Block
	for k := range vec.Blocks(m.Hidden()) {
		for q := range vec.Blocks(m.Visible()) {
			vec.TransposePanel(other.panel(q)[k*size:], m.panel(k)[q*size:], m.Visible()-q*vec.Block, min(m.Hidden()-k*vec.Block, vec.Block))
		}
	}
	copy(other.VisibleBias, m.HiddenBias)
	copy(other.HiddenBias, m.VisibleBias)
	other.visible, other.hidden = m.hidden, m.visible
	if b != nil {
		b = &Base{VisibleBias: b.HiddenBias, HiddenBias: b.VisibleBias, VisibleParams: b.HiddenParams, HiddenParams: b.VisibleParams}
	}
	return other, b
}

// annealPartRows returns the number of chains of a part. It gives every processor a part if there are
// enough chains. Results do not depend on the number.
func annealPartRows(rows int) int {
	return min(chunkRows, max(annealRows, ceilDiv(rows, runtime.GOMAXPROCS(0))))
}

// Anneal moves chains, whose visible states are the rows of v, along a path of inverse
// temperatures between base (nil: the uniform distribution) and m. The temperatures must be exact in
// float32. For each step k, from β = path[k] to β′ = path[k+1], it calls look, in order, with the
// gain of the log weight of each chain. The gain at v is
//
//	log p*_β′(v) − log p*_β(v),   p*_β(v) = Σ_h exp(−E_β(v,h)).
//
// After each step except the last, a Gibbs step at β′ (h|v, then v|h) overwrites v. look must not
// keep its argument. If progress is not nil, it is called from time to time with the number of
// steps done. The error is that of ctx, or wraps ErrDiverged and names the β at which a gain is
// not finite. Anneal panics if the shape of v or base is not that of m, or if m has a constraint
// on all units. Results are bit-identical for equal arguments, at any GOMAXPROCS.
func Anneal(ctx context.Context, m *RBM, base *Base, path []float64, v Values, key Key, look func(step int, gains []float64), progress func(steps int)) error {
	return AnnealRanks(ctx, nil, m, base, path, v, key, look, progress)
}

// AnnealRanks divides the chains of Anneal among the ranks of g, with bit-identical results. Each
// rank moves its rows of v (see Group.Rows) and does not change the others. look gets
// the gains of all rows on every rank. All arguments except ctx must be the same on every rank. If
// the ctx of one rank is done, AnnealRanks returns on all ranks.
func AnnealRanks(ctx context.Context, g *ranks.Group, m *RBM, base *Base, path []float64, v Values, key Key, look func(step int, gains []float64), progress func(steps int)) error {
	m.checkStates(v)
	base.mustFit(m)
	m.mustStep("Anneal")
	base = m.baseOr(base)
	return newAnnealing(g, m, base, path, v, key).run(ctx, look, progress)
}

func newAnnealing(g *ranks.Group, m *RBM, base *Base, path []float64, v Values, key Key) *annealing {
	a := &annealing{path: path, key: key, group: g}
	a.loop.Body = a.runPart
	biases := base
	if biases == nil {
		biases = UniformBase(m)
	}
	slope := make([]float64, m.Visible())
	for i, b := range m.VisibleBias {
		slope[i] = float64(b) - float64(biases.VisibleBias[i])
	}
	mirror, mirrorBase := m.mirror(base)
	begin, end := g.Rows(v.Rows)
	size := annealPartRows(end - begin)
	for lo := begin; lo < end; lo += size {
		hi := min(lo+size, end)
		p := annealPart{
			up: newPass(), down: newPass(), first: lo, slope: slope,
			beta: make([]float32, hi-lo), gains: newHiddenGain(biases.HiddenBias, hi-lo),
		}
		h := m.NewHidden(hi - lo)
		p.up.base, p.up.first, p.up.v, p.up.h = base, lo, v.Slice(lo, hi), h
		p.up.grow(m, hi-lo)
		p.down.base, p.down.first, p.down.v, p.down.h = mirrorBase, lo, h, p.up.v
		p.down.grow(mirror, hi-lo)
		p.up.beta, p.down.beta, p.down.draw = p.beta, p.beta, true
		a.parts = append(a.parts, p)
	}
	for range min(annealSteps, a.steps()) {
		a.gains = append(a.gains, make([]float64, v.Rows))
	}
	return a
}

func (a *annealing) steps() int { return len(a.path) - 1 }

// run moves the chains along the path. Its arguments and error are those of Anneal.
func (a *annealing) run(ctx context.Context, look func(step int, gains []float64), progress func(steps int)) error {
	a.ctx = ctx
	for a.hi = 0; a.hi < a.steps(); {
		a.lo, a.hi = a.hi, min(a.hi+annealSteps, a.steps())
		a.loop.Run(len(a.parts), parallel.Always)
		if err := a.group.Done(ctx); err != nil {
			return err
		}
		if err := a.gather(); err != nil {
			return err
		}
		for k := a.lo; k < a.hi; k++ {
			gains := a.gains[k-a.lo]
			for _, g := range gains {
				if math.IsNaN(g) || math.IsInf(g, 0) {
					return fmt.Errorf("%w: a log weight is %v at β = %v", ErrDiverged, g, a.path[k+1])
				}
			}
			look(k, gains)
		}
		if progress != nil {
			progress(a.hi)
		}
	}
	return nil
}

// gather exchanges the gains of the stretch among the ranks.
func (a *annealing) gather() error {
	if a.group.Size() == 1 {
		return nil
	}
	steps, rows := a.hi-a.lo, len(a.gains[0])
	if len(a.table) < steps*rows {
		a.table = make([]float64, steps*rows)
	}
	table := a.table[:steps*rows] // rows × steps, so that the rows of a rank are contiguous
	for k, gains := range a.gains[:steps] {
		for r, x := range gains {
			table[r*steps+k] = x
		}
	}
	if err := ranks.GatherRows(a.group, table, rows); err != nil {
		return err
	}
	for k, gains := range a.gains[:steps] {
		for r := range gains {
			gains[r] = table[r*steps+k]
		}
	}
	return nil
}

// runPart moves the chains of part i through the stretch.
func (a *annealing) runPart(i int) {
	p := &a.parts[i]
	for k := a.lo; k < a.hi && a.ctx.Err() == nil; k++ {
		p.gain(a.gains[k-a.lo][p.first:], a.path[k], a.path[k+1], a.key.Child(uint64(2*k)), k+1 < a.steps())
		if k+1 < a.steps() {
			p.moveVisible(a.key.Child(uint64(2*k + 1)))
		}
	}
}

// gain overwrites dst with the gains of the part's chains from β = from to
// β = to. If draw is set, it draws their hidden states at β = to.
func (p *annealPart) gain(dst []float64, from, to float64, key Key, draw bool) {
	up := p.up
	p.gains.from, p.gains.to = from, to
	for r := range p.beta {
		p.beta[r] = float32(to)
	}
	up.gain, up.draw = &p.gains, draw
	up.stream = key.stream()
	up.runUp(up.v)
	for r := range up.v.Rows {
		rise := 0.0
		if up.v.IsReal() {
			base := up.base.visible()
			rise = up.m.visible.weight(&up.v, r, &up.m.visible.dist) - up.m.visible.weight(&up.v, r, &base)
		} else {
			rise = maskedSums(p.slope, up.v.Row(r))
		}
		dst[r] = float64((to-from)*rise) + p.gains.row(r)
	}
}

// moveVisible draws v|h at the β of the last call of gain.
func (p *annealPart) moveVisible(key Key) {
	down := p.down
	down.stream = key.stream()
	down.runUp(down.v)
}

// A hiddenGain holds for each row the increase, between two inverse temperatures, of the logarithm of the
// sum over hidden states. An up pass computes these increases.
type hiddenGain struct {
	from, to     float64 // inverse temperatures
	rows, panels int
	bias         []float32 // c₀, the hidden biases of the base
	sum, product []float64 // results of units.Kind.Rises, panels × rows
}

func newHiddenGain(bias []float32, rows int) hiddenGain {
	n := vec.Blocks(len(bias))
	return hiddenGain{rows: rows, panels: n, bias: bias, sum: make([]float64, n*rows), product: make([]float64, n*rows)}
}

// row returns the gain of row r, summed panel by panel. Each element of product lies between 2⁻⁶⁴ and 2⁶⁴, so
// fourteen of them can be multiplied within the range of float64.
func (g *hiddenGain) row(r int) float64 {
	const together = 14
	sum, product := 0.0, 1.0
	for k := range g.panels {
		sum += g.sum[k*g.rows+r]
		product *= g.product[k*g.rows+r]
		if k%together == together-1 {
			sum += Log(product)
			product = 1
		}
	}
	return sum + Log(product)
}
