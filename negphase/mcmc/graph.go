package mcmc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// MaxSpins and MaxEdges cap what a graph may hold: 2²⁶ couplings take 2 GB,
	// and as much again in the making.
	MaxSpins = 1 << 24
	MaxEdges = 1 << 26
)

// An Edge couples spins I and J.
type Edge struct {
	I, J     int32
	Coupling float64
}

// A Graph is the couplings J and fields h of N spins s = ±1 with the energy
//
//	E = −Σ J_ij s_i s_j − Σ h_i s_i,
//
// each pair once. It does not change once made, so many systems share one.
//
// Every J and h is an integer multiple of one quantum. If the numbers given
// are such multiples to rounding, as ±1, or 0.1 and 0.3, with local fields of
// at most 2¹⁶ quanta, the graph is an integer graph and sums are taken in
// integers. Otherwise the quantum is a power of two, about 2⁻⁵¹ of the
// largest possible local field or 2⁻⁶¹ of the largest energy, to which J and h
// are rounded: little more than one rounding of a local field in float64 loses,
// but then no sum of them is ever rounded again. So in both cases fields and
// energies are exact, whatever the order of the flips that led to them.
type Graph struct {
	start    []int32 // neighbours of i: start[i] to start[i+1]
	neighbor []int32
	coupling []float64 // of each neighbour
	field    []float64
	quantum  float64

	// Integer graphs: the same in quanta; nil otherwise.
	weight []int32
	bias   []int32

	maxField float64 // largest possible |h_i + Σ_j J_ij s_j|
	maxLocal int32   // the same in quanta, of an integer graph
	parity   []uint8 // of x+y+z on a lattice; nil if there is none
	edges    int
}

// NewGraph returns the graph of len(field) spins with the given edges. It is
// an error if an edge names a spin that is not there, couples a spin to
// itself or repeats a pair, or if a number is not finite.
func NewGraph(field []float64, edges []Edge) (*Graph, error) {
	n := len(field)
	switch {
	case n == 0:
		return nil, fmt.Errorf("a graph without spins: give at least one")
	case n > MaxSpins:
		return nil, fmt.Errorf("%d spins: at most %d", n, MaxSpins)
	case len(edges) > MaxEdges:
		return nil, fmt.Errorf("%d edges: at most %d", len(edges), MaxEdges)
	}
	for i, h := range field {
		if !finite(h) {
			return nil, fmt.Errorf("field of spin %d is %g: give a finite number", i, h)
		}
	}
	g := &Graph{start: make([]int32, n+1), field: slices.Clone(field), edges: len(edges)}
	for _, e := range edges {
		switch {
		case e.I < 0 || int(e.I) >= n || e.J < 0 || int(e.J) >= n:
			return nil, fmt.Errorf("edge %d–%d: spins are numbered 0 to %d", e.I, e.J, n-1)
		case e.I == e.J:
			return nil, fmt.Errorf("edge %d–%d couples a spin to itself: leave it out, it adds a constant to the energy", e.I, e.J)
		case !finite(e.Coupling):
			return nil, fmt.Errorf("coupling of edge %d–%d is %g: give a finite number", e.I, e.J, e.Coupling)
		}
		g.start[e.I+1]++
		g.start[e.J+1]++
	}
	for i := range n {
		g.start[i+1] += g.start[i]
	}
	if err := g.connect(edges); err != nil {
		return nil, err
	}
	if err := g.quantize(); err != nil {
		return nil, err
	}
	return g, nil
}

// connect fills the neighbours, in ascending order of each spin.
func (g *Graph) connect(edges []Edge) error {
	sorted := slices.Clone(edges)
	for k, e := range sorted {
		sorted[k].I, sorted[k].J = min(e.I, e.J), max(e.I, e.J)
	}
	slices.SortFunc(sorted, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J))
	})
	g.neighbor = make([]int32, 2*len(edges))
	g.coupling = make([]float64, 2*len(edges))
	next := slices.Clone(g.start)
	put := func(i, j int32, c float64) {
		g.neighbor[next[i]], g.coupling[next[i]] = j, c
		next[i]++
	}
	// Pairs in order of their smaller spin reach every spin's smaller
	// neighbours first, then its larger ones, both in order.
	for k, e := range sorted {
		if k > 0 && e.I == sorted[k-1].I && e.J == sorted[k-1].J {
			return fmt.Errorf("edge %d–%d is given twice: add its couplings up", e.I, e.J)
		}
		put(e.J, e.I, e.Coupling)
	}
	for _, e := range sorted {
		put(e.I, e.J, e.Coupling)
	}
	return nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Len returns the number of spins.
func (g *Graph) Len() int { return len(g.field) }

// Edges returns the number of coupled pairs.
func (g *Graph) Edges() int { return g.edges }

// Field returns h_i.
func (g *Graph) Field(i int) float64 { return g.field[i] }

// Coupling returns J_ij, 0 if there is no edge.
func (g *Graph) Coupling(i, j int) float64 {
	lo := g.start[i]
	if k, ok := slices.BinarySearch(g.neighbor[lo:g.start[i+1]], int32(j)); ok {
		return g.coupling[int(lo)+k]
	}
	return 0
}

// Neighbors returns the spins coupled to i, in ascending order, and their
// couplings. Both slices are the graph's own and not to be written to.
func (g *Graph) Neighbors(i int) ([]int32, []float64) {
	lo, hi := g.start[i], g.start[i+1]
	return g.neighbor[lo:hi], g.coupling[lo:hi]
}

// Integer tells whether the graph is an integer graph, and its quantum.
func (g *Graph) Integer() (quantum float64, ok bool) { return g.quantum, g.weight != nil }

// Parity returns x+y+z modulo 2 of each spin of a lattice, the colours of the
// chessboard order; nil if the graph is not a lattice.
func (g *Graph) Parity() []uint8 { return g.parity }
