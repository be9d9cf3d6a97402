package rbm

import "gorbm/rbm/internal/vec"

// HiddenMean overwrites dst, v.Rows × Hidden(), with the means of the hidden units given v. For
// Bernoulli units without a constraint they are p(h=1|v) = σ(c + vᵀW). A row is NaN if the
// constraint allows no hidden state with v. It panics if the shapes differ, or if v is grey and a
// constraint is on all units.
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

// VisibleMean overwrites dst, h.Rows × Visible(), with the means of the visible units given h. For
// a softmax group they are the probabilities of its states. A row is NaN if the constraint allows
// no visible state with h. It panics if the shapes differ.
func (m *RBM) VisibleMean(dst Matrix, h Values) {
	m.checkHidden(h)
	if dst.Rows != h.Rows || dst.Cols != m.Visible() {
		panic("rbm: VisibleMean needs dst of h.Rows × visible")
	}
	m.given().visibleMean(m, dst, h)
}

// HiddenSample overwrites row r of dst with a draw from p(h|v), where v is row r mod b.Rows() of b. It reads
// the hidden means of b if hidden units are bits and there is no constraint, otherwise the visible rows of b.
// Draws depend only on key, the row and the unit. It panics if the shapes differ, if b has no rows, or if the
// constraint allows no hidden state with a row of b.
func (m *RBM) HiddenSample(dst Values, b Batch, key Key) { m.hiddenSample(dst, b, key, 0) }

// hiddenSample is HiddenSample with rows numbered from first on in the random stream.
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

// drawGiven draws hidden units given the rows of v, numbered from first on in the random stream.
func (m *RBM) drawGiven(dst, v Values, key Key, first int) {
	m.passes(v.Rows, func(p *pass, lo, hi int) {
		p.draw, p.stream = true, key.stream()
		p.first, p.v, p.h = first+lo, v.Slice(lo, hi), dst.Slice(lo, hi)
		p.runUp(p.v)
	})
}

// DrawBits overwrites dst with independent bits. Bit (i, j) is one with probability p(i, j). It
// panics if the shapes differ.
func DrawBits(dst Values, p Matrix, key Key) {
	if dst.Rows != p.Rows || dst.Cols != p.Cols {
		panic("rbm: DrawBits needs matrices of one shape")
	}
	drawBits(dst, p, key, 0)
}

// drawBits is DrawBits with rows numbered from first on in the random stream.
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
