package informed

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"gorbm/rbm"
)

// A Free is the system of the visible units of an RBM, whose energy is their free energy
//
//	F(v) = −bᵀv − Σ_j log(1 + exp(a_j)),   a = c + Wᵀv,
//
// which the papers on informed proposals sample. Costs computes the costs of all flips to first order, by two passes over W.
// Exact costs would need an exponential for each weight.
type Free struct {
	weights blas32.General // visible × hidden
	visible []float32
	state   []uint8
	field   []float64 // a
	sigma   []float32 // σ(a), valid if known
	down    []float32 // Wσ(a) + b
	energy  float64
	known   bool // energy and sigma are up to date
	hidden  []float32
}

// NewFree returns the system of m with all units off.
func NewFree(m *rbm.RBM) *Free {
	n, k := m.Visible(), m.Hidden()
	s := &Free{weights: blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}, visible: m.VisibleBias, hidden: m.HiddenBias,
		state: make([]uint8, n), field: make([]float64, k), sigma: make([]float32, k), down: make([]float32, n)}
	for i := range n {
		for j := range k {
			s.weights.Data[i*k+j] = m.Weight(i, j)
		}
	}
	s.SetState(s.state)
	return s
}

func (s *Free) row(i int) []float32 {
	return s.weights.Data[i*s.weights.Stride:][:s.weights.Cols]
}

// SetState implements mcmc.Settable. Of a longer state, such as that of both layers, it uses the first bits.
func (s *Free) SetState(state []uint8) {
	copy(s.state, state)
	for j, c := range s.hidden {
		s.field[j] = float64(c)
	}
	for i, x := range s.state {
		if x != 0 {
			for j, w := range s.row(i) {
				s.field[j] += float64(w)
			}
		}
	}
	s.known = false
}

// Len implements mcmc.System.
func (s *Free) Len() int { return len(s.state) }

// State implements mcmc.System.
func (s *Free) State() []uint8 { return s.state }

// Energy implements mcmc.System. It returns F.
func (s *Free) Energy() float64 {
	s.know()
	return s.energy
}

// know updates energy and sigma.
func (s *Free) know() {
	if s.known {
		return
	}
	s.energy = 0
	for j, a := range s.field {
		e := rbm.Exp(-math.Abs(a))
		s.energy -= max(a, 0) + rbm.Log(1+e)
		if p := 1 / (1 + e); a > 0 {
			s.sigma[j] = float32(p)
		} else {
			s.sigma[j] = float32(e * p)
		}
	}
	for i, x := range s.state {
		if x != 0 {
			s.energy -= float64(s.visible[i])
		}
	}
	s.known = true
}

// FlipCost implements mcmc.System. It is exact.
func (s *Free) FlipCost(i int) float64 {
	sign := 1 - 2*float64(s.state[i])
	cost := -sign * float64(s.visible[i])
	for j, w := range s.row(i) {
		cost -= softplus(s.field[j]+sign*float64(w)) - softplus(s.field[j])
	}
	return cost
}

func softplus(a float64) float64 { return max(a, 0) + rbm.Log(1+rbm.Exp(-math.Abs(a))) }

// Costs implements coster by the gradient of F.
func (s *Free) Costs(dst []float64) {
	s.know()
	copy(s.down, s.visible)
	blas32.Gemv(blas.NoTrans, 1, s.weights, blas32.Vector{N: len(s.sigma), Data: s.sigma, Inc: 1}, 1, blas32.Vector{N: len(s.down), Data: s.down, Inc: 1})
	for i, x := range s.state {
		dst[i] = float64((2*float32(x) - 1) * s.down[i])
	}
}

// Flip implements mcmc.System.
func (s *Free) Flip(i int) []int32 {
	sign := 1 - 2*float64(s.state[i])
	for j, w := range s.row(i) {
		s.field[j] += float64(sign * float64(w))
	}
	s.state[i] ^= 1
	s.known = false
	return nil
}
