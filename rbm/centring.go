package rbm

import "gorbm/rbm/internal/vec"

// centring is what a centred gradient needs in addition to the offsets. The biases' steps are
// taken from the particles, so that the weights' steps need no second pass: with the
// coefficient x_s of slot s,
//
//	ΔW·lambda = Σ x_s v_s (h_s·lambda) − mu (G_c·lambda) − G_b (lambda·lambda)
//	ΔWᵀ·mu    = Σ x_s h_s (v_s·mu) − G_c (mu·mu) − lambda (G_b·mu)
type centring struct {
	lambda64 []float64 // lambda
	lambda   []float32 // lambda, to whole blocks
	gb       []float32 // G_b

	h             []float32 // for each slot: x_s (h_s·lambda)
	v             []float32 // for each particle: v_s·mu
	blockProducts []float64 // for each block of visible units and slot: its part of v_s·mu
	slots         []uint32  // for each particle: the offset of its row in g

	rows, cols   []float64 // Σ x_s v_s (h_s·lambda) and Σ x_s h_s (v_s·mu), unit by unit
	byC, byB     float64   // G_c·lambda, G_b·mu
	mumu, square float64   // mu·mu, lambda·lambda
}

// begin takes the offsets, before the first chunk.
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

// hiddenParts takes h_s·lambda of a chunk's particles.
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

// visibleParts adds up the blocks' parts of v_s·mu.
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

// addMoments adds those of a phase, rate times, to the sums over particles.
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

// moveVisible moves the visible biases, when all particles are in their sums.
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

// moveHidden moves the hidden biases lo … hi−1, of which step has the sums over all
// particles. It writes G_c to gc.
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

// offSubnormal returns x, or zero if it is below 2⁻⁶⁰ in size: its products with
// offsets down to 2⁻⁴⁰ would be below vec.Tiny.
func offSubnormal(x float32) float32 {
	if x < 0x1p-60 && x > -0x1p-60 {
		return 0
	}
	return x
}
