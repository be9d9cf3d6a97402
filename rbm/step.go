package rbm

import "gorbm/rbm/internal/vec"

// States are the states of a number of Markov chains of an RBM, one a row, as
// NewStates makes them. What persists from step to step is H; Step fills the
// rest.
type States struct {
	V, H   Bits      // visible and hidden states
	Mean   Matrix    // p(h|v) at β = 1
	Energy []float64 // E(v,h), a float64 sum of float32 preactivations; Step leaves it alone if it is nil

	Base       *Base     // the hot end of the rows' path; nil is the uniform law
	BaseEnergy []float64 // E₀(v,h), if there are a Base and an Energy; Step makes it if it is nil

	layers *layers
}

// NewStates returns all-zero states of rows chains of an RBM of m's shape.
func NewStates(m *RBM, rows int) *States {
	return &States{
		V:      NewBits(rows, m.Visible()),
		H:      NewBits(rows, m.Hidden()),
		Mean:   NewMatrix(rows, m.Hidden()),
		Energy: make([]float64, rows),
		layers: newLayers(),
	}
}

// Step takes each row of s, at its own inverse temperature on the path from
// s.Base to m, through steps block Gibbs steps: v|h, then h|v. It starts from
// s.H and overwrites all other states of s; the last up pass yields Mean (at
// β = 1, whatever the row's β), the new H and the Energy and BaseEnergy of the
// new (V,H) together. beta has one value a row; nil means 1 for all. At β = 0
// rows are independent draws from the base. Draws depend on key, the row, the
// step and the unit alone.
//
// Under a constraint on the hidden units they are drawn among the states that
// meet it, so H need not meet it at first; it panics if the constraint is on
// all units, as these steps would never change the number of visible units that
// are active. It panics if the shapes differ or steps < 1.
func (m *RBM) Step(s *States, beta []float32, steps int, key Key) {
	s.check(m)
	if beta != nil && len(beta) != s.H.Rows {
		panic("rbm: Step needs one beta a row")
	}
	if steps < 1 {
		panic("rbm: Step needs at least one step")
	}
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		panic("rbm: Step is not for models with a constraint on all units")
	}
	l := s.layers
	l.base = s.Base
	l.grow(m, min(s.H.Rows, chunkRows))
	for lo := 0; lo < s.H.Rows; lo += chunkRows {
		hi := min(lo+chunkRows, s.H.Rows)
		if beta != nil {
			l.beta = beta[lo:hi]
		}
		s.stepRows(lo, hi, steps, key)
	}
	l.forget()
}

// check panics if s is not of m's shape or its parts are of different ones.
func (s *States) check(m *RBM) {
	if s.V.Cols != m.Visible() || s.H.Cols != m.Hidden() {
		panic("rbm: states of another shape than the model")
	}
	rows := s.H.Rows
	if s.V.Rows != rows || s.Mean.Rows != rows || s.Mean.Cols != m.Hidden() || s.Energy != nil && len(s.Energy) != rows {
		panic("rbm: states whose parts do not fit together; make them by NewStates")
	}
	s.H.check()
	s.Base.mustFit(m)
	if s.Base != nil && s.Energy != nil && len(s.BaseEnergy) != rows {
		if s.BaseEnergy != nil {
			panic("rbm: States.BaseEnergy needs one place a row")
		}
		s.BaseEnergy = make([]float64, rows)
	}
}

// stepRows takes rows lo … hi−1, at most chunkRows, through the steps.
func (s *States) stepRows(lo, hi, steps int, key Key) {
	l := s.layers
	l.draw = true
	l.first, l.v, l.h = lo, s.V.Slice(lo, hi), s.H.Slice(lo, hi)
	for t := range steps {
		l.mean, l.energy, l.baseEnergy = Matrix{}, nil, nil
		l.stream = key.Child(uint64(2 * t)).stream()
		l.runDown()

		l.listActive(l.v.Input(), false)
		if t == steps-1 {
			l.mean = s.Mean.Slice(lo, hi)
			if s.Energy != nil {
				l.energy = s.Energy[lo:hi]
				if s.Base != nil {
					l.baseEnergy = s.BaseEnergy[lo:hi]
				}
			}
		}
		l.stream = key.Child(uint64(2*t + 1)).stream()
		l.runUp()
	}
	if l.energy != nil {
		l.sumEnergy()
	}
}

// forget drops the references of a step.
func (l *layers) forget() {
	l.m, l.base, l.beta, l.energy, l.baseEnergy, l.partner = nil, nil, nil, nil, nil, nil
}

// HiddenMean overwrites dst, v.Rows() × Hidden(), with p(h=1|v) = σ(c + vᵀW), or
// with the means under a constraint; with NaN where it leaves v no hidden state.
// It panics if the shapes differ, or if v is grey and a constraint is on all
// units.
func (m *RBM) HiddenMean(dst Matrix, v Input) {
	m.checkInput(v)
	rows := v.Rows()
	if dst.Rows != rows || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMean needs dst of rows × hidden")
	}
	if v.IsGrey() && m.Constraint != nil {
		m.judge(func(j *judging) { j.v, j.mean = v, dst }, (*judging).takeCountGrey)
		return
	}
	l := layersPool.Get().(*layers)
	l.grow(m, min(rows, chunkRows))
	l.draw, l.energy = false, nil
	for lo := 0; lo < rows; lo += chunkRows {
		some := v.Slice(lo, min(lo+chunkRows, rows))
		l.v, l.mean = some.Bits, dst.Slice(lo, lo+some.Rows())
		l.listActive(some, false)
		l.runUp()
	}
	l.release()
}

// VisibleMean overwrites dst, h.Rows × Visible(), with p(v=1|h); of a softmax
// label, with the probabilities of the classes; with NaN where a constraint
// leaves h no visible state. It panics if the shapes differ.
func (m *RBM) VisibleMean(dst Matrix, h Bits) {
	if h.Cols != m.Hidden() || dst.Rows != h.Rows || dst.Cols != m.Visible() {
		panic("rbm: VisibleMean needs h of hidden units and dst of h.Rows × visible")
	}
	h.check()
	if m.Constraint != nil && m.Constraint.On == AllUnits {
		m.constrainedVisibleMean(dst, h)
		return
	}
	l := layersPool.Get().(*layers)
	l.grow(m, min(h.Rows, chunkRows))
	l.draw = false
	for lo := 0; lo < h.Rows; lo += chunkRows {
		hi := min(lo+chunkRows, h.Rows)
		l.h, l.mean = h.Slice(lo, hi), dst.Slice(lo, hi)
		l.runDown()
	}
	l.release()
}

// release gives l back to the pool without references to what it worked on.
func (l *layers) release() {
	l.m, l.v, l.h, l.mean, l.from = nil, Bits{}, Bits{}, Matrix{}, Input{}
	layersPool.Put(l)
}

// DrawBits overwrites dst with independent bits, each one with the probability
// in the same place of p. It panics if the shapes differ.
func DrawBits(dst Bits, p Matrix, key Key) {
	if dst.Rows != p.Rows || dst.Cols != p.Cols {
		panic("rbm: DrawBits needs matrices of one shape")
	}
	drawBits(dst, p, key, 0)
}

// drawBits is DrawBits of rows that are numbered from first on.
func drawBits(dst Bits, p Matrix, key Key, first int) {
	s := key.stream()
	for k := range dst.Stride {
		lo := k * vec.Block
		if dst.Rows > 0 {
			s.DrawMeans(dst.Words[k:], dst.Stride, p.Data[lo:], p.Cols, uint32(first), uint32(k), dst.Rows, min(vec.Block, p.Cols-lo))
		}
	}
}

// Randomize overwrites b with independent fair bits.
func (b Bits) Randomize(key Key) {
	s := key.stream()
	for r := range b.Rows {
		words := b.Row(r)
		for k := range words {
			words[k] = s.Bits(uint32(r), uint32(k)) & vec.WordMask(min(b.Cols-k*vec.Block, vec.Block))
		}
	}
}
