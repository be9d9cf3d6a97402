package rbm

import (
	"encoding/binary"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// An RBM is also a vector of parameters: a gradient, a velocity and an average are
// kept as RBMs, so that the ascent step can add particles to each. This file has
// the sweeps over all parameters that momentum, decay, centring and averaging
// need. They panic if two models differ in shape. Steps below 2⁻¹⁰⁰ in size count
// as zero, which keeps parameters out of the subnormal numbers.
//
// Sweeps with an argument rest, if it is not nil, keep in it what rounding leaves
// of each parameter's step, and add that to the next step. So parameters follow
// steps that are far below their own last bit. Without a rest such steps are lost.

// sweepWork is the work on a weight in a sweep, for the cost of its loop: some 0.1 ns.
const sweepWork = 16

// A sweep is an operation on every parameter, panel by panel.
type sweep struct {
	loop        parallel.Loop
	op          func(m, x, rest []float32, a, b float32)
	a, b        float32
	other, rest *RBM
}

// Zero makes all parameters zero.
func (m *RBM) Zero() {
	clear(m.VisibleBias)
	clear(m.HiddenBias)
	clear(m.w)
}

// Shrink takes the share a off all parameters. Those that end below 2⁻¹⁰⁰ in size
// become zero.
func (m *RBM) Shrink(a float32) {
	m.run(shrink, a, 0, m, nil, true)
}

// Add adds a·x to the parameters, x of the same shape. A step below 2⁻¹⁰⁰ in size
// counts as zero.
func (m *RBM) Add(a float32, x, rest *RBM) {
	m.run(add, a, 0, x, rest, true)
}

// Approach moves the parameters towards x by the share a of the way:
// m + a·(x−m).
func (m *RBM) Approach(a float32, x, rest *RBM) {
	m.run(approach, a, 0, x, rest, true)
}

// Set copies the parameters of x, of the same shape.
func (m *RBM) Set(x *RBM) {
	m.checkShape(x)
	copy(m.VisibleBias, x.VisibleBias)
	copy(m.HiddenBias, x.HiddenBias)
	copy(m.w, x.w)
}

// Decay shrinks the weights, not the biases: first by the share l2, then by l1
// towards zero, at which they stop (the proximal step of an L1 penalty).
func (m *RBM) Decay(l1, l2 float32, rest *RBM) {
	m.run(decay, l1, l2, m, rest, false)
}

func shrink(m, _, _ []float32, a, _ float32)      { vec.Shrink(m, a) }
func add(m, x, rest []float32, a, _ float32)      { vec.Advance(m, x, rest, a) }
func approach(m, x, rest []float32, a, _ float32) { vec.Approach(m, x, rest, a) }
func decay(m, _, rest []float32, l1, l2 float32)  { vec.Decay(m, rest, l1, l2) }

// run applies op to every parameter of m, x and rest.
func (m *RBM) run(op func(m, x, rest []float32, a, b float32), a, b float32, x, rest *RBM, biases bool) {
	m.checkShape(x)
	s := &m.sweep
	if s.loop.Body == nil {
		s.loop.Body = m.sweepPanel
	}
	var visible, hidden []float32 // of rest
	if rest != nil {
		m.checkShape(rest)
		visible, hidden = rest.VisibleBias, rest.HiddenBias
	}
	s.op, s.a, s.b, s.other, s.rest = op, a, b, x, rest
	s.loop.Run(vec.Blocks(m.Hidden()), sweepWork*len(m.w))
	if biases {
		op(m.VisibleBias, x.VisibleBias, visible, a, b)
		op(m.HiddenBias, x.HiddenBias, hidden, a, b)
	}
	s.other, s.rest = nil, nil
}

func (m *RBM) sweepPanel(k int) {
	s := &m.sweep
	var rest []float32
	if s.rest != nil {
		rest = s.rest.panel(k)
	}
	s.op(m.panel(k), s.other.panel(k), rest, s.a, s.b)
}

func (m *RBM) checkShape(x *RBM) {
	if m.Visible() != x.Visible() || m.Hidden() != x.Hidden() {
		panic("rbm: parameters of another shape")
	}
}

// LargestSize returns the largest absolute value of the weights and that of the biases,
// NaN if one of them is NaN.
func (m *RBM) LargestSize() (weight, bias float64) {
	return float64(vec.Largest(m.w)), float64(max(vec.Largest(m.VisibleBias), vec.Largest(m.HiddenBias)))
}

// AppendParameters appends all parameters to b as little-endian float32:
// weights row by row of visible units, visible biases, hidden biases.
func (m *RBM) AppendParameters(b []byte) []byte {
	w := NewMatrix(m.Visible(), m.Hidden())
	m.Weights(w)
	for _, x := range [3][]float32{w.Data, m.VisibleBias, m.HiddenBias} {
		b, _ = binary.Append(b, binary.LittleEndian, x) // fails for other types only
	}
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
	w := NewMatrix(m.Visible(), m.Hidden())
	for _, x := range [3][]float32{w.Data, m.VisibleBias, m.HiddenBias} {
		n, _ := binary.Decode(b, binary.LittleEndian, x) // b is long enough
		b = b[n:]
	}
	m.SetWeights(w)
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
	if c.loop.Body == nil {
		c.loop.Body = m.centrePanel
	}
	panels := vec.Blocks(m.Hidden())
	c.dots = grown(c.dots, panels*m.Visible())
	c.gb = grown(c.gb, m.Visible())
	for i, g := range m.VisibleBias {
		c.gb[i] = offSubnormal(g)
	}
	c.mu, c.lambda = mu, lambda
	c.loop.Run(panels, sweepWork*len(m.w))
	for i := range m.VisibleBias {
		sum := 0.0
		for k := range panels {
			sum += float64(c.dots[k*m.Visible()+i])
		}
		m.VisibleBias[i] -= float32(sum)
	}
	c.mu, c.lambda = nil, nil
}

// offSubnormal returns x, or zero if it is below 2⁻⁸⁰ in size: its products with
// offsets down to 2⁻⁴⁰ would end among the subnormal numbers, which take many
// processors a hundred times as long.
func offSubnormal(x float32) float32 {
	if x < 0x1p-80 && x > -0x1p-80 {
		return 0
	}
	return x
}

// centring is what Centre needs beside its arguments.
type centring struct {
	loop       parallel.Loop
	mu, lambda []float32
	gb         []float32
	dots       []float32 // per panel and visible unit: row of G' times lambda
}

func (m *RBM) centrePanel(k int) {
	c := &m.centre
	lo := k * vec.Block
	hi := min(lo+vec.Block, m.Hidden())
	var gc, lambda [vec.Block]float32
	var sum [vec.Block]float64
	for j, g := range m.HiddenBias[lo:hi] {
		gc[j] = offSubnormal(g)
	}
	copy(lambda[:], c.lambda[lo:hi])
	vec.Centre(m.panel(k), c.mu, c.gb, &gc, &lambda, c.dots[k*m.Visible():][:m.Visible()], &sum)
	for j := lo; j < hi; j++ {
		m.HiddenBias[j] -= float32(sum[j-lo])
	}
}
