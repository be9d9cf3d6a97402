package rbm

import "gorbm/rbm/internal/vec"

// A Rule says what an update does beside plain ascent. AscendBy does all of it
// block by block, while the block's step is in the first-level cache: one pass over
// the parameters, where each thing by itself would cost another. The zero value is
// plain ascent. Models that a rule names must have the shape of the model that moves.
type Rule struct {
	// Mu and Lambda are the offsets of the centred gradient, one for each visible and
	// each hidden unit (Melchior, Fischer & Wiskott 2016, equations 12 to 14, for
	// parameters without offsets); nil: the plain gradient. With G the plain one,
	//
	//	ΔW = G_W − mu·G_cᵀ − G_b·lambdaᵀ,  Δb = G_b − ΔW·lambda,  Δc = G_c − ΔWᵀ·mu
	Mu, Lambda []float32

	// Velocity, if not nil, shrinks by the share Friction of it, takes the step, and
	// is what the parameters move by.
	Velocity *RBM
	Friction float32

	// L2 is the share by which the weights shrink after the step, L1 the size by which
	// they then move towards zero, at which they stop. Biases do not decay.
	L1, L2 float32
	// Sparse is subtracted from the hidden biases.
	Sparse float32

	// Average, if not nil, moves by Share of its way towards the new parameters.
	Average *RBM
	Share   float32

	// Rest and AverageRest, if not nil, keep what rounding leaves of the steps of
	// the parameters and of the average, and add it to later ones.
	Rest, AverageRest *RBM
}

func (r *Rule) check(m *RBM) {
	if (r.Mu != nil || r.Lambda != nil) && (len(r.Mu) != m.Visible() || len(r.Lambda) != m.Hidden()) {
		panic("rbm: offsets of another shape than the layers")
	}
	for _, x := range []*RBM{r.Velocity, r.Average, r.Rest, r.AverageRest} {
		if x != nil {
			m.checkShape(x)
		}
	}
}

// A kind is one of the three tensors of parameters.
type kind int

const (
	ofWeights kind = iota // in the panels' order
	ofVisible
	ofHidden
)

// slice returns parameters lo … hi−1 of a kind; nil if there is no model.
func (m *RBM) slice(k kind, lo, hi int) []float32 {
	if m == nil {
		return nil
	}
	return [...][]float32{m.w, m.VisibleBias, m.HiddenBias}[k][lo:hi]
}

// move moves the parameters of a kind from number lo on by step, as the rule says.
func (m *RBM) move(r *Rule, k kind, lo int, step []float32) {
	hi := lo + len(step)
	to, rest := m.begin(r, k, lo, hi)
	vec.Advance(to, step, rest, 1)
	m.end(r, k, lo, hi)
}

// begin returns what takes the step of parameters lo … hi−1 of a kind, with the rests
// of it, if it has any: the parameters, or their velocity, which shrinks before.
func (m *RBM) begin(r *Rule, k kind, lo, hi int) (to, rest []float32) {
	if v := r.Velocity.slice(k, lo, hi); v != nil {
		vec.Shrink(v, r.Friction)
		return v, nil
	}
	return m.slice(k, lo, hi), r.Rest.slice(k, lo, hi)
}

// ones are the hidden units of a panel that Rule.Sparse moves: all of them.
var ones = func() (x [vec.Block]float32) {
	for j := range x {
		x[j] = 1
	}
	return x
}()

// end does the rest for the parameters of which begin was called.
func (m *RBM) end(r *Rule, k kind, lo, hi int) {
	to, rest := m.slice(k, lo, hi), r.Rest.slice(k, lo, hi)
	if v := r.Velocity.slice(k, lo, hi); v != nil {
		vec.Advance(to, v, rest, 1)
	}
	if k == ofWeights && (r.L1 > 0 || r.L2 > 0) {
		vec.Decay(to, rest, r.L1, r.L2)
	}
	if k == ofHidden && r.Sparse != 0 {
		vec.Advance(to, ones[:len(to)], rest, -r.Sparse)
	}
	if average := r.Average.slice(k, lo, hi); average != nil {
		vec.Approach(average, to, r.AverageRest.slice(k, lo, hi), r.Share)
	}
}

// centring is what a centred gradient needs beside the offsets. The biases' steps are
// taken from the particles, so that the weights' steps need no second pass: with the
// coefficient x_s of slot s,
//
//	ΔW·lambda = Σ x_s v_s (h_s·lambda) − mu (G_c·lambda) − G_b (lambda·lambda)
//	ΔWᵀ·mu    = Σ x_s h_s (v_s·mu) − G_c (mu·mu) − lambda (G_b·mu)
type centring struct {
	wide   []float64 // lambda
	lambda []float32 // lambda, to whole blocks
	gb     []float32 // G_b

	h     []float32 // of each slot: x_s (h_s·lambda)
	v     []float32 // of each particle: v_s·mu
	part  []float64 // of each block of visible units and slot: its part of v_s·mu
	slots []uint32  // of each particle: the offset of its row in g

	rows, cols   []float64 // Σ x_s v_s (h_s·lambda) and Σ x_s h_s (v_s·mu), unit by unit
	byC, byB     float64   // G_c·lambda, G_b·mu
	mumu, square float64   // mu·mu, lambda·lambda
}

// begin takes the offsets, before the first chunk.
func (c *centring) begin(m *RBM) {
	r := m.work.rule
	c.rows, c.cols = zeros(c.rows, vec.Blocks(m.Visible())*vec.Block), zeros(c.cols, vec.Blocks(m.Hidden())*vec.Block)
	c.gb, c.wide, c.lambda = grown(c.gb, m.Visible()), grown(c.wide, m.Hidden()), grown(c.lambda, len(c.cols))
	clear(c.lambda[copy(c.lambda, r.Lambda):])
	c.byC, c.byB, c.mumu, c.square = 0, 0, 0, 0
	for _, x := range r.Mu {
		c.mumu += float64(float64(x) * float64(x))
	}
	for j, x := range r.Lambda {
		c.wide[j] = float64(x)
		c.square += float64(float64(x) * float64(x))
	}
}

// hiddenParts takes h_s·lambda of a chunk's particles.
func (c *centring) hiddenParts(a *ascentWork, hidden int) {
	c.h, c.slots = zeros(c.h, len(a.coef)), c.slots[:0]
	for _, r := range a.runs {
		for s := r.lo; s < r.hi; s++ {
			c.h[s] = float32(float64(a.coef[s]) * vec.Dot64(r.h[(s-r.lo)*hidden:][:hidden], c.wide))
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
		for s := int(at) / vec.Block; s < len(c.part); s += slots {
			sum += c.part[s]
		}
		c.v[n] = float32(sum)
	}
}

// addMoments adds those of a phase, rate times, to the sums over particles.
func (c *centring) addMoments(r *Rule, rate float64, s *Moments) {
	for j, x := range s.H {
		c.byC += float64(rate * float64(x) * c.wide[j])
	}
	for i := range s.V {
		for j, x := range s.VH.Row(i) {
			c.rows[i] += float64(rate * float64(x) * c.wide[j])
			c.cols[j] += float64(rate * float64(x) * float64(r.Mu[i]))
		}
	}
}

// moveVisible moves the visible biases, when all particles are in their sums.
func (m *RBM) moveVisible() {
	a, c, r := &m.work, &m.work.centring, m.work.rule
	step := a.visible[:m.Visible()]
	a.addMoments(step, func(s *Moments) []float32 { return s.V })
	if r.Mu != nil {
		for p, s := range a.moments {
			if s != nil {
				c.addMoments(r, a.rates[p], s)
			}
		}
		for i, x := range step {
			c.gb[i] = offSubnormal(float32(x))
			c.byB += float64(x * float64(r.Mu[i]))
		}
		for i, x := range step {
			step[i] -= c.rows[i] - float64(float64(r.Mu[i])*c.byC) - float64(x*c.square)
		}
	}
	a.narrow = grown(a.narrow, len(step))
	narrow(a.narrow, step)
	m.move(r, ofVisible, 0, a.narrow)
}

// moveHidden moves the hidden biases lo … hi−1, of which step has the sums over all
// particles. It writes G_c to gc.
func (m *RBM) moveHidden(gc *[vec.Block]float32, step []float64, lo, hi int) {
	a, c, r := &m.work, &m.work.centring, m.work.rule
	a.addMoments(step, func(s *Moments) []float32 { return s.H[lo:] })
	if r.Mu != nil {
		for j, x := range step {
			gc[j] = offSubnormal(float32(x))
			step[j] -= c.cols[lo+j] - float64(x*c.mumu) - float64(c.wide[lo+j]*c.byB)
		}
	}
	var short [vec.Block]float32
	narrow(short[:len(step)], step)
	m.move(r, ofHidden, lo, short[:len(step)])
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
