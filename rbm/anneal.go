package rbm

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

const (
	// annealRows is the least number of chains that one part of an annealing run
	// carries. Each part reads all weights at each step, from beyond the second-
	// level cache if they are many: at 784×500 a hundred chains on one processor
	// take 6 % longer in parts of 25 than in parts of 50 or 100.
	annealRows = 25
	// annealSteps is the number of steps between two looks at the weights of
	// all chains: some ten milliseconds of a hundred chains at 784×500.
	annealSteps = 64
)

// An annealing takes chains along a path of inverse temperatures and gathers
// the gains of their log weights. From v at a step from β to β' a chain gains
//
//	log p*_β'(v) − log p*_β(v),   p*_β(v) = Σ_h exp(−E_β(v,h)),
//
// and then, but after the last step, moves by h|v and v|h at β'. One up pass
// yields the gain and h. Up the path this is annealed importance sampling, down
// the path its exact reverse: the move at each β is its own reverse.
type annealing struct {
	path   []float64 // β by β, each a float32
	key    Key
	parts  []annealPart
	gains  [][]float64 // of each step of the stretch that is running: of each chain
	lo, hi int         // that stretch: steps lo … hi−1 lead to path[lo+1] … path[hi]
	ctx    context.Context
	loop   parallel.Loop
}

// annealPart is what carries some of the chains. The model stays as it is for
// many steps, so the way down is an up pass of its mirror: the sums are those of
// a down pass, but Wᵀ is made once and not turned at every step.
type annealPart struct {
	up, down *layers // of the model, of its mirror
	rise     rise
	first    int       // chain
	slope    []float64 // b − b₀: ∂E_β/∂β of the visible biases, negated
	beta     []float32
}

// mirror returns m with its layers exchanged, and b likewise. Labels become
// plain hidden units.
func (m *RBM) mirror(b *Base) (*RBM, *Base) {
	w, t := NewMatrix(m.Visible(), m.Hidden()), NewMatrix(m.Hidden(), m.Visible())
	m.Weights(w)
	for i := range w.Rows {
		for j, x := range w.Row(i) {
			t.Data[j*t.Cols+i] = x
		}
	}
	other := New(m.Hidden(), m.Visible(), 0, Softmax)
	other.SetWeights(t)
	copy(other.VisibleBias, m.HiddenBias)
	copy(other.HiddenBias, m.VisibleBias)
	if b != nil {
		b = &Base{VisibleBias: b.HiddenBias, HiddenBias: b.VisibleBias}
	}
	return other, b
}

// annealPartRows returns the number of chains that a part carries: as many as
// keep every processor busy. It shapes no sum and no draw.
func annealPartRows(rows int) int {
	return min(chunkRows, max(annealRows, ceilDiv(rows, runtime.GOMAXPROCS(0))))
}

// Anneal takes the rows of v, visible states, along a path of inverse
// temperatures between base (nil: the uniform law) and m, whose values are
// float32, and calls look with the gains of the log weights of each step k, which
// leads from path[k] to path[k+1], in order. A row's gain at v is
//
//	log p*_β'(v) − log p*_β(v),   p*_β(v) = Σ_h exp(−E_β(v,h)).
//
// After each step but the last v is overwritten with a Gibbs step's v at β'. look
// must not keep its argument. progress, if not nil, is called now and then with
// the number of steps done. The error says that the context has ended, or wraps
// ErrDiverged and says at which β a gain is not finite. It panics if v or base is
// of another shape than m, or m has a constraint on all units. Equal arguments
// give equal bits at any GOMAXPROCS.
func Anneal(ctx context.Context, m *RBM, base *Base, path []float64, v Bits, key Key, look func(step int, gains []float64), progress func(steps int)) error {
	m.checkInput(v.Input())
	base.mustFit(m)
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		panic("rbm: Anneal is not for models with a constraint on all units")
	}
	return newAnnealing(m, base, path, v, key).run(ctx, look, progress)
}

// newAnnealing prepares to take the rows of v, which it moves, along path.
func newAnnealing(m *RBM, base *Base, path []float64, v Bits, key Key) *annealing {
	a := &annealing{path: path, key: key}
	a.loop.Body = a.part
	biases := base
	if biases == nil {
		biases = uniformBase(m)
	}
	slope := make([]float64, m.Visible())
	for i, b := range m.VisibleBias {
		slope[i] = float64(b) - float64(biases.VisibleBias[i])
	}
	mirror, mirrorBase := m.mirror(base)
	size := annealPartRows(v.Rows)
	for lo := 0; lo < v.Rows; lo += size {
		hi := min(lo+size, v.Rows)
		p := annealPart{
			up: newLayers(), down: newLayers(), first: lo, slope: slope,
			beta: make([]float32, hi-lo), rise: newRise(m, biases.HiddenBias, hi-lo),
		}
		h := NewBits(hi-lo, m.Hidden())
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

// steps returns the number of steps of the path.
func (a *annealing) steps() int { return len(a.path) - 1 }

// run walks the path and calls look with the gains of each step, in order.
// progress, if not nil, is called now and then with the number of steps done.
// An error says that the context has ended, or at which β a gain is not finite.
func (a *annealing) run(ctx context.Context, look func(step int, gains []float64), progress func(steps int)) error {
	a.ctx = ctx
	for a.hi = 0; a.hi < a.steps(); {
		a.lo, a.hi = a.hi, min(a.hi+annealSteps, a.steps())
		a.loop.Run(len(a.parts), parallel.Always)
		if err := ctx.Err(); err != nil {
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

// part takes the chains of part i through the stretch.
func (a *annealing) part(i int) {
	p := &a.parts[i]
	for k := a.lo; k < a.hi && a.ctx.Err() == nil; k++ {
		p.gain(a.gains[k-a.lo][p.first:], a.path[k], a.path[k+1], a.key.Child(uint64(2*k)), k+1 < a.steps())
		if k+1 < a.steps() {
			p.moveVisible(a.key.Child(uint64(2*k + 1)))
		}
	}
}

// gain overwrites dst, of the part's chains, with their gains from β = from to
// β = to, and draws their hidden states at to if draw is set.
func (p *annealPart) gain(dst []float64, from, to float64, key Key, draw bool) {
	l := p.up
	p.rise.set(from, to)
	for r := range p.beta {
		p.beta[r] = float32(to)
	}
	l.rise, l.draw = &p.rise, draw
	l.stream = key.stream()
	l.listActive(l.v.Input(), false)
	l.runUp()
	for r := range l.v.Rows {
		dst[r] = float64((to-from)*maskedSums(p.slope, l.v.Row(r))) + p.rise.sum(r)
	}
}

// moveVisible draws v|h at the β that gain has drawn h at.
func (p *annealPart) moveVisible(key Key) {
	l, m := p.down, p.up.m
	l.stream = key.stream()
	l.listActive(l.v.Input(), false)
	l.runUp()
	// Softmax units, drawn as if they were independent, give way to one of them.
	for _, g := range m.softmaxes() {
		for r := range l.h.Rows {
			x := p.up.preactivations(g, r)
			l.gather(x, g, r)
			g.clear(l.h, r)
			p.up.drawSoftmax(g, x, l.h, r, l.stream)
		}
	}
}

// A rise is what the hidden units gain in an up pass: Σⱼ log(1+e^xⱼ) between
// two places on the path, xⱼ = β·aⱼ + (1−β)·c₀ⱼ.
type rise struct {
	from, to  float64
	rows      int
	bias      []float32            // c₀
	fromShift [][vec.Block]float64 // (1−β)·c₀, panel by panel
	toShift   [][vec.Block]float64
	factor    []float64 // as vec.Rises gives them: of each panel, of each row
	part      []float64
	shell     []float64 // under a constraint: what each row gains; else nil
}

func newRise(m *RBM, bias []float32, rows int) rise {
	n := vec.Blocks(len(bias))
	var shell []float64
	if m.Constraint != nil {
		shell = make([]float64, rows)
	}
	return rise{
		shell: shell,
		rows:  rows, bias: bias,
		fromShift: make([][vec.Block]float64, n), toShift: make([][vec.Block]float64, n),
		factor: make([]float64, n*rows), part: make([]float64, n*rows),
	}
}

func (s *rise) set(from, to float64) {
	s.from, s.to = from, to
	for j, c := range s.bias {
		s.fromShift[j/vec.Block][j%vec.Block] = float64((1 - from) * float64(c))
		s.toShift[j/vec.Block][j%vec.Block] = float64((1 - to) * float64(c))
	}
}

// panel takes the gains of panel k, n rows from lo on, from preactivations.
// Units that do not exist have none and gain nothing.
func (s *rise) panel(acts []float32, k, lo, n int) {
	at := k*s.rows + lo
	vec.Rises(s.factor[at:], s.part[at:], acts, s.from, s.to, &s.fromShift[k], &s.toShift[k], n)
}

// sum returns what row r gains, panel by panel. A factor lies between 2⁻⁶⁴ and
// 2⁶⁴, so fourteen of them fit before a logarithm must be taken.
func (s *rise) sum(r int) float64 {
	if s.shell != nil {
		return s.shell[r]
	}
	const together = 14
	sum, prod := 0.0, 1.0
	for k := range s.toShift {
		sum += s.part[k*s.rows+r]
		prod *= s.factor[k*s.rows+r]
		if k%together == together-1 {
			sum += Log(prod)
			prod = 1
		}
	}
	return sum + Log(prod)
}
