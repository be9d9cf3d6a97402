package rbm

import (
	"encoding/binary"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
)

// An RBM is also a vector of parameters: a gradient, a velocity and an average are
// kept as RBMs. This file has the sweeps over all parameters that momentum, decay
// and averaging need where AscendBy does not do them on the way. They panic if two
// models differ in shape. Steps below 2⁻¹⁰⁰ in size count as zero, which keeps
// parameters out of the subnormal numbers.
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
