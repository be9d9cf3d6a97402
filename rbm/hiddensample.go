package rbm

// HiddenSample overwrites dst, rows of hidden units, with draws from p(h|v):
// row r given row r mod b.Rows() of b. Without a constraint the hidden means of
// b are all it needs; under one they are not, and the visible states are used.
// Draws depend on key, the row and the unit alone. It panics if the shapes
// differ, or b has no rows or one that the constraint leaves no hidden state.
func (m *RBM) HiddenSample(dst Bits, b Batch, key Key) {
	b.check(m.Visible(), m.Hidden())
	if dst.Cols != m.Hidden() || b.Rows() == 0 {
		panic("rbm: HiddenSample needs rows of hidden units and a batch with rows")
	}
	if dst.Rows != b.Rows() {
		b = b.repeated(dst.Rows)
	}
	switch {
	case m.Constraint == nil:
		DrawBits(dst, b.H, key)
	case b.Grey.Rows > 0:
		m.checkGrey(b.Grey)
		g := greyPool.Get().(*greyPass)
		g.m, g.h, g.v, g.stream = m, dst, b.Grey, key.stream()
		g.count.run(ceilDiv(dst.Rows, lanes), true)
		g.m, g.h, g.v = nil, Bits{}, Matrix{}
		greyPool.Put(g)
	default:
		m.sampleCounted(dst, b.V, key)
	}
}

// repeated returns rows of b over and over, so many of them.
func (b Batch) repeated(rows int) Batch {
	out := Batch{H: NewMatrix(rows, b.H.Cols)}
	if b.Grey.Rows > 0 {
		out.Grey = NewMatrix(rows, b.Grey.Cols)
	} else {
		out.V = NewBits(rows, b.V.Cols)
	}
	for r := range rows {
		from := r % b.Rows()
		copy(out.H.Row(r), b.H.Row(from))
		if b.Grey.Rows > 0 {
			copy(out.Grey.Row(r), b.Grey.Row(from))
		} else {
			copy(out.V.Row(r), b.V.Row(from))
		}
	}
	return out
}

// sampleCounted is HiddenSample given bits, under a constraint.
func (m *RBM) sampleCounted(dst, v Bits, key Key) {
	for r := range v.Rows {
		if k := m.Constraint.activeHidden(m, v.Row(r)); k < 0 || k > m.Hidden() {
			panic("rbm: HiddenSample given a row of probability zero")
		}
	}
	l := layersPool.Get().(*layers)
	l.grow(m, min(v.Rows, chunkRows))
	l.draw, l.energy, l.mean, l.stream = true, nil, Matrix{}, key.stream()
	for lo := 0; lo < v.Rows; lo += chunkRows {
		hi := min(lo+chunkRows, v.Rows)
		l.first, l.v, l.h = lo, v.Slice(lo, hi), dst.Slice(lo, hi)
		l.listVisible()
		l.runUp()
	}
	l.release()
}
