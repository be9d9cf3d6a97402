package rbm

import (
	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// A Batch is weighted examples, or particles: visible states V with hidden
// means H = p(h|v), row by row, both taken at β = 1. It stands for the
// Rao–Blackwellised estimate Σ_r w_r f(v_r, p(h|v_r)) of E f(v,h).
type Batch struct {
	V      Values
	H      Matrix
	Weight []float32 // nil means 1/Rows for all; may be zero or negative

	// For objectives that depend on the class, see ObjectivePhase. The moments of
	// such a batch are in factors, so that an ascent need not take each row once
	// for every class. BiasWeight, if not nil, holds the weights that count in
	// ⟨v⟩, in place of Weight, which must be given. The last LabelRows rows are
	// of one label unit each: they count in ⟨v⟩ and ⟨vhᵀ⟩, but not in ⟨h⟩.
	BiasWeight []float32
	LabelRows  int
}

// Rows returns the number of examples.
func (b Batch) Rows() int { return b.H.Rows }

// Means overwrites v and h, of the lengths of the layers, with the means of the
// rows, unweighted, of visible units and of hidden means: NaN if there is no row.
// Sums are in float64. It panics if the lengths are not those of the layers.
func (b Batch) Means(v, h []float64) {
	b.check(len(v), len(h))
	clear(v)
	clear(h)
	if !b.V.IsReal() {
		b.V.addColumns(v)
	}
	for r := range b.Rows() {
		if b.V.IsReal() {
			b.V.Nonzero(r, func(i int, x float32) { v[i] += float64(x) })
		}
		row := b.H.Row(r)
		whole := len(row) / vec.Wide * vec.Wide
		vec.AddWide(h[:whole], row[:whole])
		for j, x := range row[whole:] {
			h[whole+j] += float64(x)
		}
	}
	floats.Scale(1/float64(b.Rows()), v)
	floats.Scale(1/float64(b.Rows()), h)
}

// Moments are the expectations that the likelihood gradient is made of.
type Moments struct {
	V, H []float32 // ⟨v⟩ and ⟨h⟩
	VH   Matrix    // ⟨vhᵀ⟩, visible × hidden

	Squares []float32 // ⟨v²⟩, by which precisions move; nil unless the model has real visible units
	// Slopes are the gradients of the parameters that hidden units learn besides their biases: for each
	// parameter, ⟨∂ log Z/∂parameter⟩ of each unit given its input, or nil if it is not learned.
	Slopes [][]float32

	sums   *RBM // of Set, with the ascent that makes them
	ascent Ascent
}

// NewMoments returns zero moments of m's shape.
func NewMoments(m *RBM) *Moments {
	s := &Moments{
		V:  make([]float32, m.Visible()),
		H:  make([]float32, m.Hidden()),
		VH: NewMatrix(m.Visible(), m.Hidden()),
	}
	if m.Real() {
		s.Squares = make([]float32, m.Visible())
	}
	if _, ok := m.HiddenKind().(units.LearnedKind); ok {
		s.Slopes = make([][]float32, len(m.HiddenParams()))
		for k, p := range m.HiddenKind().Params() {
			if p.Learned {
				s.Slopes[k] = make([]float32, m.Hidden())
			}
		}
	}
	return s
}

// Set overwrites s with the weighted moments of b: what an ascent by b at rate
// 1 adds to parameters that are zero. It panics if the shapes differ, or if s has Slopes, which depend on the model.
func (s *Moments) Set(b Batch) {
	if s.Slopes != nil {
		panic("rbm: a batch has no slopes of hidden units")
	}
	visible, hidden := len(s.V), len(s.H)
	if s.sums == nil {
		s.sums = New(visible, hidden, 0, Softmax)
	}
	m := s.sums
	zero := m.parameters()
	zero.Zero()
	none := Values{Cols: visible, Stride: vec.Blocks(visible)}
	s.ascent.Step(m, 1, 1, Phase{Batch: b}, Phase{Batch: Batch{V: none, H: Matrix{Cols: hidden}}})
	copy(s.V, m.VisibleBias)
	copy(s.H, m.HiddenBias)
	m.Weights(s.VH)
	if s.Squares == nil {
		return
	}
	sums := make([]float64, visible)
	for r := range b.Rows() {
		w := 1 / float64(b.Rows())
		if b.Weight != nil {
			w = float64(b.Weight[r])
		}
		b.V.Nonzero(r, func(i int, x float32) { sums[i] += float64(w * float64(float64(x)*float64(x))) })
	}
	narrow(s.Squares, sums)
}

// check panics if b is not of these layers.
func (b Batch) check(visible, hidden int) {
	rows := b.V.Rows
	if !b.V.IsReal() {
		b.V.check()
	}
	if b.V.Cols != visible || b.H.Cols != hidden || b.H.Rows != rows || b.Weight != nil && len(b.Weight) != rows ||
		b.BiasWeight != nil && (b.Weight == nil || len(b.BiasWeight) != rows) || b.LabelRows < 0 || b.LabelRows > rows {
		panic("rbm: batch of another shape than the model")
	}
}

// A Phase is one of the two expectations of the likelihood gradient: weighted
// particles, or the moments themselves where states cannot be listed.
type Phase struct {
	Batch
	Moments *Moments // if not nil, it is the phase and Batch is ignored
}

// SetMoments overwrites dst with the moments of p.
func (p Phase) SetMoments(dst *Moments) {
	if p.Moments == nil {
		dst.Set(p.Batch)
		return
	}
	copy(dst.V, p.Moments.V)
	copy(dst.H, p.Moments.H)
	copy(dst.Squares, p.Moments.Squares)
	for k, x := range p.Moments.Slopes {
		copy(dst.Slopes[k], x)
	}
	copy(dst.VH.Data, p.Moments.VH.Data)
}
