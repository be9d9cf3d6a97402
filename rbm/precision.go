package rbm

import (
	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/ranks"
)

// learning is what an ascent needs that moves the precisions γ of Gaussian units. Its coordinates are
// those of Liao et al. (Gaussian-Bernoulli RBMs without tears, 2022, equation 1): log γᵢ, and the mean
// (bᵢ + Σⱼ Wᵢⱼhⱼ)/γᵢ of a unit given h. So a step of log γᵢ by δᵢ multiplies γᵢ, bᵢ and the row Wᵢ by
// e^δᵢ. The gradient by log γᵢ is, with the plain one G,
//
//	Σⱼ Wᵢⱼ(G_W)ᵢⱼ + bᵢ(G_b)ᵢ − ½γᵢ(⟨vᵢ²⟩⁺ − ⟨vᵢ²⟩⁻)
//
// It needs the gradient of all weights of a unit, so that the scaling is a second pass.
type learning struct {
	squares []float64 // for each visible unit: the step of −½γ's statistic, ⟨v²⟩
	gains   []float64 // for each visible unit: the step of log γ, without the part of its weights
	rows    []float64 // for each part: Σⱼ Wᵢⱼ(step of Wᵢⱼ), a block of visible units
	steps   []float32 // step of log γ from the gradient
	moved   []float32 // step of log γ after the rule
	growth  []float32 // e^δ − 1
	loop    parallel.Loop
}

// learns reports whether the step moves precisions.
func (a *Ascent) learns() bool { return a.ParamRates != nil && len(a.to.tensors[VisibleParam]) > 0 }

// begin makes room, before the first chunk.
func (l *learning) begin(a *Ascent) {
	blocks := vec.Blocks(a.m.Visible())
	l.squares, l.gains = zeros(l.squares, blocks*vec.Block), grown(l.gains, a.m.Visible())
	l.rows = zeros(l.rows, a.parts(a.m)*vec.Block)
	if l.loop.Body == nil {
		l.loop.Body = a.growPart
	}
}

// addSquares adds to the squares of the block of visible units from lo on those of row v, which
// has the coefficient c.
func (l *learning) addSquares(lo int, v []float32, c float32) {
	for i, x := range v {
		l.squares[lo+i] += float64(float64(c) * float64(float64(x)*float64(x)))
	}
}

// gain takes the steps of the biases, by the plain gradient, when all particles are in them.
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

// addRows takes the steps of the weights between panel k and block b, as the plain gradient has
// them. w are the weights before.
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

// gatherRows gives every rank of the group what the others have of the steps of log γ. The rest, the
// gains, each has of the units of its parts.
func (a *Ascent) gatherRows() error {
	ends := make([]int, a.Group.Size())
	for r := range ends {
		ends[r] = (r + 1) * a.parts(a.m) / len(ends) * vec.Block
	}
	return ranks.Gather(a.Group, a.learning.rows, ends)
}

// growParts moves the precisions of the units in parts lo … hi−1, with their biases, and the weights
// of these parts with them. Others have no meaning after it.
func (a *Ascent) growParts(lo, hi int) {
	l, m := &a.learning, a.m
	n, blocks := m.Visible(), vec.Blocks(m.Visible())
	l.steps, l.moved, l.growth = grown(l.steps, n), zeros(l.moved, n), grown(l.growth, n)
	for i, precision := range a.to.tensors[VisibleParam] {
		if l.steps[i] = 0; precision == 0 { // of another kind
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

// growPart moves the weights of the i-th part that is moved.
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
