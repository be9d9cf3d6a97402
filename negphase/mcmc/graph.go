package mcmc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

const (
	// MaxSpins and MaxEdges bound the size of a graph. 2²⁶ couplings take 2 GB,
	// and 2 GB more while NewGraph runs.
	MaxSpins = 1 << 24
	MaxEdges = 1 << 26
)

// An Edge couples spins I and J.
type Edge struct {
	I, J     int32
	Coupling float64
}

// A Graph has the couplings J and fields h of N spins s = ±1 with the energy
//
//	E = −Σ J_ij s_i s_j − Σ h_i s_i,
//
// where the first sum counts each pair once. A Graph never changes, so several systems can share it.
// Only Marginal.Set changes the Graph of a Marginal.
//
// Every J and h is an integer multiple of one number, the quantum. So local fields and energies are
// exact, and do not depend on the order of the flips. The graph is an integer graph if the given
// numbers are multiples of a quantum up to rounding, such as ±1, or 0.1 and 0.3, and local fields are
// at most 2¹⁶ quanta. Its sums are computed in integers. Otherwise J and h are rounded to multiples of
// a power of two, about 2⁻⁵¹ of the largest possible local field or 2⁻⁶¹ of the largest energy. This
// error is little more than one rounding of a local field in float64.
type Graph struct {
	start    []int32 // the neighbours of i are neighbor[start[i]:start[i+1]]
	neighbor []int32
	coupling []float64 // for each element of neighbor
	field    []float64
	quantum  float64

	// Couplings and fields of an integer graph in quanta; nil for other graphs.
	weight []int32
	bias   []int32

	maxField float64 // largest possible |h_i + Σ_j J_ij s_j|
	maxLocal int32   // maxField of an integer graph in quanta
	parity   []uint8 // parity of a spin's coordinate sum x+y+z; nil if the graph is no lattice
	edges    int
	changes  bool // Marginal.Set changes the couplings
}

// NewGraph returns a graph of len(field) spins with the given edges. It
// returns an error if an edge has a spin that does not exist, couples a spin
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
	// The pairs are sorted by their smaller spin. The first loop gives each spin its neighbours with
	// smaller numbers, the second those with larger numbers, both in ascending order.
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
// couplings. The graph owns both slices; do not write to them.
func (g *Graph) Neighbors(i int) ([]int32, []float64) {
	lo, hi := g.start[i], g.start[i+1]
	return g.neighbor[lo:hi], g.coupling[lo:hi]
}

// cost converts a cost in half costs to energy. A half cost is two quanta.
func (g *Graph) cost(half int64) float64 { return float64(half) * (2 * g.quantum) }

const (
	// maxIntegerField is the largest local field of an integer graph, in quanta.
	// A table over all local fields then takes at most 1 MB.
	maxIntegerField = 1 << 16
	// integerQuantum tries the smallest coupling or field divided by 1 … maxDivisor as quantum.
	maxDivisor = 64
	// Local fields outside of this range are rejected, because their squares would overflow or
	// underflow.
	minScale, maxScale = 0x1p-500, 0x1p500
)

// quantize chooses the quantum and rounds every J and h to a multiple of it.
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
	// int64. The quantum is twice as large as this requires, because the sums above
	// were rounded, and rounding to quanta can increase them.
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

// integerQuantum returns the largest quantum of which all couplings and fields are multiples
// up to rounding. It tries the smallest of these numbers divided by 1 … maxDivisor, and reports whether
// one fits.
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
			return most / math.RoundToEven(most/q), true // fits the largest number best
		}
	}
	return 0, false
}

// multiples reports whether every element of x is an integer multiple of q, up to the
// rounding of x, q and their quotient.
func multiples(x []float64, q float64) bool {
	for _, v := range x {
		k := math.RoundToEven(v / q)
		if math.Abs(v/q-k) > math.Abs(k)*0x1p-51 {
			return false
		}
	}
	return true
}

// setIntegers makes g an integer graph with quantum q.
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
