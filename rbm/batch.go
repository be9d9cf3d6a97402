package rbm

// A Batch is weighted examples, or particles: visible states V with hidden
// means H = p(h|v), row by row, both taken at β = 1. It stands for the
// Rao–Blackwellised estimate Σ_r w_r f(v_r, p(h|v_r)) of E f(v,h).
type Batch struct {
	V      Bits
	Grey   Matrix // if it has rows, it replaces V: inputs in [0,1]
	H      Matrix
	Weight []float32 // nil means 1/Rows for all; may be zero or negative
}

// Rows returns the number of examples.
func (b Batch) Rows() int { return b.H.Rows }

// weight returns the weight of row r.
func (b Batch) weight(r int) float32 {
	if b.Weight == nil {
		return 1 / float32(b.H.Rows)
	}
	return b.Weight[r]
}

// Moments are the expectations that the likelihood gradient is made of.
type Moments struct {
	V, H []float32 // ⟨v⟩ and ⟨h⟩
	VH   Matrix    // ⟨vhᵀ⟩, visible × hidden
}

// NewMoments returns zero moments of m's shape.
func NewMoments(m *RBM) *Moments {
	return &Moments{
		V:  make([]float32, m.Visible()),
		H:  make([]float32, m.Hidden()),
		VH: NewMatrix(m.Visible(), m.Hidden()),
	}
}

// Set overwrites s with the weighted moments of b. It panics if the shapes
// differ.
func (s *Moments) Set(b Batch) {
	b.check(len(s.V), len(s.H))
	clear(s.V)
	clear(s.H)
	clear(s.VH.Data)
	for r := range b.Rows() {
		w := b.weight(r)
		if w == 0 {
			continue
		}
		h := b.H.Row(r)
		for j, p := range h {
			s.H[j] += float32(w * p)
		}
		for i := range s.V {
			x := b.at(r, i)
			if x == 0 {
				continue
			}
			s.V[i] += float32(w * x)
			row := s.VH.Row(i)
			for j, p := range h {
				row[j] += float32(w * float32(x*p))
			}
		}
	}
}

// at returns visible unit i of row r.
func (b Batch) at(r, i int) float32 {
	switch {
	case b.Grey.Rows > 0:
		return b.Grey.Row(r)[i]
	case b.V.Get(r, i):
		return 1
	}
	return 0
}

// check panics if b is not of these layers.
func (b Batch) check(visible, hidden int) {
	rows, cols := b.V.Rows, b.V.Cols
	if b.Grey.Rows > 0 {
		rows, cols = b.Grey.Rows, b.Grey.Cols
	}
	if b.Grey.Rows == 0 {
		b.V.check()
	}
	if cols != visible || b.H.Cols != hidden || b.H.Rows != rows || b.Weight != nil && len(b.Weight) != rows {
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
	copy(dst.VH.Data, p.Moments.VH.Data)
}
