package rbm

import (
	"encoding/binary"
	"math"

	"gorbm/rbm/internal/vec"
)

// An RBM doubles as a vector of parameters: a gradient, a velocity and an
// average are kept as RBMs, so that the fused ascent step can add particles to
// each. What is below are the sweeps over all parameters that momentum, decay,
// centring and averaging need; they panic if two models differ in shape.

// sweepWork is the work on a weight in a sweep, for job.pass: some 0.1 ns.
const sweepWork = 16

// A sweep is an operation on every parameter, panel by panel.
type sweep struct {
	job   job
	op    func(m, x []float32, a, b float32)
	a, b  float32
	other *RBM
}

// Zero makes all parameters zero.
func (m *RBM) Zero() {
	clear(m.VisibleBias)
	clear(m.HiddenBias)
	clear(m.w)
}

// Scale multiplies all parameters by a.
func (m *RBM) Scale(a float32) {
	m.run(scale, a, 0, m, true)
}

// Add adds a·x to the parameters, x of the same shape.
func (m *RBM) Add(a float32, x *RBM) {
	m.run(add, a, 0, x, true)
}

// Blend moves the parameters towards x: a·m + (1−a)·x.
func (m *RBM) Blend(a float32, x *RBM) {
	m.run(blend, a, 1-a, x, true)
}

// Set copies the parameters of x, of the same shape.
func (m *RBM) Set(x *RBM) {
	m.checkShape(x)
	copy(m.VisibleBias, x.VisibleBias)
	copy(m.HiddenBias, x.HiddenBias)
	copy(m.w, x.w)
}

// Decay shrinks the weights, not the biases: first by the factor 1−l2, then by
// l1 towards zero, at which they stop (the proximal step of an L1 penalty).
func (m *RBM) Decay(l1, l2 float32) {
	m.run(decay, l1, 1-l2, m, false)
}

func scale(m, _ []float32, a, _ float32) {
	for i := range m {
		m[i] *= a
	}
}

func add(m, x []float32, a, _ float32) {
	x = x[:len(m)]
	for i := range m {
		m[i] += float32(a * x[i])
	}
}

func blend(m, x []float32, a, b float32) {
	x = x[:len(m)]
	for i := range m {
		m[i] = float32(a*m[i]) + float32(b*x[i])
	}
}

func decay(m, _ []float32, l1, keep float32) {
	for i, w := range m {
		w = float32(w * keep)
		switch {
		case w > l1:
			w -= l1
		case w < -l1:
			w += l1
		case w == w: // a NaN stays, to be found
			w = 0
		}
		m[i] = w
	}
}

// run applies op to every parameter of m and x.
func (m *RBM) run(op func(m, x []float32, a, b float32), a, b float32, x *RBM, biases bool) {
	m.checkShape(x)
	s := &m.sweep
	if s.job.part == nil {
		s.job.part = m.sweepPanel
	}
	s.op, s.a, s.b, s.other = op, a, b, x
	s.job.pass(vec.Blocks(m.Hidden()), sweepWork*len(m.w))
	if biases {
		op(m.VisibleBias, x.VisibleBias, a, b)
		op(m.HiddenBias, x.HiddenBias, a, b)
	}
	s.other = nil
}

func (m *RBM) sweepPanel(k int) {
	s := &m.sweep
	s.op(m.panel(k), s.other.panel(k), s.a, s.b)
}

func (m *RBM) checkShape(x *RBM) {
	if m.Visible() != x.Visible() || m.Hidden() != x.Hidden() {
		panic("rbm: parameters of another shape")
	}
}

// AppendParameters appends all parameters to b as little-endian float32:
// weights row by row of visible units, visible biases, hidden biases.
func (m *RBM) AppendParameters(b []byte) []byte {
	put := func(x []float32) {
		for _, v := range x {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	w := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	put(w.Data)
	put(m.VisibleBias)
	put(m.HiddenBias)
	return b
}

// ParameterBytes returns the length of what AppendParameters appends.
func (m *RBM) ParameterBytes() int {
	return 4 * (m.Visible()*m.Hidden() + m.Visible() + m.Hidden())
}

// SetParameters takes the parameters from the start of b, as AppendParameters
// writes them, and returns the rest. It panics if b is too short.
func (m *RBM) SetParameters(b []byte) []byte {
	if len(b) < m.ParameterBytes() {
		panic("rbm: too few bytes of parameters")
	}
	take := func(x []float32) {
		for i := range x {
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		b = b[4*len(x):]
	}
	w := NewMatrix(m.Visible(), m.Hidden())
	take(w.Data)
	m.SetWeights(w)
	take(m.VisibleBias)
	take(m.HiddenBias)
	return b
}

// Centre turns a gradient, held in m, into the centred gradient at offsets mu
// of the visible and lambda of the hidden units (Melchior, Fischer & Wiskott,
// JMLR 17, 2016): with G, g_b and g_c the plain gradients of W, b and c,
//
//	G'   = G − mu·g_cᵀ − g_b·lambdaᵀ
//	g_b' = g_b − G'·lambda
//	g_c' = g_c − G'ᵀ·mu
//
// which is the gradient of the centred model (v−mu)ᵀW(h−lambda), mapped back
// to the plain parameters. It panics if the lengths are not those of the
// layers.
func (m *RBM) Centre(mu, lambda []float32) {
	if len(mu) != m.Visible() || len(lambda) != m.Hidden() {
		panic("rbm: offsets of another shape than the layers")
	}
	c := &m.centre
	if c.job.part == nil {
		c.job.part = m.centrePanel
	}
	panels := vec.Blocks(m.Hidden())
	if n := panels * m.Visible(); len(c.dots) < n {
		c.dots = make([]float32, n)
	}
	c.mu, c.lambda = mu, lambda
	c.job.pass(panels, sweepWork*len(m.w))
	for i := range m.VisibleBias {
		sum := float32(0)
		for k := range panels { // partial sums in panel order
			sum += c.dots[k*m.Visible()+i]
		}
		m.VisibleBias[i] -= sum
	}
	c.mu, c.lambda = nil, nil
}

// centring is what Centre needs beside its arguments.
type centring struct {
	job        job
	mu, lambda []float32
	dots       []float32 // per panel and visible unit: row of G' times lambda
}

func (m *RBM) centrePanel(k int) {
	c := &m.centre
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	panel, lambda := m.panel(k), c.lambda[lo:hi]
	var gc, sum [vec.Block]float32
	copy(gc[:], m.HiddenBias[lo:hi])
	for i, mu := range c.mu {
		row := panel[i*vec.Block:][:len(lambda)]
		gb, dot := m.VisibleBias[i], float32(0)
		for j, l := range lambda {
			g := row[j] - float32(mu*gc[j]) - float32(gb*l)
			row[j] = g
			dot += float32(g * l)
			sum[j] += float32(mu * g)
		}
		c.dots[k*m.Visible()+i] = dot
	}
	for j := range lambda {
		m.HiddenBias[lo+j] -= sum[j]
	}
}
