package mcmc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// MaxSpins and MaxEdges bound the size of a graph: 2²⁶ couplings take 2 GB,
	// and 2 GB more while the graph is made.
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
// each pair once. A Graph never changes, except that of a Marginal, and systems can share it.
//
// Every J and h is an integer multiple of one quantum, so that fields and
// energies are exact, whatever the order of the flips that led to them. If the
// numbers given are multiples of a quantum up to rounding, as ±1, or 0.1 and
// 0.3, with local fields of at most 2¹⁶ quanta, the graph is an integer graph
// and sums are taken in integers. Otherwise J and h are rounded to multiples of
// a power of two, about 2⁻⁵¹ of the largest possible local field or 2⁻⁶¹ of the
// largest energy. That loses little more than one rounding of a local field in
// float64 does.
type Graph struct {
	start    []int32 // neighbours of i: start[i] to start[i+1]
	neighbor []int32
	coupling []float64 // for each neighbour
	field    []float64
	quantum  float64

	// Integer graphs: the same in quanta; nil otherwise.
	weight []int32
	bias   []int32

	maxField float64 // largest possible |h_i + Σ_j J_ij s_j|
	maxLocal int32   // the same in quanta, of an integer graph
	parity   []uint8 // of x+y+z on a lattice; nil if there is none
	edges    int
	changes  bool // the couplings follow a model in training: see Marginal
}

// NewGraph returns the graph of len(field) spins with the given edges. It
// returns an error if an edge names a spin that does not exist, couples a spin
// to itself or repeats a pair, or if a number is not finite.
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
	}
	if err := g.connect(edges); err != nil {
		return nil, err
	}
	if err := g.quantize(); err != nil {
		return nil, err
	}
	return g, nil
}

// connect sets the neighbours of every spin, in ascending order.
func (g *Graph) connect(edges []Edge) error {
	sorted := slices.Clone(edges)
	for k, e := range sorted {
		sorted[k].I, sorted[k].J = min(e.I, e.J), max(e.I, e.J)
		g.start[e.I+1]++
		g.start[e.J+1]++
	}
	for i := range g.field {
		g.start[i+1] += g.start[i]
	}
	slices.SortFunc(sorted, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J)) })
	g.neighbor = make([]int32, 2*len(edges))
	g.coupling = make([]float64, 2*len(edges))
	next := slices.Clone(g.start)
	put := func(i, j int32, c float64) {
		g.neighbor[next[i]], g.coupling[next[i]] = j, c
		next[i]++
	}
	// Pairs in the order of their smaller spin reach the smaller neighbours of
	// every spin first, then the larger ones, both in order.
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

// Neighbors returns the spins coupled to i, in ascending order, and their
// couplings. Both slices are the graph's own and not to be written to.
func (g *Graph) Neighbors(i int) ([]int32, []float64) {
	lo, hi := g.start[i], g.start[i+1]
	return g.neighbor[lo:hi], g.coupling[lo:hi]
}

// cost returns the energy of half half costs, that is, pairs of quanta.
func (g *Graph) cost(half int64) float64 { return float64(half) * (2 * g.quantum) }

const (
	// maxIntegerField is the largest local field of an integer graph, in quanta.
	// A table over all local fields then takes at most 1 MB.
	maxIntegerField = 1 << 16
	// maxDivisor is the largest quotient of the smallest number and the quantum
	// that integerQuantum tries.
	maxDivisor = 64
	// Local fields outside of this range are refused: float64 cannot hold their
	// squares.
	minScale, maxScale = 0x1p-500, 0x1p500
)

// quantize finds the quantum and makes every J and h a multiple of it.
func (g *Graph) quantize() error {
	var total float64
	g.maxField = 0
	for i, h := range g.field {
		sum := math.Abs(h)
		for _, j := range g.coupling[g.start[i]:g.start[i+1]] {
			sum += math.Abs(j)
		}
		g.maxField = max(g.maxField, sum)
		total += sum
	}
	if g.maxField != 0 && (g.maxField < minScale || total > maxScale) {
		return fmt.Errorf("couplings and fields of size %g: scale them, and the temperature, nearer to 1", g.maxField)
	}
	if !g.changes {
		if q, ok := g.integerQuantum(); ok {
			g.setIntegers(q)
			return nil
		}
	}
	// A local field of 2⁵² quanta is exact in float64, an energy of 2⁶² quanta in
	// int64. The quantum is twice as large as that needs, because the sums above
	// were rounded and rounding to quanta can increase them.
	_, field := math.Frexp(g.maxField)
	_, energy := math.Frexp(total)
	g.quantum = math.Ldexp(1, max(field-52, energy-62)+1)
	for k, j := range g.coupling {
		g.coupling[k] = math.RoundToEven(j/g.quantum) * g.quantum
	}
	for i, h := range g.field {
		g.field[i] = math.RoundToEven(h/g.quantum) * g.quantum
	}
	return nil
}

// integerQuantum returns the largest quantum of which all numbers are multiples
// up to rounding, if it is the smallest number over at most maxDivisor.
func (g *Graph) integerQuantum() (float64, bool) {
	least, most := math.Inf(1), 0.0
	for _, x := range [][]float64{g.coupling, g.field} {
		for _, v := range x {
			if v != 0 {
				least, most = min(least, math.Abs(v)), max(most, math.Abs(v))
			}
		}
	}
	if math.IsInf(least, 1) {
		return 1, true // no couplings, no fields
	}
	for d := 1; d <= maxDivisor; d++ {
		q := least / float64(d)
		if g.maxField/q > maxIntegerField {
			return 0, false
		}
		if multiples(g.coupling, q) && multiples(g.field, q) {
			return most / math.RoundToEven(most/q), true // of least error relative to the largest number
		}
	}
	return 0, false
}

// multiples reports whether every x is an integer multiple of q, up to the
// roundings of x, q and their quotient.
func multiples(x []float64, q float64) bool {
	for _, v := range x {
		k := math.RoundToEven(v / q)
		if math.Abs(v/q-k) > math.Abs(k)*0x1p-51 {
			return false
		}
	}
	return true
}

// setIntegers makes g an integer graph of quantum q.
func (g *Graph) setIntegers(q float64) {
	g.quantum = q
	g.weight = make([]int32, len(g.coupling))
	g.bias = make([]int32, len(g.field))
	for k, j := range g.coupling {
		g.weight[k] = int32(math.RoundToEven(j / q))
		g.coupling[k] = float64(g.weight[k]) * q
	}
	for i, h := range g.field {
		g.bias[i] = int32(math.RoundToEven(h / q))
		g.field[i] = float64(g.bias[i]) * q
	}
	for i := range g.field {
		sum := magnitude(g.bias[i])
		for _, w := range g.weight[g.start[i]:g.start[i+1]] {
			sum += magnitude(w)
		}
		g.maxLocal = max(g.maxLocal, sum)
	}
}

func magnitude(x int32) int32 { return max(x, -x) }
