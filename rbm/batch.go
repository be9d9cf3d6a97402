package rbm

// A Batch is weighted examples, or particles: visible states V with hidden
// means H = p(h|v), row by row, both taken at β = 1. It stands for the
// Rao–Blackwellised estimate Σ_r w_r f(v_r, p(h|v_r)) of E f(v,h).
type Batch struct {
	V      Bits
	H      Matrix
	Weight []float32 // nil means 1/Rows for all; may be zero or negative
}

// weight returns the weight of row r.
func (b Batch) weight(r int) float32 {
	if b.Weight == nil {
		return 1 / float32(b.V.Rows)
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
	if b.V.Cols != len(s.V) || b.H.Cols != len(s.H) || b.H.Rows != b.V.Rows {
		panic("rbm: moments of another shape than the batch")
	}
	clear(s.V)
	clear(s.H)
	clear(s.VH.Data)
	for r := range b.V.Rows {
		w := b.weight(r)
		if w == 0 {
			continue
		}
		h := b.H.Row(r)
		for j, p := range h {
			s.H[j] += float32(w * p)
		}
		for i := range b.V.Cols {
			if !b.V.Get(r, i) {
				continue
			}
			s.V[i] += w
			row := s.VH.Row(i)
			for j, p := range h {
				row[j] += float32(w * p)
			}
		}
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
