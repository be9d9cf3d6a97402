package mcmc

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// MaxMatrixSpins is the most spins of SweepMatrix: 12 make a matrix of 128 MB.
const MaxMatrixSpins = 12

// SweepMatrix returns the transition matrix of one move of Gibbs, Metropolis or
// ModifiedMetropolis on all N spins of g at inverse temperature beta. It is
// 2ᴺ×2ᴺ, from rows to columns; bit i of a state's number is spin i. A sweep in
// a fixed order is the product of the sites' matrices T_i, one in random order
// is (ΣT_i/N)ᴺ. Other movers, and more than MaxMatrixSpins spins, are errors.
func SweepMatrix(g *Graph, m Mover, beta float64) (*mat.Dense, error) {
	n := g.Len()
	if n > MaxMatrixSpins {
		return nil, fmt.Errorf("%d spins: a lattice too large for its transition matrix; at most %d", n, MaxMatrixSpins)
	}
	single, ok := m.(singleSite)
	if !ok {
		return nil, fmt.Errorf("%s has no transition matrix of a sweep; gibbs, metropolis and modified-metropolis have", FormatMover(m))
	}
	s := NewIsing(g, nil)
	c, err := newSweep(s, beta, nil, single)
	if err != nil {
		return nil, err
	}
	p := flipChances(s, c)
	size := 1 << n
	matrix := mat.NewDense(size, size, nil)
	next := make([]float64, size)
	for x := range size {
		row := matrix.RawRowView(x)
		row[x] = 1
		for _, i := range c.sites {
			if c.order == Random {
				mix(next, row, p)
				copy(row, next)
			} else {
				update(row, p[i], 1<<i)
			}
		}
	}
	return matrix, nil
}

// flipChances returns at [i][x] the probability that the chain c on s flips
// site i in state x when it updates the site.
func flipChances(s *Ising, c *sweep) [][]float64 {
	n := s.Len()
	p := make([][]float64, n)
	state := make([]uint8, n)
	for i := range p {
		p[i] = make([]float64, 1<<n)
	}
	for x := range 1 << n {
		for i := range state {
			state[i] = uint8(x >> i & 1)
		}
		s.SetState(state)
		for i := range p {
			p[i][x] = float64(c.chance(i)) * 0x1p-53
		}
	}
	return p
}

// chance returns the probability that an update of site i flips it.
func (c *sweep) chance(i int) chance {
	if c.table != nil {
		return c.table[c.ising.halfCost(i)+c.ising.graph.maxLocal]
	}
	return chanceOf(c.law.law(c.beta * c.cost(int32(i))))
}

// update applies the update of a site to the law row. In state x the update
// flips the site, whose bit is given, with probability p[x].
func update(row, p []float64, bit int) {
	for x := range row {
		if x&bit == 0 {
			y := x | bit
			up, down := row[x]*p[x], row[y]*p[y]
			row[x] += down - up
			row[y] += up - down
		}
	}
}

// mix sets next to the law row after the update of a uniformly random site.
func mix(next, row []float64, p [][]float64) {
	clear(next)
	for i := range p {
		bit := 1 << i
		for x, w := range row {
			flip := w * p[i][x]
			next[x] += w - flip
			next[x^bit] += flip
		}
	}
	for x := range next {
		next[x] /= float64(len(p))
	}
}
