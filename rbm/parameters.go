package rbm

import (
	"encoding/binary"
	"sync"

	"gorbm/rbm/internal/vec"
	"gorbm/rbm/parallel"
	"gorbm/rbm/units"
)

// A Tensor names a tensor of parameters.
type Tensor int

// The tensors of a model, in the order of AppendTo.
const (
	Weights      Tensor = iota // in the panels of WeightPanel
	VisibleBias                // one number for each visible unit
	HiddenBias                 // one number for each hidden unit
	VisibleParam               // RBM.VisibleParams()[0], empty if there is none
	HiddenParam                // RBM.HiddenParams()[0], empty if there is none; the others follow

	tensorCount = HiddenParam + units.MaxParams
)

// String returns the name of a tensor. Files and errors name parameters of units more precisely:
// see RBM.Params.
func (t Tensor) String() string {
	return [...]string{"weights", "visible_bias", "hidden_bias", "visible_param", "hidden_param", "hidden_param_2", "hidden_param_3"}[t]
}

// Parameters holds one number for each parameter of a model: the parameters themselves, or a velocity, an
// average or a rounding error. Methods panic if two Parameters differ in shape. Steps below 2⁻¹⁰⁰ in absolute
// value count as zero, which keeps parameters out of the subnormal numbers.
//
// If the argument rest of a method is not nil, it keeps the rounding error of each parameter's
// step, and the next step adds it (compensated summation). Then parameters follow even
// steps far smaller than their last bit, which would be lost otherwise.
type Parameters struct {
	tensors         [tensorCount][]float32
	visible, hidden int
	rows            int // rows per panel
}

func (m *RBM) parameters() Parameters {
	p := Parameters{
		tensors: [tensorCount][]float32{Weights: m.w, VisibleBias: m.VisibleBias, HiddenBias: m.HiddenBias},
		visible: m.Visible(), hidden: m.Hidden(), rows: m.rows,
	}
	copy(p.tensors[VisibleParam:HiddenParam], m.VisibleParams())
	copy(p.tensors[HiddenParam:], m.HiddenParams())
	return p
}

// Parameters returns the parameters of m, without copying.
func (m *RBM) Parameters() *Parameters {
	p := m.parameters()
	return &p
}

// NewParameters returns zeros, one for each parameter of m.
func NewParameters(m *RBM) *Parameters {
	p := m.parameters()
	for t, x := range p.tensors {
		if x != nil {
			p.tensors[t] = make([]float32, len(x))
		}
	}
	return &p
}

// slice returns numbers lo … hi−1 of a tensor, or nil if p is nil.
func (p *Parameters) slice(t Tensor, lo, hi int) []float32 {
	if p == nil {
		return nil
	}
	return p.tensors[t][lo:hi]
}

// sameShape panics unless p and o have the same shape.
func (p *Parameters) sameShape(o *Parameters) {
	same := p.visible == o.visible && p.hidden == o.hidden
	for t := range p.tensors {
		same = same && len(p.tensors[t]) == len(o.tensors[t])
	}
	if !same {
		panic("rbm: parameters of another shape")
	}
}

// checkParameters panics unless p has the shape of m or is nil.
func (m *RBM) checkParameters(p *Parameters) {
	if p != nil {
		params := m.parameters()
		p.sameShape(&params)
	}
}

// Zero sets all parameters to zero.
func (p *Parameters) Zero() {
	for _, x := range p.tensors {
		clear(x)
	}
}

// Set copies x to p.
func (p *Parameters) Set(x *Parameters) {
	p.sameShape(x)
	for t := range p.tensors {
		copy(p.tensors[t], x.tensors[t])
	}
}

// Set copies the parameters of x to m. It panics if the shapes differ.
func (m *RBM) Set(x *RBM) {
	to, from := m.parameters(), x.parameters()
	to.Set(&from)
}

// Shrink multiplies all parameters by 1−a. Results below 2⁻¹⁰⁰ in absolute value become zero.
func (p *Parameters) Shrink(a float32) {
	p.sweep(p, nil, func(to, _, _ []float32, a float32) { vec.Shrink(to, a) }, a)
}

// Add adds a·x to the parameters.
func (p *Parameters) Add(a float32, x, rest *Parameters) {
	p.sweep(x, rest, vec.Advance, a)
}

// Approach moves the parameters towards x, to p + a·(x−p).
func (p *Parameters) Approach(a float32, x, rest *Parameters) {
	p.sweep(x, rest, vec.Approach, a)
}

// sweepWork is the cost of a sweep for each weight in multiply-adds, the unit of parallel.Loop.
const sweepWork = 16

// A sweep applies an operation to every parameter, in parallel over panels.
type sweep struct {
	loop        parallel.Loop
	op          func(to, x, rest []float32, a float32)
	a           float32
	to, x, rest *Parameters
}

var sweeps = sync.Pool{New: func() any {
	s := new(sweep)
	s.loop.Body = s.panel
	return s
}}

// sweep applies op to every parameter of p, x and rest.
func (p *Parameters) sweep(x, rest *Parameters, op func(to, x, rest []float32, a float32), a float32) {
	p.sameShape(x)
	if rest != nil {
		p.sameShape(rest)
	}
	s := sweeps.Get().(*sweep)
	s.op, s.a, s.to, s.x, s.rest = op, a, p, x, rest
	s.loop.Run(vec.Blocks(p.hidden), sweepWork*len(p.tensors[Weights]))
	for t := VisibleBias; t < tensorCount; t++ {
		n := len(p.tensors[t])
		op(p.tensors[t], x.tensors[t], rest.slice(t, 0, n), a)
	}
	s.to, s.x, s.rest = nil, nil, nil
	sweeps.Put(s)
}

func (s *sweep) panel(k int) {
	size := s.to.rows * vec.Block
	lo, hi := k*size, (k+1)*size
	s.op(s.to.slice(Weights, lo, hi), s.x.slice(Weights, lo, hi), s.rest.slice(Weights, lo, hi), s.a)
}

// LargestSize returns the largest absolute weight and the largest absolute bias. A NaN among the
// values makes the result NaN.
func (m *RBM) LargestSize() (weight, bias float64) {
	return float64(vec.Largest(m.w)), float64(max(vec.Largest(m.VisibleBias), vec.Largest(m.HiddenBias)))
}

// eachRun calls f for consecutive runs of parameters, in the order of AppendTo.
func (p *Parameters) eachRun(f func(x []float32)) {
	for i := range p.visible {
		for lo := 0; lo < p.hidden; lo += vec.Block {
			f(p.tensors[Weights][lo*p.rows+i*vec.Block:][:min(vec.Block, p.hidden-lo)])
		}
	}
	for _, x := range p.tensors[VisibleBias:] {
		f(x)
	}
}

// AppendTo appends all parameters to b as little-endian float32. The order is: weights, one row for
// each visible unit; visible biases; hidden biases; other parameters of the visible units, then
// those of the hidden units.
func (p *Parameters) AppendTo(b []byte) []byte {
	p.eachRun(func(x []float32) {
		b, _ = binary.Append(b, binary.LittleEndian, x) // fails for other types only
	})
	return b
}

// Bytes returns the number of bytes that AppendTo appends.
func (p *Parameters) Bytes() int {
	n := p.visible * p.hidden
	for _, x := range p.tensors[VisibleBias:] {
		n += len(x)
	}
	return 4 * n
}

// SetFrom reads the parameters from the start of b, in the format of AppendTo, and returns
// the rest of b. It panics if b is too short.
func (p *Parameters) SetFrom(b []byte) []byte {
	if len(b) < p.Bytes() {
		panic("rbm: too few bytes of parameters")
	}
	p.eachRun(func(x []float32) {
		n, _ := binary.Decode(b, binary.LittleEndian, x) // b is long enough
		b = b[n:]
	})
	return b
}
