package mcmc

import (
	"cmp"
	"fmt"

	"gorbm/rbm"
)

// A Marginal is the distribution of the units of an RBM that are not Gaussian, with the Gaussian units
// integrated out. It is a Boltzmann machine of binary units, represented as the Graph of an Ising system.
// The sites are the other visible units, then the hidden units. The free energy of a state,
// F = −log ∫ exp(−E) over the Gaussian units, is
//
//	F = energy of the Ising system + Shift.
//
// Units of softmax groups are sites too, because the hidden units interact with them, but chains must not
// flip them. At inverse temperature β on the path from a base, the energy is E_β; see rbm.Base.
type Marginal struct {
	Graph   *Graph
	Shift   float64 // in nats
	Visible []int   // [site] index of the visible unit in the model, ascending

	summed *rbm.Marginal
}

// NewMarginal returns the marginal of a model with Gaussian visible units, at β = 1. The error wraps
// rbm.ErrDiverged if a coupling is not finite, or rbm.ErrUnits if the hidden units are real, or visible ones
// that are not Gaussian.
func NewMarginal(m *rbm.RBM) (*Marginal, error) {
	if err := cmp.Or(m.CheckGaussian(), m.CheckBinaryHidden()); err != nil {
		return nil, fmt.Errorf("with the Gaussian units summed out: %w", err)
	}
	q := &Marginal{}
	for _, g := range m.Groups() {
		for i := g.First; !g.Real() && i < g.First+g.Units; i++ {
			q.Visible = append(q.Visible, i)
		}
	}
	apart, hidden := len(q.Visible), m.Hidden()
	edges := apart*hidden + hidden*(hidden-1)/2
	if edges > MaxEdges {
		return nil, fmt.Errorf("%d hidden units have %d couplings, the Gaussian units summed out; at most %d", hidden, edges, MaxEdges)
	}
	n := apart + hidden
	g := &Graph{start: make([]int32, 1, n+1), field: make([]float64, n), edges: edges, changes: true, neighbor: make([]int32, 0, 2*edges), coupling: make([]float64, 2*edges)}
	for i := range int32(n) {
		first := int32(0)
		if int(i) < apart {
			first = int32(apart)
		}
		for j := first; j < int32(n); j++ {
			if j != i {
				g.neighbor = append(g.neighbor, j)
			}
		}
		g.start = append(g.start, int32(len(g.neighbor)))
	}
	q.Graph, q.summed = g, rbm.NewMarginal(m)
	return q, q.Set(m, nil, 1)
}

// Set recomputes q for inverse temperature beta on the path from base to m, whose parameters
// may have changed. At beta 1 it allocates nothing. Systems on q then need a SetState, and chains on them
// a Reset. It panics if m has another shape.
//
// Bits x with couplings C and fields f become spins s = 2x − 1, by
//
//	Σ C_jk x_j x_k + Σ f_j x_j = Σ C_jk s_j s_k/4 + Σ (f_j/2 + Σ_k C_jk/4) s_j + Σ C_jk/4 + Σ f_j/2
//
// where Σ C_jk x_j x_k counts each pair once.
func (q *Marginal) Set(m *rbm.RBM, base *rbm.Base, beta float64) error {
	q.summed.Set(m, base, beta)
	g, apart := q.Graph, len(q.Visible)
	q.Shift = -q.summed.Shift
	for i := range g.field {
		couplings, field := g.coupling[g.start[i]:g.start[i+1]], 0.0
		switch j := i - apart; {
		case j < 0:
			field = float64(beta * float64(m.VisibleBias[q.Visible[i]]))
			if base != nil {
				field += float64((1 - beta) * float64(base.VisibleBias[q.Visible[i]]))
			}
			for k := range couplings {
				couplings[k] = float64(beta*float64(m.Weight(q.Visible[i], k))) / 4
			}
		default:
			field = q.summed.Fields[j]
			for k, v := range q.Visible {
				couplings[k] = float64(beta*float64(m.Weight(v, j))) / 4
			}
			row := q.summed.Row(j)
			copy(couplings[apart:], row[:j])
			copy(couplings[apart+j:], row[j+1:])
			for k := range couplings[apart:] {
				couplings[apart+k] /= 4
			}
		}
		sum := 0.0
		for _, c := range couplings {
			sum += c
		}
		g.field[i] = float64(field/2) + sum
		q.Shift -= float64(field/2) + float64(sum/2)
		if !finite(q.Shift) {
			return fmt.Errorf("%w: the couplings of the units with the Gaussian ones summed out are not finite", rbm.ErrDiverged)
		}
	}
	if err := g.quantize(); err != nil {
		return fmt.Errorf("%w: with the Gaussian units summed out, %w", rbm.ErrDiverged, err)
	}
	return nil
}
