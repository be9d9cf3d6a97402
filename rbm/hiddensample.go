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
	for lo := 0; lo < dst.Rows; lo += b.Rows() {
		n := min(b.Rows(), dst.Rows-lo)
		to := dst.Slice(lo, lo+n)
		switch {
		case m.Constraint == nil:
			drawBits(to, b.H.Slice(0, n), key, lo)
		case b.V.IsGrey():
			m.checkInput(b.V)
			m.judge(func(j *judging) {
				j.v, j.drawn, j.stream, j.first = b.V.Slice(0, n), to, key.stream(), lo
			}, (*judging).takeCountGrey)
		default:
			m.sampleCounted(to, b.V.Bits.Slice(0, n), key, lo)
		}
	}
}

// sampleCounted draws given bits under a constraint.
func (m *RBM) sampleCounted(dst, v Bits, key Key, first int) {
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
		l.first, l.v, l.h = first+lo, v.Slice(lo, hi), dst.Slice(lo, hi)
		l.listActive(l.v.Input(), false)
		l.runUp()
	}
	l.release()
}
