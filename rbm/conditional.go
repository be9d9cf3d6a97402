package rbm

import "gorbm/rbm/internal/vec"

// HiddenMean overwrites dst, v.Rows() × Hidden(), with the means of the hidden units given v: p(h=1|v) = σ(c + vᵀW), or
// those of another kind of units, or those under a constraint, and with NaN where it leaves v no hidden
// state. It panics if the shapes differ, or if v is grey and a constraint is on
// all units.
func (m *RBM) HiddenMean(dst Matrix, v Values) {
	m.checkInput(v)
	if dst.Rows != v.Rows || dst.Cols != m.Hidden() {
		panic("rbm: HiddenMean needs dst of rows × hidden")
	}
	m.passes(dst.Rows, func(p *pass, lo, hi int) {
		some := v.Slice(lo, hi)
		p.v, p.mean = some, dst.Slice(lo, hi)
		p.runUp(some)
	})
}

// VisibleMean overwrites dst, h.Rows × Visible(), with p(v=1|h): for a softmax
// label with the probabilities of the classes, and with NaN where a constraint
// leaves h no visible state. It panics if the shapes differ.
func (m *RBM) VisibleMean(dst Matrix, h Values) {
	m.checkHidden(h)
	if dst.Rows != h.Rows || dst.Cols != m.Visible() {
		panic("rbm: VisibleMean needs dst of h.Rows × visible")
	}
	m.given().visibleMean(m, dst, h)
}

// HiddenSample overwrites dst, rows of hidden units, with draws from p(h|v):
// row r given row r mod b.Rows() of b. Of bits without a constraint it uses the hidden
// means of b, else the visible rows of b. Draws depend on key, the row and
// the unit alone. It panics if the shapes differ, if b has no rows, or if the
// constraint leaves a row of b no hidden state.
func (m *RBM) HiddenSample(dst Values, b Batch, key Key) { m.hiddenSample(dst, b, key, 0) }

// hiddenSample is HiddenSample of rows that are numbered from first on.
func (m *RBM) hiddenSample(dst Values, b Batch, key Key, first int) {
	b.check(m.Visible(), m.Hidden())
	m.checkHidden(dst)
	if b.Rows() == 0 {
		panic("rbm: HiddenSample needs a batch with rows")
	}
	for lo := 0; lo < dst.Rows; lo += b.Rows() {
		n := min(b.Rows(), dst.Rows-lo)
		m.given().sample(m, dst.Slice(lo, lo+n), Batch{V: b.V.Slice(0, n), H: b.H.Slice(0, n)}, key, first+lo)
	}
}

// drawGiven draws hidden units given visible rows, which are numbered from first on.
func (m *RBM) drawGiven(dst, v Values, key Key, first int) {
	m.passes(v.Rows, func(p *pass, lo, hi int) {
		p.draw, p.stream = true, key.stream()
		p.first, p.v, p.h = first+lo, v.Slice(lo, hi), dst.Slice(lo, hi)
		p.runUp(p.v)
	})
}

// DrawBits overwrites dst with independent bits. Each is one with the probability
// at the same place of p. It panics if the shapes differ.
func DrawBits(dst Values, p Matrix, key Key) {
	if dst.Rows != p.Rows || dst.Cols != p.Cols {
		panic("rbm: DrawBits needs matrices of one shape")
	}
	drawBits(dst, p, key, 0)
}

// drawBits is DrawBits of rows that are numbered from first on.
func drawBits(dst Values, p Matrix, key Key, first int) {
	s := key.stream()
	for k := range dst.Stride {
		lo := k * vec.Block
		if dst.Rows > 0 {
			s.DrawMeans(dst.Words[k:], dst.Stride, p.Data[lo:], p.Cols, uint32(first), uint32(k), dst.Rows, min(vec.Block, p.Cols-lo))
		}
	}
}

// Randomize overwrites b with independent fair bits.
func (b Values) Randomize(key Key) {
	s := key.stream()
	for r := range b.Rows {
		words := b.Row(r)
		for k := range words {
			words[k] = s.Bits(uint32(r), uint32(k)) & vec.WordMask(min(b.Cols-k*vec.Block, vec.Block))
		}
	}
}
