package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
)

// learning computes the steps of the precisions γᵢ of Gaussian visible units i. Its coordinates are
// those of Liao et al. (Gaussian-Bernoulli RBMs without tears, 2022, equation 1): log γᵢ and the mean
// (bᵢ + Σⱼ Wᵢⱼhⱼ)/γᵢ of the unit given h. A step δᵢ of log γᵢ keeps this mean, so it multiplies γᵢ,
// bᵢ and the row Wᵢ by e^δᵢ. Let G_W and G_b be the gradients with respect to W and b. The gradient
// with respect to log γᵢ is
//
//	Σⱼ Wᵢⱼ(G_W)ᵢⱼ + bᵢ(G_b)ᵢ − ½γᵢ(⟨vᵢ²⟩⁺ − ⟨vᵢ²⟩⁻)
//
// where ⟨·⟩⁺ is the positive and ⟨·⟩⁻ the negative phase. This gradient needs the gradients of all weights of
// the unit, so the multiplication by e^δᵢ is a second pass over the weights.
//
// A part is the weights between one panel of hidden units and one block of 64 visible units.
type learning struct {
	squares []float64 // for each visible unit: rate times (⟨v²⟩⁺ − ⟨v²⟩⁻)
	gains   []float64 // for each visible unit: the step of log γ without the sum over weights
	rows    []float64 // for each part and each of its visible units: Σⱼ Wᵢⱼ(step of Wᵢⱼ)
	steps   []float32 // step of log γ from the gradient; afterwards steps of other parameters
	moved   []float32 // step of log γ after the rule: δ
	growth  []float32 // e^δ − 1
	loop    parallel.Loop
}

// learns reports whether the ascent updates precisions.
func (a *Ascent) learns() bool { return a.ParamRates != nil && len(a.to.tensors[VisibleParam]) > 0 }

// begin allocates memory and clears the sums, before the first chunk of rows.
func (l *learning) begin(a *Ascent) {
	blocks := vec.Blocks(a.m.Visible())
	l.squares, l.gains = zeros(l.squares, blocks*vec.Block), grown(l.gains, a.m.Visible())
	l.rows = zeros(l.rows, a.parts(a.m)*vec.Block)
	if l.loop.Body == nil {
		l.loop.Body = a.growPart
	}
}

// addSquares adds c·v² to squares, where v has the visible units from lo on of one row.
func (l *learning) addSquares(lo int, v []float32, c float32) {
	for i, x := range v {
		l.squares[lo+i] += float64(float64(c) * float64(float64(x)*float64(x)))
	}
}

// gain computes gains. step has the steps of the visible biases from both phases.
func (l *learning) gain(a *Ascent, step []float64) {
	for p, s := range a.moments {
		if s != nil {
			for i, x := range s.Squares {
				l.squares[i] += float64(a.rates[p] * float64(x))
			}
		}
	}
	precision := a.to.tensors[VisibleParam]
	for i, x := range step {
		l.gains[i] = float64(float64(a.m.VisibleBias[i])*x) - float64(float64(precision[i])*l.squares[i]/2)
	}
}

// addRows computes rows for one part. w has its weights before the ascent, and steps their steps.
func (l *learning) addRows(part int, w, steps []float32) {
	for r := range len(steps) / vec.Block {
		sum := 0.0
		w, steps := w[r*vec.Block:][:vec.Block], steps[r*vec.Block:][:vec.Block]
		for j, x := range steps {
			sum += float64(float64(x) * float64(w[j]))
		}
		l.rows[part*vec.Block+r] = sum
	}
}

// gatherRows exchanges rows among the ranks of the group, each of which has computed its own parts.
func (a *Ascent) gatherRows() error {
	ends := make([]int, a.Group.Size())
	for r := range ends {
		ends[r] = (r + 1) * a.parts(a.m) / len(ends) * vec.Block
	}
	return ranks.Gather(a.Group, a.learning.rows, ends)
}

// growParts updates the precisions and biases of the visible units, and the weights of parts
// lo … hi−1. In a group of ranks the results of units outside of these parts have no meaning.
func (a *Ascent) growParts(lo, hi int) {
	l, m := &a.learning, a.m
	n, blocks := m.Visible(), vec.Blocks(m.Visible())
	l.steps, l.moved, l.growth = grown(l.steps, n), zeros(l.moved, n), grown(l.growth, n)
	for i, precision := range a.to.tensors[VisibleParam] {
		if l.steps[i] = 0; precision == 0 { // a unit of another kind
			continue
		}
		sum := l.gains[i]
		for at := i; at < len(l.rows); at += blocks * vec.Block {
			sum += l.rows[at]
		}
		l.steps[i] = float32(sum * float64(a.ParamRates[i]))
	}
	b := &a.block
	b.set(a, VisibleParam, 0, n)
	b.Parameters, b.Rest, b.Step = l.moved, nil, l.steps
	a.rule.Apply(b)
	for i, x := range l.moved {
		l.growth[i] = float32(vec.Exp(float64(x)) - 1)
	}
	for _, t := range [...]Tensor{VisibleParam, VisibleBias} {
		for i, x := range a.to.tensors[t] {
			l.steps[i] = x * l.growth[i]
		}
		b.set(a, t, 0, n)
		b.Advance(l.steps)
		a.follow(b)
	}
	a.lo, a.hi = lo, hi
	l.loop.Run(hi-lo, sweepWork*len(m.w))
}

// growPart updates the weights of part a.lo+i.
func (a *Ascent) growPart(i int) {
	m, blocks := a.m, vec.Blocks(a.m.Visible())
	k, from := (a.lo+i)/blocks, (a.lo+i)%blocks*vec.Block
	tile := ascentTiles.Get().(*ascentTile)
	units := min(vec.Block, m.Visible()-from)
	lo := (k*m.rows + from) * vec.Block
	steps := tile.steps[:units*vec.Block]
	for r, g := range a.learning.growth[from:][:units] {
		for j, w := range m.w[lo+r*vec.Block:][:vec.Block] {
			steps[r*vec.Block+j] = w * g
		}
	}
	tile.block.set(a, Weights, lo, lo+len(steps))
	tile.block.Advance(steps)
	a.follow(&tile.block)
	tile.block = Block{}
	ascentTiles.Put(tile)
}
