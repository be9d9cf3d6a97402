package mcmc

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorbm/rbm"
)

// A plain is a small model without caches, with which chains are compared.
type plain struct {
	j [][]float64
	h []float64
}

func plainOf(g *Graph) plain {
	p := plain{h: make([]float64, g.Len())}
	for i := range p.h {
		p.h[i] = g.Field(i)
		row := make([]float64, g.Len())
		for j := range row {
			row[j] = g.Coupling(i, j)
		}
		p.j = append(p.j, row)
	}
	return p
}

func (p plain) energy(x []uint8) float64 {
	e := 0.0
	for i := range x {
		si := float64(spin(x[i]))
		e -= p.h[i] * si
		for j := range i {
			e -= p.j[i][j] * si * float64(spin(x[j]))
		}
	}
	return e
}

func (p plain) delta(x []uint8, i int) float64 {
	field := p.h[i]
	for j := range x {
		if j != i {
			field += p.j[i][j] * float64(spin(x[j]))
		}
	}
	return 2 * float64(spin(x[i])) * field
}

// states returns all states of n bits. State x has the bits of its index.
func states(n int) [][]uint8 {
	all := make([][]uint8, 1<<n)
	for x := range all {
		all[x] = make([]uint8, n)
		for i := range n {
			all[x][i] = uint8(x >> i & 1)
		}
	}
	return all
}

func indexOf(x []uint8) (n int) {
	for i, b := range x {
		n |= int(b) << i
	}
	return n
}

// boltzmann returns exp(−βE)/Z of the given states.
func (p plain) boltzmann(all [][]uint8, beta float64) []float64 {
	distribution := make([]float64, len(all))
	z := 0.0
	for k, x := range all {
		distribution[k] = math.Exp(-beta * p.energy(x))
		z += distribution[k]
	}
	for k := range distribution {
		distribution[k] /= z
	}
	return distribution
}

// A path has the walks of a move.
type path = [][]int32

// reversed returns the path that undoes a path: walks and flips from the last
// to the first.
func reversed(p path) path {
	r := make(path, len(p))
	for i, walk := range p {
		walk = slices.Clone(walk)
		slices.Reverse(walk)
		r[len(p)-1-i] = walk
	}
	return r
}

// selfAvoiding returns all walks of the given lengths on the sites.
func selfAvoiding(sites []int32, low, high int) (walks [][]int32) {
	var grow func(walk []int32)
	grow = func(walk []int32) {
		if len(walk) >= low {
			walks = append(walks, slices.Clone(walk))
		}
		if len(walk) == high {
			return
		}
		for _, i := range sites {
			if !slices.Contains(walk, i) {
				grow(append(walk, i))
			}
		}
	}
	grow(nil)
	return walks
}

// paths returns all combinations of n walks.
func paths(walks [][]int32, n int) (all []path) {
	all = []path{nil}
	for range n {
		var longer []path
		for _, p := range all {
			for _, w := range walks {
				longer = append(longer, append(slices.Clone(p), w))
			}
		}
		all = longer
	}
	return all
}

// randomGraph returns a system for exact tests, with random couplings and fields, with or
// without a common quantum.
func randomGraph(t testing.TB, n int, integer bool, seed uint64) *Graph {
	t.Helper()
	r := rbm.NewKey(seed).Rand()
	number := func() float64 {
		if integer {
			return float64(r.IntN(5)-2) / 2
		}
		return r.NormFloat64() / 2
	}
	h := make([]float64, n)
	var edges []Edge
	for i := range n {
		h[i] = number()
		for j := range i {
			if c := number(); c != 0 {
				edges = append(edges, Edge{int32(i), int32(j), c})
			}
		}
	}
	g, err := NewGraph(h, edges)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := g.Integer(); ok != integer {
		t.Fatalf("the graph is integer: %v, want %v", ok, integer)
	}
	return g
}

// bipartiteGraph returns a small RBM: n/2 spins coupled to all others.
func bipartiteGraph(t testing.TB, n int, seed uint64) *Graph {
	t.Helper()
	r := rbm.NewKey(seed).Rand()
	h := make([]float64, n)
	var edges []Edge
	for i := range n {
		h[i] = r.NormFloat64() / 2
		for j := n / 2; j < n && i < n/2; j++ {
			edges = append(edges, Edge{int32(i), int32(j), r.NormFloat64()})
		}
	}
	g, err := NewGraph(h, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// anySystem hides the type of a system, so that it is treated like a user's system.
type anySystem struct{ System }

// dense is a system whose Flip returns nil.
type dense struct{ System }

func (d dense) Flip(i int) []int32 {
	d.System.Flip(i)
	return nil
}

// A kernel is a transition matrix.
type kernel [][]float64

func newKernel(n int) kernel {
	k := make(kernel, n)
	for x := range k {
		k[x] = make([]float64, n)
	}
	return k
}

// residual returns the largest violation of detailed balance: absolute, and
// relative to the flow where it is not 0.
func (k kernel) residual(distribution []float64) (absolute, relative float64) {
	for x := range k {
		for y := range x {
			a, b := distribution[x]*k[x][y], distribution[y]*k[y][x]
			absolute = max(absolute, math.Abs(a-b))
			if top := max(a, b); top > 0 {
				relative = max(relative, math.Abs(a-b)/top)
			}
		}
	}
	return absolute, relative
}

// positive reports whether the 2⁹th power of k, with the rest of each row added to
// the diagonal, has no zero. Then every state can be reached from every other one, after
// any larger number of steps.
func (k kernel) positive() bool {
	p := newKernel(len(k))
	for x := range k {
		rest := 1.0
		for y := range k {
			p[x][y] = k[x][y]
			rest -= k[x][y]
		}
		if rest > 1e-9 { // rejections; smaller values are rounding errors
			p[x][x] += rest
		}
	}
	for range 9 {
		q := newKernel(len(k))
		for x := range p {
			for z, a := range p[x] {
				if a != 0 {
					for y, b := range p[z] {
						q[x][y] += a * b
					}
				}
			}
		}
		p = q
	}
	for x := range p {
		for _, a := range p[x] {
			if a == 0 {
				return false
			}
		}
	}
	return true
}

// pickState draws an index from a distribution.
func pickState(distribution []float64, r *rand.Rand) int {
	u := r.Float64()
	k := 0
	for ; k < len(distribution)-1 && u >= distribution[k]; k++ {
		u -= distribution[k]
	}
	return k
}
