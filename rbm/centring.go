package rbm

import "gorbm/rbm/internal/vec"

// centring computes the steps of the biases in a centred gradient (Ascent.Mu and Lambda). The steps contain
// the products ΔW·lambda and ΔWᵀ·mu, which follow from the rows of the phases without a second pass over ΔW.
// Slot s has visible values v_s, hidden means h_s and the coefficient x_s = rate·weight:
//
//	ΔW·lambda = Σ x_s v_s (h_s·lambda) − mu (G_c·lambda) − G_b (lambda·lambda)
//	ΔWᵀ·mu    = Σ x_s h_s (v_s·mu) − G_c (mu·mu) − lambda (G_b·mu)
type centring struct {
	lambda64 []float64 // lambda
	lambda   []float32 // lambda, padded with zeros to whole blocks
	gb       []float32 // G_b

	h             []float32 // x_s (h_s·lambda) for each slot
	v             []float32 // v_s·mu for each slot that is not empty
	blockProducts []float64 // blocks of visible units × slots: the terms of v_s·mu from the block
	slots         []uint32  // for each element of v: the offset of its row in ascentTile.g

	rows, cols   []float64 // Σ x_s v_s (h_s·lambda) and Σ x_s h_s (v_s·mu), unit by unit
	byC, byB     float64   // G_c·lambda, G_b·mu
	mumu, square float64   // mu·mu, lambda·lambda
}

// begin reads the offsets and clears the sums, before the first chunk.
func (c *centring) begin(a *Ascent) {
	m := a.m
	c.rows, c.cols = zeros(c.rows, vec.Blocks(m.Visible())*vec.Block), zeros(c.cols, vec.Blocks(m.Hidden())*vec.Block)
	c.gb, c.lambda64, c.lambda = grown(c.gb, m.Visible()), grown(c.lambda64, m.Hidden()), grown(c.lambda, len(c.cols))
	clear(c.lambda[copy(c.lambda, a.Lambda):])
	c.byC, c.byB, c.mumu, c.square = 0, 0, 0, 0
	for _, x := range a.Mu {
		c.mumu += float64(float64(x) * float64(x))
	}
	for j, x := range a.Lambda {
		c.lambda64[j] = float64(x)
		c.square += float64(float64(x) * float64(x))
	}
}

// hiddenParts computes h and slots for a chunk, and adds to G_c·lambda.
func (c *centring) hiddenParts(a *ascentWork, hidden int) {
	c.h, c.slots = zeros(c.h, len(a.coef)), c.slots[:0]
	for _, r := range a.runs {
		for s := r.lo; s < r.hi; s++ {
			c.h[s] = float32(float64(a.coef[s]) * vec.Dot64(r.h[(s-r.lo)*hidden:][:hidden], c.lambda64))
			c.slots = append(c.slots, uint32(s)*vec.Block)
		}
	}
	for _, at := range a.used {
		c.byC += float64(c.h[at/vec.Block])
	}
}

// visibleParts computes v from blockProducts.
func (c *centring) visibleParts(slots int) {
	c.v = grown(c.v, len(c.slots))
	for n, at := range c.slots {
		sum := 0.0
		for s := int(at) / vec.Block; s < len(c.blockProducts); s += slots {
			sum += c.blockProducts[s]
		}
		c.v[n] = float32(sum)
	}
}

// addMoments adds rate times the moments of a phase to the sums.
func (c *centring) addMoments(mu []float32, rate float64, s *Moments) {
	for j, x := range s.H {
		c.byC += float64(rate * float64(x) * c.lambda64[j])
	}
	for i := range s.V {
		for j, x := range s.VH.Row(i) {
			c.rows[i] += float64(rate * float64(x) * c.lambda64[j])
			c.cols[j] += float64(rate * float64(x) * float64(mu[i]))
		}
	}
}

// moveVisible updates the visible biases. All rows of both phases must be in the sums.
func (a *Ascent) moveVisible() {
	c := &a.centring
	step := a.visible[:a.m.Visible()]
	a.addMoments(step, func(s *Moments) []float32 { return s.V })
	if a.learns() {
		a.learning.gain(a, step)
	}
	if a.Mu != nil {
		for p, s := range a.moments {
			if s != nil {
				c.addMoments(a.Mu, a.rates[p], s)
			}
		}
		for i, x := range step {
			c.gb[i] = offSubnormal(float32(x))
			c.byB += float64(x * float64(a.Mu[i]))
		}
		for i, x := range step {
			step[i] -= c.rows[i] - float64(float64(a.Mu[i])*c.byC) - float64(x*c.square)
		}
	}
	a.narrow = grown(a.narrow, len(step))
	narrow(a.narrow, step)
	a.take(&a.block, VisibleBias, 0, a.narrow)
}

// moveHidden updates the hidden biases lo … hi−1. step has the sums of their steps over all rows of
// both phases; moveHidden overwrites it. With centring it writes G_c to gc.
func (a *Ascent) moveHidden(tile *ascentTile, gc *[vec.Block]float32, step []float64, lo, hi int) {
	c := &a.centring
	a.addMoments(step, func(s *Moments) []float32 { return s.H[lo:] })
	if a.Mu != nil {
		for j, x := range step {
			gc[j] = offSubnormal(float32(x))
			step[j] -= c.cols[lo+j] - float64(x*c.mumu) - float64(c.lambda64[lo+j]*c.byB)
		}
	}
	short := tile.short[:len(step)]
	narrow(short, step)
	a.take(&tile.block, HiddenBias, lo, short)
	a.moveParams(tile, lo, hi)
}

// narrow rounds x to float32.
func narrow(dst []float32, x []float64) {
	for i, x := range x {
		dst[i] = float32(x)
	}
}

// offSubnormal returns x, or zero if |x| < 2⁻⁶⁰. Products of smaller numbers with offsets down to
// 2⁻⁴⁰ would be below vec.Tiny.
func offSubnormal(x float32) float32 {
	if x < 0x1p-60 && x > -0x1p-60 {
		return 0
	}
	return x
}
