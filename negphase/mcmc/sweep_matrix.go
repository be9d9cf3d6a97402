package mcmc

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"gorbm/rbm/memory"
)

// MaxMatrixSpins is the most spins of SweepMatrix: 12 make a matrix of 128 MB.
const MaxMatrixSpins = 12

// SweepMatrix returns the transition matrix of one move of Gibbs, Metropolis or
// ModifiedMetropolis on all N spins of g at inverse temperature beta: the
// elements of its SweepOperator. It is 2ᴺ×2ᴺ, from rows to columns; bit i of a
// state's number is spin i. Other movers, and more than MaxMatrixSpins spins, are
// errors.
func SweepMatrix(g *Graph, m Mover, beta float64) (*mat.Dense, error) {
	if n := g.Len(); n > MaxMatrixSpins {
		return nil, fmt.Errorf("%d spins: a lattice too large for its transition matrix; at most %d", n, MaxMatrixSpins)
	}
	if err := memory.Check(fmt.Sprintf("the transition matrix of %d spins", g.Len()), 8*math.Exp2(2*float64(g.Len()))); err != nil {
		return nil, err
	}
	o, err := NewSweepOperator(NewIsing(g, nil), m, beta, nil)
	if err != nil {
		return nil, err
	}
	return o.Matrix(), nil
}

// Matrix returns the elements of the operator, States × States.
func (o *SweepOperator) Matrix() *mat.Dense {
	matrix := mat.NewDense(o.states, o.states, nil)
	for x := range o.states {
		row := matrix.RawRowView(x)
		row[x] = 1
		o.Step(row)
	}
	return matrix
}
