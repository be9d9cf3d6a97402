package rbm

import (
	"gonum.org/v1/gonum/floats"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/units"
)

// A Batch is a set of weighted examples or particles. Row r has the visible states v_r and the
// hidden means p(h|v_r), both at β = 1. With weights w_r a Batch gives the
// Rao–Blackwellised estimate Σ_r w_r f(v_r, p(h|v_r)) of the expectation of f(v,h).
type Batch struct {
	V      Values
	H      Matrix
	Weight []float32 // w_r, may be zero or negative; nil means 1/Rows for all

	// The fields below are for objectives that depend on the class: see ObjectivePhase. With these fields an
	// ascent can process each row once instead of once for every class. If BiasWeight is not nil, it replaces
	// Weight in ⟨v⟩; Weight must not be nil then. Each of the last LabelRows rows has one label unit on. These
	// rows count in ⟨v⟩ and ⟨vhᵀ⟩, but not in ⟨h⟩.
	BiasWeight []float32
	LabelRows  int
}

// Rows returns the number of examples.
func (b Batch) Rows() int { return b.H.Rows }

// WeightOf returns w_r.
func (b Batch) WeightOf(r int) float64 {
	if b.Weight == nil {
		return 1 / float64(b.Rows())
	}
	return float64(b.Weight[r])
}

// Means overwrites v and h with the unweighted means over the rows of V and H, summed in float64.
// The means are NaN if there is no row. It panics if v or h has another length than its layer.
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

// Moments are the expectations in the likelihood gradient.
type Moments struct {
	V, H []float32 // ⟨v⟩ and ⟨h⟩
	VH   Matrix    // ⟨vhᵀ⟩, visible × hidden

	Squares []float32 // ⟨v²⟩, for the gradient of precisions; nil unless the model has real visible units
	// Slopes[k][j] is ⟨∂ log Z/∂a⟩, where a is parameter k of hidden unit j besides its bias, and Z is the
	// partition function of unit j given its input. Slopes[k] is nil if parameter k is not learned.
	Slopes [][]float32

	sums   *RBM // working memory of Set: a model whose parameters become the moments
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

// Set overwrites s with the weighted moments of b. It panics if the shapes differ, or if s has
// Slopes, because those depend on the model too.
func (s *Moments) Set(b Batch) {
	if s.Slopes != nil {
		panic("rbm: a batch has no slopes of hidden units")
	}
	visible, hidden := len(s.V), len(s.H)
	if s.sums == nil {
		s.sums = New(visible, hidden, 0, Softmax)
	}
	m := s.sums // an ascent at rate 1 adds the moments to zero parameters
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
		w := b.WeightOf(r)
		b.V.Nonzero(r, func(i int, x float32) { sums[i] += float64(w * float64(float64(x)*float64(x))) })
	}
	narrow(s.Squares, sums)
}

// check panics unless b is consistent and its layers have the given numbers of units.
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

// A Phase is the positive or the negative phase of the likelihood gradient. It has weighted
// particles or, for example from exact enumeration, the moments themselves.
type Phase struct {
	Batch
	Moments *Moments // if not nil, Batch is ignored
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
